"""`@kernel`: compile with Numba, without the GIL, once per machine.

Numba's own cache lies beside the source, forgets that a kernel calls another file's kernel, and lets
every process that starts at the same moment compile the same code. Spark starts workers together on
read-only installs, so we keep a cache of our own: in a folder of the user alone, each kernel stamped
with its source and all it imports of ours, and filled under a file lock.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba
from numba.core import caching, config
from numba.core.runtime import rtsys

from situ._version import __version__
from situ.private import cache_folder, lasts, read_private, write_private

F = TypeVar("F", bound=Callable[..., Any])

_SITU = Path(__file__).parents[1]
_DIGEST_SIZE = 16
_OURS = re.compile(r"^from (situ[.\w]*) import", re.MULTILINE)


def kernel_folder() -> Path:
    """Where the compiled kernels of this installation are kept, looked at anew each time."""
    return cache_folder(f"kernels-{_installation()}")


@cache
def _installation() -> str:
    """This installation of situ, so that several on one machine do not overwrite each other's kernels."""
    text = f"{_SITU} {numba.__version__} {sys.version_info[:2]}"
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
        expected = f"{self._version} {self._source_stamp} {key!r}"
        return hashlib.blake2b(expected.encode() + data, digest_size=_DIGEST_SIZE).digest()


class _Cache(caching.FunctionCache):
    _impl_class = _CacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        plain = self._cache_file
        base = plain._index_name.removesuffix(".nbi")
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
    print(
        f"situ: compiling its kernels, {how_long}, about 30 s in all (kept in {folder})",
        file=sys.stderr,
        flush=True,
    )


def _is_first_to_say(folder: Path) -> bool:
    """Whether no process has said so before: a Spark job's workers all find the same kernels missing."""
    try:
        (folder / f"announced-{__version__}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


_in_process = threading.RLock()
_depth = 0


@contextmanager
def _one_compiler() -> Iterator[None]:
    """One process of this machine compiles at a time; the others then find its work in the cache."""
    global _depth
    with _in_process:
        _depth += 1
        try:
            if _depth > 1:  # a kernel that calls a kernel: the lock is ours already
                yield
                return
            with (kernel_folder() / "lock").open("wb") as handle:
                _lock(handle)
                yield  # closing the file releases the lock, also when the process dies
        finally:
            _depth -= 1


def _lock(handle: Any) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)


def inlined(function: F) -> F:
    """Part of the kernels that call it: compiled with each of them, and not by itself."""
    if config.DISABLE_JIT:
        return function
    return numba.njit(inline="always", nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def kernel(function: F) -> F:
    """Compile `function` at its first call with given types, or load it from the machine's cache."""
    if config.DISABLE_JIT:
        return function
    dispatcher = numba.njit(nogil=True, error_model="numpy", boundscheck=False)(function)
    dispatcher._cache = _Cache(function)
    compile_now = dispatcher.compile

    def compile_under_lock(signature: Any) -> Any:
        with _one_compiler():
            return compile_now(signature)

    dispatcher.compile = compile_under_lock
    return dispatcher  # type: ignore[no-any-return]
