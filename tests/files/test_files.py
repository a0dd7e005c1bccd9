"""Files and folders that appear when they are whole: what is left when a write fails at any point."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from situ.errors import OutputError
from situ.files import make_folder, write_whole, written_whole


@contextmanager
def little_room(most: int = 1000) -> Iterator[None]:
    """No file of this process may grow beyond `most` bytes: a disk that is nearly full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_replaces_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(path.parent) == ["x"]


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_whole(path, b"old")
    with little_room(), pytest.raises(OutputError, match=f"{path} cannot be written") as caught:
        write_whole(path, b"n" * 5000)
    assert "make room" in str(caught.value)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("old", [None, "a file", "a folder"])
def test_a_folder_appears_whole_or_not_at_all(old: str | None, tmp_path: Path) -> None:
    path = tmp_path / "x"
    if old == "a file":
        path.write_text(old)
    elif old == "a folder":
        (path / "inside").mkdir(parents=True)
    with suppress(KeyboardInterrupt), written_whole(path) as draft:
        draft.mkdir()
        (draft / "half").touch()
        raise KeyboardInterrupt
    assert names(tmp_path) == ([] if old is None else ["x"])
    assert path.is_file() == (old == "a file")
    assert (path / "inside").exists() == (old == "a folder")
    with written_whole(path) as draft:
        draft.mkdir()
        (draft / "whole").touch()
    assert names(path) == ["whole"]
    assert names(tmp_path) == ["x"]


def test_a_folder_that_cannot_take_its_place_lets_the_old_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    (path / "inside").mkdir(parents=True)
    rename = Path.rename

    def fail_once(self: Path, target: Path) -> Path:
        if self.name.endswith(".partial"):
            raise OSError(errno.EIO, "broken")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_once)
    with pytest.raises(OutputError), written_whole(path) as draft:
        draft.mkdir()
    assert names(path) == ["inside"]
    assert names(tmp_path) == ["x"]


def test_links_and_devices_stay_what_they_are(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    write_whole(Path(os.devnull), b"x")
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full() -> None:
    with pytest.raises(OutputError, match="/dev/full cannot be written: No space left"):
        write_whole(Path("/dev/full"), b"x" * 10_000)


def test_no_such_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for write in (lambda path: write_whole(path, b"x"), make_folder):
        with pytest.raises(OutputError, match="a part of its path is a file"):
            write(tmp_path / "file" / "x")
        with pytest.raises(OutputError, match="/proc/nowhere/x cannot be written"):
            write(Path("/proc/nowhere/x"))
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_places_that_are_not_for_us(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(OutputError, match="folder that you may write to"):
        write_whole(tmp_path / "x", b"x")
