"""Kernels compiled with Numba, without the GIL, once per machine.

Numba's own cache lies beside the source, forgets that a kernel calls another file's kernel, and lets
every process that starts at the same moment compile the same code. Spark starts workers together on
read-only installs, so we keep a cache of our own: in a folder of the user alone, each kernel stamped
with its source and all it imports of ours, and filled under a file lock.

A kernel has two compiled forms: one that Python calls, and one that kernels call, without the code that
turns Python's objects into numbers and arrays, which takes as long to compile as many a kernel itself.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba.core import caching, types
from numba.core.runtime import rtsys
from numba.extending import typeof_impl

from situ._version import __version__
from situ.compiled.jit import Kernel, kernel_folder, source_stamp
from situ.private import lasts, read_private, write_private

_log = logging.getLogger("situ.compiled")
_DIGEST_SIZE = 16


@cache
def called_from_python(kernel: Kernel) -> Any:
    """The compiled form for calls from Python."""
    return _dispatcher(kernel, "")


@cache
def called_from_kernels(kernel: Kernel) -> Any:
    """The compiled form for calls from other kernels."""
    return _dispatcher(kernel, ".inner", no_cpython_wrapper=True)


@typeof_impl.register(Kernel)
def _as_dispatcher(kernel: Kernel, _: Any) -> Any:
    return types.Dispatcher(called_from_kernels(kernel))


def signatures_of(kernel: Kernel) -> list[Any]:
    """What a kernel is compiled for in this process."""
    forms = (called_from_python(kernel), called_from_kernels(kernel))
    return sorted({signature for form in forms for signature in form.signatures}, key=repr)


def _dispatcher(kernel: Kernel, form: str, **options: bool) -> Any:
    function = kernel.py_func if kernel.compiled_from is None else kernel.compiled_from()
    dispatcher = numba.njit(
        nogil=True, error_model="numpy", boundscheck=False, no_cfunc_wrapper=True, **options
    )(function)
    if kernel.compiled_from is not None:  # no function of a module, and too small to be worth a file
        return dispatcher
    dispatcher._cache = _Cache(function, form)
    compile_now, name = dispatcher.compile, f"{function.__module__}.{function.__name__}{form}"

    def compile_under_lock(signature: Any) -> Any:
        with _one_compiler(name):
            return compile_now(signature)

    dispatcher.compile = compile_under_lock
    return dispatcher


class _Locator(caching._CacheLocator):
    def __init__(self, py_func: Any, py_file: str) -> None:
        self._line = py_func.__code__.co_firstlineno
        self._file = py_file

    def get_cache_path(self) -> str:
        return ""  # asked for when a kernel is defined; which folder it is, is decided when one is needed

    def ensure_cache_path(self) -> None:
        kernel_folder()

    def get_source_stamp(self) -> str:
        return source_stamp(self._file)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _CacheImpl(caching.CompileResultCacheImpl):
    _locator_classes: ClassVar[list[type[_Locator]]] = [_Locator]


class _Files(caching.IndexDataCacheFile):
    """One file for each kernel and signature, with a digest of what it must be before its data.

    Numba fails on a damaged file and, where a process died between writing its index and its data, would
    run code of another signature. Here such a file counts as missing: the kernel is compiled anew.
    """

    def load(self, key: Any) -> Any:
        content = read_private(self._path(key))
        if content is None:
            return None
        digest, data = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
        return pickle.loads(data) if digest == self._digest(key, data) else None

    def save(self, key: Any, data: Any) -> None:
        dumped = self._dump(data)
        write_private(self._path(key), self._digest(key, dumped) + dumped)

    def _path(self, key: Any) -> Path:
        signature, machine, _ = key
        name = hashlib.blake2b(repr((signature, machine)).encode(), digest_size=8).hexdigest()
        return kernel_folder() / f"{self._index_name.removesuffix('.nbi')}.{name}.nbc"

    def _digest(self, key: Any, data: bytes) -> bytes:
        expected = f"{self._version} {self._source_stamp} {self._index_name} {key!r}"
        return hashlib.blake2b(expected.encode() + data, digest_size=_DIGEST_SIZE).digest()


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl

    def __init__(self, py_func: Any, form: str) -> None:
        super().__init__(py_func)
        plain = self._cache_file
        base = plain._index_name.removesuffix(".nbi") + form
        self._cache_file = _Files(plain._cache_path, base, plain._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """From the cache without what only a compiler needs: registering all Numba knows takes 0.4 s."""
        rtsys.initialize(target_context)  # the allocator that compiled code calls
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)
        if found is None:
            _announce()
        return found


@cache
def _announce() -> None:
    """Said once for each version on a machine, and worded to stay true: other queries need other kernels."""
    folder = kernel_folder()
    if os.environ.get("SITU_QUIET") or not _is_first_to_say(folder):
        return
    how_long = (
        "each once on this machine, when it is first needed" if lasts(folder) else "for this process only"
    )
    _log.warning("situ: compiling its kernels, %s, about 20 s in all (kept in %s)", how_long, folder)


def _is_first_to_say(folder: Path) -> bool:
    """Whether no process has said so before: a Spark job's workers all find the same kernels missing."""
    try:
        (folder / f"announced-{__version__}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


_in_process = threading.RLock()
_held: list[Path] = []


@contextmanager
def _one_compiler(name: str) -> Iterator[None]:
    """One process of this machine compiles a kernel; the others then find its work in the cache.

    Two processes can compile two kernels at once. They lock what these call as they come to it, and no kernel
    calls itself, so none waits for another that waits for it.
    """
    with _in_process:
        path = kernel_folder() / f"{name}.lock"
        if path in _held:  # for other types, inside itself
            yield
            return
        with path.open("wb") as handle:
            _lock(handle)
            _held.append(path)
            try:
                yield  # closing the file releases the lock, also when the process dies
            finally:
                _held.remove(path)


def _lock(handle: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
