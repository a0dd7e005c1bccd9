"""The Python that Spark's workers run, looked at on the driver: a wrong one is the first failure of many."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pyspark.errors import PySparkException

from situ.spark.errors import HOW_TO_SET, WORKER_PYTHON, WorkerError, other_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED = ("situ", "numba", "numpy", "pandas", "pyarrow", "sqlglot")
_PROBE = (
    "import importlib.util, json, sys\n"
    f"missing = [name for name in {_NEEDED} if importlib.util.find_spec(name) is None]\n"
    "print(json.dumps(['%d.%d' % sys.version_info[:2], missing]))\n"
)
_SECONDS_TO_ANSWER = 60
# what else may reach workers: files and archives that only they unpack
_SHIPPED = ("spark.submit.pyFiles", "spark.archives", "spark.yarn.dist.archives")


class _Python(NamedTuple):
    version: str
    missing: tuple[str, ...]


def check_workers(session: SparkSession) -> None:
    """Refuse a session on this machine whose workers run a Python that cannot run situ; no job runs.

    The workers of a cluster cannot be looked at from here: they say themselves what they lack.
    """
    asked = _asked_for(session)
    if asked is None:
        return
    executable = shutil.which(asked)
    if executable is None:
        if os.path.dirname(asked) and not os.path.isabs(asked):
            return  # in an archive that Spark will unpack
        raise WorkerError(
            f"Spark's workers are to run {asked}, and there is no such program.", hint=HOW_TO_SET
        )
    if _is_this_python(executable):
        return
    found = _looked_at(executable)
    if found is None:
        return
    if found.version != (own := f"{sys.version_info.major}.{sys.version_info.minor}"):
        raise other_version(f"{found.version} ({executable})", own)
    if found.missing and not _has_shipped(session):
        raise WorkerError(
            f"Spark's workers run {executable}, which lacks {', '.join(found.missing)}.", hint=HOW_TO_SET
        )


def _asked_for(session: SparkSession) -> str | None:
    """The command that starts workers, if they run on this machine."""
    asked = session.conf.get(WORKER_PYTHON, None)
    try:
        context = session.sparkContext
    except PySparkException:  # a Connect session, whose server may have been started from here
        if "SPARK_LOCAL_REMOTE" not in os.environ:
            return None
        own = os.environ.get("PYSPARK_PYTHON") or os.environ.get("PYSPARK_DRIVER_PYTHON") or "python3"
        return asked or own
    return (asked or str(context.pythonExec)) if str(context.master).startswith("local") else None


def _is_this_python(executable: str) -> bool:
    """The same file by another name in the same folder; elsewhere it may be another environment."""
    same_folder = os.path.dirname(os.path.abspath(executable)) == os.path.dirname(sys.executable)
    return same_folder and os.path.samefile(executable, sys.executable)


@lru_cache(maxsize=8)
def _looked_at(executable: str) -> _Python | None:
    """What a Python says of itself; None if it says nothing: Spark will then tell why."""
    try:
        answer = subprocess.run(
            [executable, "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS_TO_ANSWER
        )
        version, missing = json.loads(answer.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return _Python(version, tuple(missing))


def _has_shipped(session: SparkSession) -> bool:
    if any(session.conf.get(name, "") for name in _SHIPPED):
        return True
    try:
        return bool(session.sparkContext._python_includes)
    except PySparkException:
        return True  # artifacts of a Connect session
