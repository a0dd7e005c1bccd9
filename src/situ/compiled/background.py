"""A process that compiles while this one goes on, and what it has left ready.

It gets one request after the other on its standard input, compiles at low priority and under the same lock as
everybody, leaves a file for each request that is done, and ends when nothing was asked for a while or nobody
is left to ask. What it was asked last it finishes also when the one who asked has ended: the next process
finds it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading

from situ.compiled.jit import kernel_folder
from situ.compiled.request import Request, compile_line
from situ.private import lasts

_log = logging.getLogger("situ.compiled")
_IDLE_SECONDS = 5.0  # without a request, after which the process ends
_NICENESS = 10


class _Helper:
    """The one of this process, if it has one."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.is_impossible = False  # to start one
        self.asked: set[str] = set()
        self.lock = threading.Lock()


_helper = _Helper()


def is_ready(request: Request) -> bool:
    """Whether compiled code is in the machine's cache."""
    return (kernel_folder() / request.name).exists()


def note_ready(request: Request | None) -> None:
    """Leave word that it is."""
    if request is not None:
        with contextlib.suppress(OSError):  # then it is found out by looking
            (kernel_folder() / request.name).touch()


def compiles(request: Request) -> bool:
    """Whether the background compiles it, asked for now if need be."""
    with _helper.lock:
        if request.name in _helper.asked:
            return _helper.process is not None and _helper.process.poll() is None
        if _helper.is_impossible:
            return False
        try:
            _ask(request)
        except OSError as error:  # no more processes, nowhere to keep what it compiles, or it has just ended
            _log.info("no kernels are compiled in the background: %s", error)
            _helper.is_impossible = True
            return False
        _helper.asked.add(request.name)
        return True


def _ask(request: Request) -> None:
    if _helper.process is None or _helper.process.poll() is not None:
        _helper.process = _started()
    assert _helper.process.stdin is not None
    _helper.process.stdin.write(f"{request.line}\n".encode())


def _started() -> subprocess.Popen[bytes]:
    folder = kernel_folder()
    if not lasts(folder):
        raise OSError(f"what is in {folder} lasts for this process only")
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,  # from which -m would import, wherever this process is
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)), "SITU_QUIET": "1"},
        start_new_session=True,
    )
    threading.Thread(target=process.wait, name="situ-compiles", daemon=True).start()  # so none stays behind
    _log.info(
        "compiling kernels in the background (process %d, kept in %s); until then they run as plain Python",
        process.pid,
        folder,
    )
    return process


def _forget() -> None:
    """In a forked process: the helper belongs to the one it was forked from."""
    process = _helper.process
    _helper.__init__()  # type: ignore[misc]  # with a lock that nobody holds
    if process is not None:
        process.returncode = 0  # not a child of this process, so there is nothing to wait for
        if process.stdin is not None:
            process.stdin.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _main() -> None:
    """Compile what is asked for until there is nothing left."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICENESS)
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line.rstrip("\n"))
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    with contextlib.suppress(queue.Empty):
        while line := lines.get(timeout=_IDLE_SECONDS):
            note_ready(compile_line(line))


if __name__ == "__main__":
    _main()
