"""Jars from the repository and from the cache: those that are meant, or an error that says which is not."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from situ.cli import jars
from situ.cli.checksums import CONNECTORS, PINNED

COORDINATES = ("org.example:tool:1.0", "org.example:part:2.0")
TOOL, PART = "org.example.tool-1.0.jar", "org.example.part-2.0.jar"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What Ivy finds, as file names and contents; an empty cache."""
    served = {TOOL: b"tool", PART: b"part"}

    def retrieve(coordinates: Any, transitive: bool, without: Any, folder: Path) -> None:
        (folder / "jars").mkdir()
        (folder / "jars").chmod(0o775)  # as under a umask of 2
        for name, content in served.items():
            (folder / "jars" / name).write_bytes(content)
            (folder / "jars" / name).chmod(0o664)

    monkeypatch.setenv("SITU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(jars, "_retrieve", retrieve)
    return served


def fetched() -> list[Path]:
    return jars.fetch(COORDINATES, transitive=False)


def test_what_was_fetched_is_private_and_found_again(repository: dict[str, bytes]) -> None:
    found = fetched()
    assert [path.name for path in found] == sorted(repository)
    for path in (*found, found[0].parent):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077
    repository.clear()  # a later call fetches nothing
    assert fetched() == found
    assert [path.name for path in found[0].parents[1].iterdir()] == [found[0].parent.name], "a draft is left"


@pytest.mark.parametrize("damage", ["altered", "removed", "added", "shared"])
def test_a_cache_that_was_altered_is_refused_and_left_as_it_is(
    repository: dict[str, bytes], damage: str
) -> None:
    victim = next(path for path in fetched() if path.name == TOOL)
    named = victim
    if damage == "altered":
        victim.write_bytes(b"evil")
    elif damage == "removed":
        victim.unlink()
    elif damage == "added":
        named = victim.with_name("evil.jar")
        named.write_bytes(b"evil")
    else:
        victim.chmod(0o666)
    before = sorted(os.listdir(victim.parent))
    with pytest.raises(jars.JarsAlteredError) as caught:
        fetched()
    assert str(named) in caught.value.message
    assert str(victim.parent) in str(caught.value.hint)
    assert sorted(os.listdir(victim.parent)) == before


def test_a_repository_that_serves_another_jar_than_the_pinned_one_is_refused(
    repository: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    right = hashlib.sha256(b"tool").hexdigest()
    monkeypatch.setitem(PINNED, TOOL, right)
    repository[TOOL] = b"evil"
    with pytest.raises(jars.JarsAlteredError, match=right) as caught:
        fetched()
    (left,) = tmp_path.rglob(TOOL)
    assert str(left) in caught.value.message
    repository[TOOL] = b"tool"
    assert TOOL in [path.name for path in fetched()]


def test_a_cache_filled_before_a_checksum_was_pinned_is_held_against_it(
    repository: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched()
    monkeypatch.setitem(PINNED, TOOL, "0" * 64)
    with pytest.raises(jars.JarsAlteredError, match=TOOL):
        fetched()


def test_every_jar_of_the_known_connectors_is_pinned() -> None:
    for coordinates in CONNECTORS.values():
        for one in coordinates:
            group, artifact, version = one.split(":")
            assert f"{group}.{artifact}-{version}.jar" in PINNED


def test_a_connector_without_known_checksums_is_fetched_only_if_asked_for(
    repository: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars.importlib.metadata, "version", lambda name: "4.99.1")
    with pytest.raises(jars.UnverifiedConnectorError, match=r"Spark 4\.99\.1.*4\.99\.1\.[^$]*--jars"):
        jars.kafka_connector()
    assert len(jars.kafka_connector(unverified=True)) == 2
