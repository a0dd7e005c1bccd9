"""What is to be compiled: a kernel and the types of its arguments, in words that need no Numba.

A request is one line of JSON, which a process that compiles understands (background.py).
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from situ.compiled.jit import Kernel, source_stamp


class Request(NamedTuple):
    """`line` says it; `name` is a file name of its own, and another one when a source changes."""

    line: str
    name: str


class _Unknown(Exception):
    """An argument of a type that no kernel takes."""


def request_of(kernel: Kernel, arguments: tuple[Any, ...]) -> Request | None:
    """The request for a call; None where it cannot be said."""
    function = kernel.py_func
    try:
        described = [_described(argument) for argument in arguments]
    except _Unknown:
        return None
    return _named(kernel, json.dumps([function.__module__, function.__name__, described]))


def _named(kernel: Kernel, line: str) -> Request:
    text = f"{source_stamp(kernel.py_func.__code__.co_filename)} {line}"
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return Request(line, f"{kernel.py_func.__name__}.{digest}.ready")


def _described(argument: Any) -> list[Any]:
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ["array", argument.dtype.str, argument.ndim, layout, bool(flags.writeable)]
    if isinstance(argument, tuple):
        kind = type(argument)
        name = None if kind is tuple else [kind.__module__, kind.__name__]
        return ["tuple", name, [_described(value) for value in argument]]
    if isinstance(argument, np.generic):
        return ["number", argument.dtype.str]
    if isinstance(argument, bool):
        return ["number", "|b1"]
    if isinstance(argument, int):
        return ["number", "<i8" if argument < 2**63 else "<u8"]
    if isinstance(argument, float):
        return ["number", "<f8"]
    raise _Unknown


def compile_line(line: str) -> Request:
    """Compile what a request's line says, or find it in the cache."""
    from situ.compiled import compiler

    module, name, described = json.loads(line)
    kernel = getattr(import_module(module), name)
    compiler.called_from_python(kernel).compile(tuple(_numba_type(one) for one in described))
    return _named(kernel, line)


def _numba_type(described: list[Any]) -> Any:
    from numba.core import types
    from numba.np.numpy_support import from_dtype

    kind, what, *more = described
    if kind == "number":
        return from_dtype(np.dtype(what))
    if kind == "array":
        n_dimensions, layout, is_writeable = more
        return types.Array(from_dtype(np.dtype(what)), n_dimensions, layout, readonly=not is_writeable)
    named = None if what is None else getattr(import_module(what[0]), what[1])
    return types.BaseTuple.from_types([_numba_type(one) for one in more[0]], named)
