"""Joins that run out of room go on where they stood: same matches, same work."""

from __future__ import annotations

import numpy as np
import pytest

from engine.drawing import engine_of
from situ.engine import joins
from situ.engine.core import Engine, Found, Input, attribute_states
from situ.engine.kernels.layout import Rows

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
