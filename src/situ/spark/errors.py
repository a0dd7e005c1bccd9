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
_JVM = re.compile(r"\n\s*(?:JVM stacktrace:|at org\.apache|at java\.|Driver stacktrace:)")


class WorkerError(SituError):
    """A Spark executor cannot run situ."""


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
        message, _, hint = text[found[-1].end() :].strip().partition("\nHint: ")
        restored = kind.__new__(kind)
        SituError.__init__(restored, message, hint=hint or None)
        if isinstance(restored, errors.QueryError):
            restored.text = restored.span = None
        return restored
    if missing := _IMPORT.search(text):
        message, _, hint = missing[1].partition(" Hint: ")
        return WorkerError(message, hint=hint or None)
    return None


def _class_named(module: str, name: str) -> type[SituError]:
    """The error class of that name, the root where there is none: the worker may run another version."""
    try:
        kind = getattr(importlib.import_module(module), name, SituError)
    except ImportError:
        return SituError
    return kind if isinstance(kind, type) and issubclass(kind, SituError) else SituError
