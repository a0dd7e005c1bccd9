"""What a session's settings mean to situ; read in one place, and never changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from situ.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKER_MEMORY = "spark.situ.worker.memory"
SLICES = "spark.situ.slices"
_DEFAULT_MEMORY = "192m"
_TASKS_PER_CORE = 3  # so that one slow task does not leave the others waiting
_LEAST_ROWS = 4096  # of a slice: less is not worth a task
_UNKNOWN_CORES = 16
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@dataclass(frozen=True)
class Settings:
    """The settings that matter here."""

    ansi: bool
    time_zone: str
    n_partitions: int  # of a shuffle
    n_tasks: int  # that keep all cores busy
    n_slices: int  # of an unpartitioned input, at the most
    least_rows: int  # of such a slice
    worker_bytes: int  # of rows that a Python worker holds at a time; its peak is about three times that


def settings_of(session: SparkSession) -> Settings:
    """Read them from a session, classic or Connect."""
    conf = session.conf
    asked = conf.get(SLICES, None)
    n_partitions = max(1, int(str(conf.get("spark.sql.shuffle.partitions", "200"))))
    n_tasks = min(n_partitions, _TASKS_PER_CORE * _cores(session))
    return Settings(
        ansi=str(conf.get("spark.sql.ansi.enabled", "true")).lower() == "true",
        time_zone=str(conf.get("spark.sql.session.timeZone", "UTC")),
        n_partitions=n_partitions,
        n_tasks=n_tasks,
        n_slices=n_tasks if asked is None else _number(asked),
        least_rows=_LEAST_ROWS if asked is None else 1,  # who asks for slices gets them
        worker_bytes=bytes_of(str(conf.get(WORKER_MEMORY, _DEFAULT_MEMORY)), WORKER_MEMORY),
    )


def _cores(session: SparkSession) -> int:
    """How many tasks run at once; a Connect session does not tell, so as many as a small cluster."""
    try:
        return int(session.sparkContext.defaultParallelism)
    except PySparkException:
        return _UNKNOWN_CORES


def _number(text: str) -> int:
    if not re.fullmatch(r"\s*[1-9]\d*\s*", text):
        raise OptionError(
            f"{SLICES}={text!r} is not a number of slices", hint="give a whole number from 1 on"
        )
    return int(text)


def bytes_of(text: str, name: str) -> int:
    """A size as Spark writes them.

    >>> bytes_of("64m", "x")
    67108864
    """
    found = re.fullmatch(r"\s*(\d+)\s*([bkmg]?)b?\s*", text.lower())
    if found is None or int(found[1]) == 0:
        raise OptionError(
            f"{name}={text!r} is not a size", hint="write it as Spark does, for example 256m or 1g"
        )
    return int(found[1]) * _UNITS[found[2]]
