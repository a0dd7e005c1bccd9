"""Files and folders that appear under their name when they are whole, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from situ.errors import OutputError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_A_FILE = (errno.ENOTDIR, errno.EEXIST)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A place beside `path` for a new file or folder, which takes that name when the block ends well.

    Until then what is there stays; if the block fails nothing of it is left. A device or a pipe cannot be
    written beside, so it is written to directly.
    """
    named, path = path, Path(os.path.realpath(path))  # a link keeps pointing where it does
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    draft = path if is_special else path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        if not is_special:
            _take_place(draft, path)
    except BrokenPipeError:  # whoever reads a pipe has seen enough
        raise
    except OSError as error:
        raise _unwritable(named, error) from error
    finally:
        if not is_special:
            _remove(draft)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that appears when it is whole."""
    with written_whole(path) as draft:
        draft.write_bytes(content)


def make_folder(path: Path) -> None:
    """Make a folder that others write to, or say why they could not."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> OutputError:
    """The error to raise for a path that cannot be written, with what to do about it."""
    said = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in _FULL:
        hint = "make room, or write to another disk; nothing half-written is left under that name."
    elif error.errno in _FORBIDDEN:
        hint = "write to a folder that you may write to."
    elif error.errno in _A_FILE:
        said, hint = "a part of its path is a file, not a folder", "name another place."
    else:
        hint = "check the path: its folder does not exist and cannot be made, or is not an ordinary one."
    return OutputError(f"{path} cannot be written: {said}.", hint=hint)


def _take_place(draft: Path, path: Path) -> None:
    """Give the draft its name; a folder, or what a folder replaces, steps aside first."""
    if not path.is_dir() and not draft.is_dir():
        draft.replace(path)
        return
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    if path.exists():
        path.rename(old)
    try:
        draft.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # not there, or its folder is not
            path.unlink()
