"""Settings of a session that situ wants: what each is worth, which are missing, and `situ.tune` to set them.

Spark reads the byte limit of Arrow batches in every task, from the settings of the session that an action
runs in. So it cannot be set for situ's operators alone: a clone of the session would do, but its results
would belong to that clone, whose temporary views and streaming queries the user's own session does not see.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARROW_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
NO_LIMIT = 2**31 - 1  # the one value at which Spark does not measure a batch after every row
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_log = logging.getLogger("situ.spark")


@dataclass(frozen=True)
class Wanted:
    """A setting, the value situ wants, and why."""

    name: str
    value: str
    why: str


WANTED = (
    Wanted(
        ARROW_BYTES,
        str(NO_LIMIT),
        "rows reach Python about three times as fast: below it Spark measures the batch after every row; "
        "spark.sql.execution.arrow.maxRecordsPerBatch still bounds batches",
    ),
    Wanted(PROVIDER, ROCKSDB, "streams keep their state in RocksDB"),
)


@dataclass(frozen=True)
class Change:
    """A setting that was changed: from what, None for Spark's default."""

    wanted: Wanted
    before: str | None


@dataclass(frozen=True)
class Tuned:
    """What `situ.tune` changed; prints itself."""

    changes: tuple[Change, ...]

    def __str__(self) -> str:
        if not self.changes:
            return "Nothing to change: the session has every setting that situ wants."
        lines = []
        for change in self.changes:
            wanted, before = change.wanted, change.before
            was = "not set before" if before is None else f"before: {before}"
            lines += [f"{wanted.name} = {wanted.value}", f"    {was}", f"    {wanted.why}"]
        return "\n".join(lines)

    __repr__ = __str__


def tune(spark: SparkSession) -> Tuned:
    """Set what situ wants in this session, and tell what that changed."""
    changes = []
    for wanted in WANTED:
        before = spark.conf.get(wanted.name, None)
        if before != wanted.value:
            spark.conf.set(wanted.name, wanted.value)
            changes.append(Change(wanted, before))
    tuned = Tuned(tuple(changes))
    _log.info("situ.tune: %s", tuned)
    return tuned


def settings_of_own_session() -> dict[str, str]:
    """What a session that situ itself makes is made with."""
    return {wanted.name: wanted.value for wanted in WANTED}


def measures_batches(spark: SparkSession) -> bool:
    """Does Spark measure an Arrow batch after every row here?"""
    found = spark.conf.get(ARROW_BYTES, None)
    return found is None or _bytes(found) != NO_LIMIT


def cost_of_measuring() -> str:
    """What that costs and how to end it, in a sentence."""
    return (
        f"This session's {ARROW_BYTES} makes Spark measure the batch after every row on its way to Python, "
        f"which can take longer than all of the rest; situ.tune(spark) sets it to {NO_LIMIT}."
    )


def say_what_measuring_costs(spark: SparkSession) -> None:
    """Say it in the log where it is so, once in a process."""
    if measures_batches(spark):
        _say_once()


@cache
def _say_once() -> None:
    _log.warning("%s", cost_of_measuring())


def _bytes(text: str) -> int | None:
    """A number of bytes as Spark's settings write them; None where it is none that situ reads."""
    number = text.strip().lower().removesuffix("b")
    return int(number) if number.isdigit() else None
