"""One join of everything, or one from each situation a step touched: whichever looks at less."""

from __future__ import annotations

import numpy as np
import pytest

from situ.operators.situations.engine import Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.kernels.layout import Rows
from situations.drawing import engine_of

N = 40_000
QUERIES = {
    "disconnected": "DEFINE A AS a, B AS b, C AS c, D AS d "
    "PATTERN A starts B AND B before C AND C overlaps D WITHIN 8000",
    "chain": "DEFINE A AS a, B AS b, C AS c PATTERN A overlaps B AND B before C WITHIN 1000",
    "triangle": "DEFINE A AS a, B AS b, C AS c "
    "PATTERN A overlaps B AND B overlaps C AND A before C WITHIN 4000",
}


def masks(seed: int = 4) -> np.ndarray:
    """Four conditions that hold for 10 to 100 events and then not for 10 to 50."""
    rng = np.random.default_rng(seed)
    mask = np.zeros(N, np.uint8)
    for symbol in range(4):
        lengths = np.stack([rng.integers(10, 50, N // 50), rng.integers(10, 100, N // 50)], axis=1).ravel()
        holds = np.repeat(np.tile([0, 1], N // 50), lengths)[:N]
        mask |= (holds << symbol).astype(np.uint8)
    return mask


def looked_at(clauses: str, batch: int, forced: str | None) -> tuple[int, int]:
    """Candidates all steps looked at, and the matches they found."""
    engine, mask = engine_of(clauses, join="range"), masks()
    mask &= np.uint8((1 << engine.n_symbols) - 1)
    known, n_matches = engine.nothing_known(1), 0
    for begin in range(0, N, batch):
        if forced == "at once":
            engine._deltas = engine._full
        elif forced == "from anchors":
            engine._full = engine._deltas
        time = np.arange(begin, min(begin + batch, N))
        rows = Rows(time, mask[begin : begin + batch], np.array([0, len(time)]))
        found, known = engine.step(Input(rows, attribute_states(engine, {}, len(time))), known)
        n_matches += found.size
    return engine.actuals().visited, n_matches


@pytest.mark.parametrize("clauses", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("batch", [50, 500, 5_000])
def test_a_step_looks_at_little_more_than_the_better_of_the_two(clauses: str, batch: int) -> None:
    own, found = looked_at(clauses, batch, None)
    at_once, found_at_once = looked_at(clauses, batch, "at once")
    from_anchors, found_from_anchors = looked_at(clauses, batch, "from anchors")
    assert found == found_at_once == found_from_anchors > 0
    assert own <= 1.5 * min(at_once, from_anchors), (own, at_once, from_anchors)


def test_large_batches_do_not_look_from_every_anchor() -> None:
    own, _ = looked_at(QUERIES["disconnected"], 1_000, None)
    from_anchors, _ = looked_at(QUERIES["disconnected"], 1_000, "from anchors")
    assert own < from_anchors / 3
