"""Errors that workers raise, found again in what Spark makes of them."""

from __future__ import annotations

import importlib
import re

from situ import errors
from situ.errors import SituError

# Spark keeps only the text of a worker's traceback; its last line names the class
_RAISED = re.compile(r"^(situ(?:\.\w+)*)\.(\w+): ", re.MULTILINE)
_IMPORT = re.compile(
    r"^(?:ModuleNotFound|Import)Error: ((?:situ cannot|the driver runs situ).*)$", re.MULTILINE
)
# what Spark's own worker says before anything of ours is loaded
_OTHER_VERSION = re.compile(
    r"Python in worker has different version:?\s*\(?(\S+?)\)? than that in driver:? (\d+\.\d+)"
)
_LACKS = re.compile(r"No module named '(situ|numba|numpy|pandas|pyarrow|sqlglot|pyspark)['.]")
_NO_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_JVM = re.compile(
    r"\n\s*(?:JVM stacktrace:|at org\.apache|at java\.|Driver stacktrace:|=== Streaming Query ===)"
)
_SQLSTATE = re.compile(r"(?:\s*SQLSTATE: \w+)+\s*$")  # Spark's, behind the last line of ours


WORKER_PYTHON = "spark.sql.execution.pyspark.python"
HOW_TO_SET = (
    "set the environment variable PYSPARK_PYTHON before the Spark session starts, as in "
    'os.environ["PYSPARK_PYTHON"] = sys.executable; for a cluster see the page "situ on a cluster"'
)


class WorkerError(SituError):
    """A Spark executor cannot run situ."""


def other_version(of_workers: str, of_driver: str) -> WorkerError:
    """Workers must run the driver's Python, to the minor version."""
    return WorkerError(
        f"Spark's workers run Python {of_workers} and this program Python {of_driver}: "
        "they must have the same minor version.",
        hint=HOW_TO_SET,
    )


def situ_error(error: BaseException) -> SituError | None:
    """The error of situ that a worker raised and Spark reports as `error`; None if it is another.

    Use it around an action: `except PySparkException as error: raise situ_error(error) or error`.
    """
    if isinstance(error, SituError):
        return error
    text = _JVM.split(str(error))[0]
    found = list(_RAISED.finditer(text))
    if found:
        kind = _class_named(found[-1][1], found[-1][2])
        message, _, hint = _SQLSTATE.sub("", text[found[-1].end() :]).strip().partition("\nHint: ")
        restored = kind.__new__(kind)
        SituError.__init__(restored, message, hint=hint or None)
        if isinstance(restored, errors.QueryError):
            restored.text = restored.span = None
        return restored
    if missing := _IMPORT.search(text):
        message, _, hint = missing[1].partition(" Hint: ")
        return WorkerError(message, hint=hint or None)
    if other := _OTHER_VERSION.search(str(error)):
        return other_version(other[1], other[2])
    if lacking := _LACKS.search(str(error)):
        return WorkerError(f"the Python of Spark's workers lacks {lacking[1]}.", hint=HOW_TO_SET)
    if no_program := _NO_PROGRAM.search(str(error)):
        return WorkerError(
            f"Spark's workers cannot be started: there is no {no_program[1]}.", hint=HOW_TO_SET
        )
    return None


def _class_named(module: str, name: str) -> type[SituError]:
    """The error class of that name, the root where there is none: the worker may run another version."""
    try:
        kind = getattr(importlib.import_module(module), name, SituError)
    except ImportError:
        return SituError
    return kind if isinstance(kind, type) and issubclass(kind, SituError) else SituError
