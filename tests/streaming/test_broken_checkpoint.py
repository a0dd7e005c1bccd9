"""A checkpoint that is damaged, or another query's: `situ stream` names it and says what can be done."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from situ.cli import main
from situ.cli.checkpoint import checkpoint_error
from situ.errors import DataError, StateError

QUERY = """FROM s PARTITION BY k ORDER BY t DEFINE A AS x > 0, B AS x > 0.5
PATTERN A contains;overlaps B WITHIN 60 seconds RETURN A.ts AS a"""
START = datetime(2024, 1, 1, tzinfo=UTC)


def add_file(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    rows = [
        {"k": i % 3, "t": (START + timedelta(seconds=20 * number + i)).isoformat(), "x": i * 7 % 11 / 5 - 1}
        for i in range(20)
    ]
    (folder / f"{number}.json").write_text("\n".join(map(json.dumps, rows)))


def arguments(folder: Path, query: str = QUERY) -> list[str]:
    return [
        "stream", query, "--source", "files", "--input", str(folder / "in"), "--sink", "files",
        "--schema", "k bigint, t timestamp, x double", "--watermark", "5 seconds",
        "--checkpoint", str(folder / "state"), "--output", str(folder / "out"), "--until-done", "--quiet",
        "--partitions", "2",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def stopped(spark: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stream that has stopped, and a file that it has not seen."""
    folder = tmp_path_factory.mktemp("stopped")
    add_file(folder / "in", 0)
    assert main(arguments(folder)) == 0
    add_file(folder / "in", 1)
    return folder


def state_removed(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state")


def state_changed(checkpoint: Path) -> None:
    for file in checkpoint.rglob("*.changelog"):
        data = file.read_bytes()
        file.write_bytes(data[: len(data) // 2] + bytes(byte ^ 0x5A for byte in data[len(data) // 2 :]))


def offsets_changed(checkpoint: Path) -> None:
    for file in (checkpoint / "offsets").glob("[0-9]*"):
        (file.parent / f".{file.name}.crc").unlink()
        file.write_text(file.read_text()[:-9] + "\x17")


def metadata_changed(checkpoint: Path) -> None:
    (checkpoint / ".metadata.crc").unlink()
    (checkpoint / "metadata").write_text("{")


@pytest.mark.parametrize(
    "damage", [state_removed, state_changed, offsets_changed, metadata_changed], ids=lambda f: f.__name__
)
def test_a_damaged_checkpoint_is_named(
    stopped: Path, damage: Callable[[Path], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is promised then that cannot be kept."""
    folder = tmp_path / "copy"
    shutil.copytree(stopped, folder)
    damage(folder / "state")
    capsys.readouterr()
    assert main(arguments(folder)) == 1
    said = capsys.readouterr().err
    assert f"the checkpoint {folder / 'state'} is damaged" in said, said
    assert "nothing is lost" not in said
    assert "begin anew with another --checkpoint" in said
    assert "Traceback" not in said
    assert "\tat " not in said


def test_another_query_on_a_checkpoint_is_told_both(
    stopped: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(stopped, folder)
    capsys.readouterr()
    assert main(arguments(folder, QUERY.replace("60", "61"))) == 1
    said = capsys.readouterr().err
    assert (
        f"the checkpoint {folder / 'state'} does not fit: this checkpoint was made for another query" in said
    )
    assert "WITHIN 1 minute" in said
    assert "WITHIN 61 seconds" in said
    assert "nothing is lost" not in said
    assert "=== Streaming Query ===" not in said


def test_what_is_not_the_checkpoints_fault_is_not_put_down_to_it(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_text('v1\n{"batchWatermarkMs":0}\n-')
    (tmp_path / "metadata").write_text('{"id":"1"}')
    assert checkpoint_error("the broker is gone", str(tmp_path), None) is None
    assert checkpoint_error("a row is bad", str(tmp_path), DataError("a row is bad")) is None
    assert checkpoint_error("the broker is gone", str(tmp_path / "none"), None) is None
    version = checkpoint_error("", "folder", StateError("saved state has version 3", hint="go back"))
    assert str(version) == "the checkpoint folder does not fit: saved state has version 3\nHint: go back"
