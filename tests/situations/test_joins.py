"""Joins that run out of room go on where they stood: same matches, same work; but not beyond all memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.errors import TooManyMatchesError
from situ.machine import memory
from situ.operators.situations import engine as core
from situ.operators.situations import joins
from situ.operators.situations.engine import Engine, Found, Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.kernels.match import MOST_AT_ONCE
from situations.drawing import engine_of

CLAUSES = "DEFINE A AS a, B AS b, C AS c PATTERN A before;overlaps B AND B before;during C WITHIN 300"


def stepped(first_room: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Engine, list[Found]]:
    """Two steps over three slots, large enough for the planner to look before each."""
    monkeypatch.setattr(joins, "_FIRST_ROOM", first_room)
    rng = np.random.default_rng(5)
    engine = engine_of(CLAUSES, join="range")
    known, found = engine.nothing_known(3), []
    for clock in (0, 2_000):
        mask = np.repeat(rng.integers(0, 8, 1_500).astype(np.uint8), 4)
        rows = Rows(clock + np.tile(np.arange(2_000), 3), mask, np.array([0, 2_000, 4_000, 6_000]))
        matches, known = engine.step(Input(rows, attribute_states(engine, {}, len(mask))), known)
        found.append(matches)
    return engine, found


@pytest.mark.parametrize("room", [1, 7, 4096])
def test_a_join_goes_on_when_its_room_is_full(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, found = stepped(room, monkeypatch)
    wide_engine, at_once = stepped(1_000_000, monkeypatch)
    assert all(len(matches.instant) > 10_000 for matches in at_once)
    for own, other in zip(found, at_once, strict=True):
        assert (np.diff(own.instant) >= 0).all()
        assert all(np.array_equal(x, y) for x, y in zip(own[:2], other[:2], strict=True))
    for counted, expected in zip(engine._work, wide_engine._work, strict=True):
        assert np.array_equal(counted, expected)
    assert engine.n_visited == wide_engine.n_visited


MANY = pa.table({"t": np.arange(4_000), "a": np.arange(4_000) % 4 == 0, "b": np.arange(4_000) % 4 == 2})
BEFORE = situ.query("FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN A before B")
N_BEFORE = 1_000 * 999 // 2 + 1_000  # every A of four ticks and every later B


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for about 100,000 matches, and a look at it from the first thousands on."""
    monkeypatch.setattr(joins, "_WORTH_A_LOOK", 1 << 13)
    monkeypatch.setattr(core, "MOST_AT_ONCE", 1 << 13)
    monkeypatch.setattr(joins, "most_matches", lambda need, n_held: 100_000)


def test_room_is_made_while_free_memory_allows_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 1 << 30)
    few, many = (joins.most_matches(joins.Need.of(n, 0), 0) for n in (9, 2))
    assert 0 < few < many < (1 << 30) // (8 * (2 + 2))
    # what those found so far hold is a part of what they need, so that there is no more room for others
    assert joins.most_matches(joins.Need(128), 1 << 30) == 2 * joins.most_matches(joins.Need(128), 0)
    assert joins.most_matches(joins.Need.of(2, 0, 4), 0) == many // 4
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert joins.most_matches(joins.Need(100), 0) > 1 << 60


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("join", ["range", "pair"])
def test_more_matches_than_there_is_memory_for_are_counted_and_refused(join: str) -> None:
    with pytest.raises(TooManyMatchesError) as caught:
        situ.match(MANY, BEFORE, join=join)
    assert f"{N_BEFORE:,} matches at once" in str(caught.value)
    assert "more than" not in str(caught.value)
    assert all(word in str(caught.value.hint) for word in ("WITHIN", "Spark", "stream"))


@pytest.mark.usefixtures("little_memory")
def test_where_they_cannot_all_be_counted_more_are_said_to_be_there() -> None:
    with pytest.raises(TooManyMatchesError, match=r"more than [0-9,]+ matches at once"):
        situ.match(MANY, BEFORE, join="range", threads=2)


@pytest.mark.usefixtures("little_memory")
def test_many_counts_stop_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joins, "_COUNTED_ON", 2)
    with pytest.raises(TooManyMatchesError, match=r"more than [0-9,]+ matches at once"):
        situ.match(MANY, BEFORE, join="range")


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("join", ["range", "pair"])
def test_what_fits_is_given(join: str) -> None:
    few = MANY.slice(0, 1_000)
    assert situ.match(few, BEFORE, join=join).num_rows == 250 * 249 // 2 + 250
    within = situ.query(f"{BEFORE} WITHIN 200")
    assert situ.match(MANY, within, join=join).num_rows == situ.match(MANY, within).num_rows > 40_000


@pytest.mark.usefixtures("little_memory")
def test_pushes_are_bounded_as_well() -> None:
    operator = BEFORE.operator(MANY.schema)
    with pytest.raises(TooManyMatchesError, match="matches at once"):
        operator.push(MANY)


@pytest.mark.parametrize("returned", ["", " RETURN A.ts AS x, count(B) AS n"])
def test_a_push_with_more_matches_than_a_kernel_holds(returned: str) -> None:
    """2,000 situations of A wait for one event: half of a million matches each with the few last ones."""
    n = 1_500
    start = pa.table({"t": np.arange(2 * n), "a": np.arange(2 * n) % 2 == 0, "b": [False] * (2 * n)})
    last = pa.table({"t": 2 * n + np.arange(2 * n), "a": [False] * (2 * n), "b": np.arange(2 * n) % 2 == 1})
    query = situ.query(f"{BEFORE}{returned}")
    operator = query.operator(start.schema, join="range")
    operator.push(start)
    operator.engine._look_after = 1 << 40  # the way of small batches
    found = operator.push(last)
    assert found.num_rows == n * n > MOST_AT_ONCE
    assert found.num_rows == situ.match(pa.concat_tables([start, last]), query).num_rows


def test_free_memory_is_read_from_the_system_and_from_its_control_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = memory.free_bytes()
    assert free is None or free > 0
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9000 kB\nMemAvailable: 4000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert memory.free_bytes() == 4000 * 1024
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 1000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_bytes() == 4000 * 1024
    (tmp_path / "memory.max").write_text("2000000\n")
    (tmp_path / "memory.current").write_text("1900000\n")
    assert memory.free_bytes() == 101_000
