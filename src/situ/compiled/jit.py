"""`@kernel`: a function over arrays that runs as plain Python at first, and compiled as soon as that pays.

Compiling takes seconds on a new machine, and loading what is compiled half a second in every process. A
small call is answered sooner by plain Python, so that is what it gets, while a process in the background
compiles what it needed (background.py). Large calls, and many small ones, get compiled code (compiler.py).
Both give the same answers: `tests` run the kernels either way.

Nothing here imports Numba: a process that asks little never does.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

from situ.private import cache_folder

F = TypeVar("F", bound=Callable[..., Any])

_SITU = Path(__file__).parents[1]
_OURS = re.compile(r"^from (situ[.\w]*) import", re.MULTILINE)


class Kernel(partial[Any]):
    """What stands in a module for one of its kernels; Numba takes it for its compiled form.

    A partial function, though of no arguments, for how little its calls cost: a method's would take a tenth
    of what the push of a single event does.
    """

    def __new__(
        cls,
        function: Callable[..., Any],
        compiled_from: Callable[[], Any] | None = None,
        inline: bool = False,
    ) -> Kernel:
        self = super().__new__(cls, function)
        update_wrapper(self, function)
        self.py_func = function
        self.compiled_from = compiled_from  # gives another function to compile, where Python's cannot be
        self.targetoptions = {"inline": "always"} if inline else {}  # where Numba looks for it
        self._call_from_now_on(self._start)
        return self

    def _call_from_now_on(self, function: Callable[..., Any]) -> None:
        self.__setstate__((function, (), {}, self.__dict__))

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    def _start(self, *arguments: Any) -> Any:
        """A call before the compiled form is there."""
        from situ.compiled import plain

        answer = plain.answer(self, arguments)
        return answer if answer is not plain.NONE else self.compile_and_run(arguments)

    def compile_and_run(self, arguments: tuple[Any, ...]) -> Any:
        """From now on compiled code, found in the machine's cache or compiled now."""
        from situ.compiled import background, compiler
        from situ.compiled.request import request_of

        compiled = compiler.called_from_python(self)
        result = compiled(*arguments)
        self._call_from_now_on(compiled)
        background.note_ready(request_of(self, arguments))
        return result

    @property
    def signatures(self) -> list[Any]:
        """What it is compiled for in this process."""
        from situ.compiled import compiler

        return compiler.signatures_of(self)


def kernel(function: F) -> F:
    """A kernel: plain Python in the subset that Numba compiles."""
    return _made(function)


def inlined(function: F) -> F:
    """Part of the kernels that call it: compiled with each of them, and not by itself."""
    return _made(function, inline=True)


def kernel_compiled_from(other: Callable[[], Any]) -> Callable[[F], F]:
    """A kernel whose compiled form is not the same function, but the one that `other` gives."""
    return lambda function: _made(function, other)


def compile_first() -> None:
    """From now on no plain Python, as with SITU_COMPILE_FIRST: many processes start here, for large data."""
    os.environ["SITU_COMPILE_FIRST"] = "1"
    import_module("situ.compiled.compiler")  # now, so that what is forked has it


def _made(function: F, other: Callable[[], Any] | None = None, inline: bool = False) -> F:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    return cast("F", Kernel(function, other, inline))


def kernel_folder() -> Path:
    """Where the compiled kernels of this installation are kept, looked at anew each time."""
    return cache_folder(f"kernels-{_installation()}")


@cache
def _installation() -> str:
    """This installation of situ, so that several on one machine do not overwrite each other's kernels."""
    text = f"{_SITU} {version('numba')} {sys.version_info[:2]}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def source_stamp(file: str) -> str:
    """Changes when a file does, or moves, or any file of ours that it imports does, except this one."""
    source = Path(file).read_text(encoding="utf-8")
    place = os.path.relpath(file, _SITU)  # what is unpickled names the module it is of
    digest = hashlib.sha256(f"{place}\n{source}".encode())
    for module in sorted(set(_OURS.findall(source)) - {__name__}):
        path = _SITU.joinpath(*module.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        digest.update(source_stamp(str(path)).encode())
    return digest.hexdigest()
