"""Kernels as plain Python: which calls it is for, and what makes it safe.

Small calls only, and each has a deadline: a few rows can have very many combinations. Kernels look at the
clock when they call each other; past the deadline the arrays they were given get their content back, and the
call is made anew with compiled code.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from situ.compiled import background
from situ.compiled.jit import Kernel
from situ.compiled.request import request_of

_MOST_ENTRIES = 200_000  # of all arrays of a call; a row takes microseconds
_WORTH_LOADING = 0.5  # seconds in a process after which compiled code, half a second to load, is due
_WORTH_WAITING = 3.0  # seconds of one call after which even compiling it is due

NONE: Any = object()  # no answer: the call is not for plain Python


class _Overtime(Exception):
    """A call that takes too long for plain Python."""


class _Clock:
    deadline = 0.0  # of the call that runs; with threads, of the latest
    spent = 0.0  # seconds in this process


def answer(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """What the call gives, or NONE where compiled code is due."""
    if os.environ.get("SITU_COMPILE_FIRST") or sum(a.size for a in _arrays(arguments)) > _MOST_ENTRIES:
        return NONE
    seconds = _allowed(kernel, arguments)
    return _run(kernel, arguments, seconds) if seconds > 0 else NONE


def _allowed(kernel: Kernel, arguments: tuple[Any, ...]) -> float:
    """How long plain Python may take for a call."""
    request = request_of(kernel, arguments)
    if request is None:
        return 0
    if background.is_ready(request):
        return _WORTH_LOADING - _Clock.spent
    return _WORTH_WAITING if background.compiles(request) else 0


def _run(kernel: Kernel, arguments: tuple[Any, ...], seconds: float) -> Any:
    before = [(array, array.copy()) for array in _arrays(arguments) if array.flags.writeable]
    started = time.perf_counter()
    _Clock.deadline = started + seconds
    try:
        with np.errstate(all="ignore"):  # compiled code wraps around and divides by zero without a word
            return _as_compiled(_function(kernel)(*arguments))
    except _Overtime:
        for array, content in before:
            array[...] = content
        return NONE
    finally:
        _Clock.spent += time.perf_counter() - started


def _arrays(arguments: tuple[Any, ...]) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _arrays(argument)
        elif isinstance(argument, np.ndarray):
            yield argument


def _as_compiled(result: Any) -> Any:
    """Numbers as compiled code returns them: Python's."""
    if isinstance(result, np.generic):
        return result.item()
    if isinstance(result, tuple):
        values = [_as_compiled(value) for value in result]
        return type(result)._make(values) if hasattr(result, "_make") else tuple(values)
    return result


_functions: dict[Kernel, Callable[..., Any]] = {}
_namespaces: dict[str, dict[str, Any]] = {}


def _function(kernel: Kernel) -> Callable[..., Any]:
    """The kernel's function among functions: what it calls is plain Python too."""
    if kernel not in _functions:
        own = kernel.py_func
        assert isinstance(own, FunctionType)
        _functions[kernel] = FunctionType(own.__code__, _namespace(own), own.__name__, own.__defaults__)
    return _functions[kernel]


def _namespace(function: FunctionType) -> dict[str, Any]:
    """The names of the function's module, with plain functions for kernels."""
    if function.__module__ not in _namespaces:
        names = _namespaces[function.__module__] = dict(function.__globals__)
        for name, value in function.__globals__.items():
            if isinstance(value, Kernel):
                names[name] = _watched(_function(value))
    return _namespaces[function.__module__]


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called only before the deadline."""
    now, clock = time.perf_counter, _Clock

    def call(*arguments: Any) -> Any:
        if now() > clock.deadline:
            raise _Overtime
        return function(*arguments)

    return call
