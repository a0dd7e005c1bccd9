"""Folders that code is taken from: whose they may be, what is done where they are not, what forks do."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from situ import private

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders have no owners there")

# What an attacker leaves: kernels whose digests are right and which run code when they are loaded.
PLANT = """
import os, pickle
from situ.compiled import compiler
class Evil:
    def __reduce__(self):
        return os.mkdir, (os.environ["MARK"],)
compiler._Files._dump = lambda self, data: pickle.dumps(Evil())
"""
WORK = """
import numpy as np
from situ.rows.kernels.numbers import plus
print(plus(np.int64(1), np.int64(2)))
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without any cache yet, and a temporary folder like everybody's."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    monkeypatch.delenv("SITU_CACHE_DIR", raising=False)
    monkeypatch.delenv("SITU_QUIET", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(private.tempfile, "tempdir", None)
    monkeypatch.setattr(private, "_fresh", None)
    monkeypatch.setattr(private.atexit, "register", lambda *_: None)
    private._base.cache_clear()
    private._say.cache_clear()
    yield tmp_path / "home"
    private._base.cache_clear()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SITU_", "NUMBA_", "XDG_"))}
    env = {**kept, "PYTHONPATH": str(ROOT / "src"), "SITU_COMPILE_FIRST": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=120
    )


def test_folders_are_made_for_this_user_alone_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        folder = private.cache_folder("kernels-1", "inner")
    finally:
        os.umask(before)
    assert folder == home / ".cache" / "situ" / "kernels-1" / "inner"
    for made in (folder, folder.parent, folder.parents[1], folder.parents[2], home):
        assert mode(made) == 0o700
    assert private.lasts(folder)


def test_a_folder_that_others_only_read_is_good(home: Path) -> None:
    situ = home / ".cache" / "situ"
    situ.mkdir(parents=True)
    for folder in (situ, situ.parent, home):
        folder.chmod(0o755)
    assert private.cache_folder() == situ


@pytest.mark.parametrize("level", ["situ", "situ/jars"])
@pytest.mark.parametrize("fault", ["group", "everyone", "link", "owner"])
def test_a_folder_that_is_not_ones_own_is_passed_over(
    home: Path, fault: str, level: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad = home / ".cache" / level
    bad.parent.mkdir(parents=True)
    bad.parent.chmod(0o700)
    if fault == "link":
        (home / "elsewhere").mkdir(mode=0o700)
        bad.symlink_to(home / "elsewhere")
    else:
        bad.mkdir()
        bad.chmod({"group": 0o775, "everyone": 0o777, "owner": 0o700}[fault])
    if fault == "owner":
        theirs, problem = bad.stat().st_ino, private._problem
        foreign = "belongs to another user (mallory)"
        monkeypatch.setattr(
            private, "_problem", lambda found: foreign if found.st_ino == theirs else problem(found)
        )
    folder = private.cache_folder("jars")
    assert not folder.resolve().is_relative_to(bad.resolve())
    assert private.problem_with(folder) is None
    assert mode(folder) == 0o700
    (said,) = caplog.messages
    assert f"situ: {bad} " in said or f": {bad} " in said
    if level == "situ":  # the next choice is as good
        assert folder == Path(os.environ["TMPDIR"]) / f"situ-{os.geteuid()}" / "jars"
        assert "is kept in" in said
    else:
        assert "lasts for this process only" in said
        assert not private.lasts(folder)


def test_the_owner_counts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = private.cache_folder()
    file = folder / "kernel"
    file.write_bytes(b"code")
    file.chmod(0o600)
    assert private.read_private(file) == b"code"
    somebody = os.geteuid() + 1
    monkeypatch.setattr(private.os, "geteuid", lambda: somebody)
    assert "belongs to another user" in str(private.problem_with(folder))
    assert private.read_private(file) is None


def test_a_folder_that_was_good_is_looked_at_again(home: Path) -> None:
    folder = private.cache_folder("jars")
    folder.chmod(0o777)
    again = private.cache_folder("jars")
    assert again != folder
    assert private.problem_with(again) is None


def test_a_place_where_folders_can_be_swapped_is_not_chosen(home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)  # no sticky bit: anybody may rename what is in it
    assert private.cache_folder() == Path(os.environ["TMPDIR"]) / f"situ-{os.geteuid()}"


def test_where_none_is_private_a_fresh_folder_is_made_and_said_once(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    taken = Path(os.environ["TMPDIR"]) / f"situ-{os.geteuid()}"
    taken.mkdir()
    home.parent.chmod(0o700)
    for bad in (taken, home):
        bad.mkdir(exist_ok=True)
        bad.chmod(0o777)
    first, second = private.cache_folder("kernels"), private.cache_folder("jars")
    assert first.parent == second.parent
    assert first.parent.name.startswith("situ-")
    assert first.parent != taken
    (said,) = caplog.messages
    assert f"{taken} can be written by others (mode 777)" in said
    assert f"lies below {home}, which others can write" in said
    assert "SITU_CACHE_DIR" in said


def test_a_folder_that_is_asked_for_and_not_used_is_said(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o775)
    monkeypatch.setenv("SITU_CACHE_DIR", str(shared))
    assert private.cache_folder() == home / ".cache" / "situ"
    assert private.cache_folder("jars").parent == home / ".cache" / "situ"
    said = (
        f"situ: {shared} can be written by others (mode 775). What is compiled or fetched is kept in {home}"
    )
    assert caplog.messages == [f"{said}/.cache/situ"]
    assert [record.name for record in caplog.records] == ["situ.private"]


@pytest.mark.parametrize("fault", ["mode", "link", "pipe", "missing"])
def test_only_private_files_are_read(tmp_path: Path, fault: str) -> None:
    file = tmp_path / "file"
    if fault == "pipe":
        os.mkfifo(file, 0o600)
    elif fault != "missing":
        real = tmp_path / ("real" if fault == "link" else "file")
        private.write_private(real, b"code")
        assert mode(real) == 0o600
        assert private.read_private(real) == b"code"
        if fault == "link":
            file.symlink_to(real)
        else:
            file.chmod(0o620)
    assert private.read_private(file) is None


def test_planted_kernels_do_not_run(tmp_path: Path) -> None:
    """No cache of one's own, and somebody was first in the temporary folder."""
    temporary, blocked = tmp_path / "tmp", tmp_path / "file"
    temporary.mkdir()
    blocked.write_text("not a folder")
    where = {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(blocked), "MARK": str(tmp_path / "mark")}
    assert run(PLANT + WORK, **where).stdout.strip() == "3"
    assert list(temporary.rglob("*.nbc"))
    for folder in [path for path in temporary.rglob("*") if path.is_dir()]:
        folder.chmod(0o777)
    done = run(WORK, **where)
    assert done.stdout.strip() == "3", done.stderr
    assert not (tmp_path / "mark").exists()
    assert "can be written by others" in done.stderr
    assert len(list(temporary.iterdir())) == 1, "the fresh folder is gone"


def test_a_forked_child_leaves_the_fresh_folder_and_makes_one_where_it_is_gone(tmp_path: Path) -> None:
    temporary, blocked = tmp_path / "tmp", tmp_path / "file"
    temporary.mkdir()
    blocked.write_text("not a folder")
    (temporary / f"situ-{os.geteuid()}").symlink_to(tmp_path)
    script = """
import os, shutil, sys
from situ import private
mine = private.cache_folder()
child = os.fork()
if child == 0:
    assert private.cache_folder() == mine
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert mine.is_dir(), "removed by a child"
child = os.fork()
if child == 0:
    shutil.rmtree(mine)  # as a parent does that ends first
    own = private.cache_folder("kernels")
    assert own.is_dir() and not own.is_relative_to(mine)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = run(script, TMPDIR=str(temporary), XDG_CACHE_HOME=str(blocked))
    assert done.returncode == 0, done.stderr
    assert [path.name for path in temporary.iterdir()] == [f"situ-{os.geteuid()}"]
