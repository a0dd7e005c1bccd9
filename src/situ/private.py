"""The folders that code is taken from: compiled kernels, jars, Java. Only those that nobody else can alter.

What lies in them is unpickled or run, so whoever can write there runs code as this user. A folder counts only
if it is a real one, belongs to the effective user and takes nobody else's files; each is looked at again
whenever it is used.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import stat
import tempfile
from functools import cache, lru_cache
from pathlib import Path

_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_HAS_OWNERS = hasattr(os, "geteuid")  # Windows gives each user a profile and a temporary folder of their own
_ROOT = 0

_log = logging.getLogger(__name__)
_fresh: Path | None = None


def cache_folder(*below: str) -> Path:
    """The folder for what situ keeps between runs, or one below it, made if need be.

    The first of $SITU_CACHE_DIR, the user's cache folder and one in the temporary folder that is private and
    takes files; where none is, a fresh folder that is gone when the process ends.
    """
    asked = os.environ.get("SITU_CACHE_DIR") or None
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    base, reasons = _base(asked, user, tempfile.gettempdir())
    if base is not None:
        folder, reason = _made(base, below)
        if reason is None:
            return folder
        reasons = f"{folder} {reason}"
    return _made(_fresh_folder(reasons), below)[0]


def lasts(folder: Path) -> bool:
    """Whether what is kept in this folder is still there when the process has ended."""
    return _fresh is None or not folder.is_relative_to(_fresh)


def problem_with(path: Path) -> str | None:
    """Why a file or folder is not this user's alone, in words that follow its name; None if it is.

    >>> problem_with(Path(tempfile.mkdtemp()))
    """
    return _problem(path.lstat())


def read_private(path: Path) -> bytes | None:
    """The content of a regular file of this user that nobody else can write; None if it is not one."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # a pipe must not make us wait
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)  # of what was opened, whatever its name stands for by now
        if not stat.S_ISREG(found.st_mode) or _problem(found) is not None:
            return None
        return file.read()


def write_private(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file that only this user can read, whole or not at all, also when two processes do it."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


@lru_cache(maxsize=4)
def _base(asked: str | None, user: str, temporary: str) -> tuple[Path | None, str]:
    """The folder to keep things in, or None and what is wrong with those that it could have been."""
    own = f"situ-{os.geteuid()}" if _HAS_OWNERS else "situ-cache"
    ours = (os.path.join(user, "situ"), os.path.join(temporary, own))
    reasons: list[str] = []
    is_distrusted = False
    for base in ([asked] if asked else []) + [path for path in ours if os.path.isabs(path)]:
        folder, reason = _made(_located(base), ())
        if reason is None and base != asked:  # the place of one that is asked for is the user's choice
            reason = _swappable(folder)
        is_distrusted |= reason is not None and os.path.isdir(folder)
        reason = reason or _unwritable(folder)
        if reason is None:
            if is_distrusted:
                _say(f"{'; '.join(reasons)}. What is compiled or fetched is kept in {folder}")
            return folder, ""
        reasons.append(f"{folder} {reason}")
    return None, "; ".join(reasons)


def _located(base: str) -> Path:
    """The same folder by a name without links, save its own, so that nobody can turn one elsewhere later."""
    folder = Path(os.path.abspath(base))
    return Path(os.path.realpath(folder.parent)) / folder.name


def _made(base: Path, below: tuple[str, ...]) -> tuple[Path, str | None]:
    """The folder, made with all that lead to it; or the first of them that cannot be used, and why."""
    folder = base
    try:
        for missing in reversed([one for one in base.parents if not one.exists()]):
            _make(missing)
        for name in ("", *below):
            folder = folder / name
            _make(folder)
            if (reason := problem_with(folder)) is not None:
                return folder, reason
    except OSError as error:
        return folder, f"cannot be made ({error.strerror})"
    return folder, None


def _make(folder: Path) -> None:
    # by itself, because makedirs gives the folders on the way whatever the umask leaves them
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_symlink() and not folder.is_dir():
            raise


def _unwritable(folder: Path) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"cannot be written ({error.strerror})"


def _problem(found: os.stat_result) -> str | None:
    if stat.S_ISLNK(found.st_mode):
        return "is a link"
    if _HAS_OWNERS and found.st_uid != os.geteuid():
        return f"belongs to another user ({_user(found.st_uid)})"
    if _HAS_OWNERS and found.st_mode & _BY_OTHERS:
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):o})"
    return None


def _swappable(folder: Path) -> str | None:
    """Whether somebody else could put another folder in this one's place: who can write above it can."""
    if not _HAS_OWNERS:
        return None
    for above in folder.parents:
        found = above.stat()
        trusted = (_ROOT, os.geteuid(), os.stat("/").st_uid)  # in a container root may have another number
        if found.st_uid not in trusted:
            return f"lies below {above}, which belongs to another user ({_user(found.st_uid)})"
        by_group = found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid)
        by_all = found.st_mode & stat.S_IWOTH
        if (by_group or by_all) and not found.st_mode & stat.S_ISVTX:
            return f"lies below {above}, which others can write (mode {stat.S_IMODE(found.st_mode):o})"
    return None


@cache
def _is_own_group(number: int) -> bool:
    """Whether a group has no member but this user, as many systems make one for each; or is root's."""
    import grp
    import pwd

    if number == _ROOT:
        return True
    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return user.pw_gid == number and user.pw_name == group.gr_name and not {*group.gr_mem} - {user.pw_name}


def _user(number: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _fresh_folder(reasons: str) -> Path:
    """One for this process and those it forks, which share it as long as it is there."""
    global _fresh
    if _fresh is None or not _fresh.is_dir() or problem_with(_fresh) is not None:
        _fresh = Path(tempfile.mkdtemp(prefix="situ-"))
        atexit.register(_remove, _fresh, os.getpid())
        _say(
            f"what is compiled or fetched lasts for this process only ({_fresh}): {reasons}. "
            "Set SITU_CACHE_DIR to a folder of your own that nobody else can write"
        )
    return _fresh


def _remove(folder: Path, made_by: int) -> None:
    if os.getpid() == made_by:  # and not a forked child, which ends sooner
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _say(text: str) -> None:
    if not os.environ.get("SITU_QUIET"):
        _log.warning("situ: %s", text)  # where nobody has set up logging, this line is all that is seen
