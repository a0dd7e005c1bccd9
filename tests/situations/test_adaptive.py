"""Plans that follow the data: Q3 of dissertation 5.7.4 while occurrence ratios change, in candidates."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.kernels.layout import Rows
from situ.plan.plan import Planner
from situations.drawing import engine_of

RATIOS = ((1, 1, 1), (1, 50, 50), (50, 1, 50))
BATCH, N_BATCHES, WINDOW = 10_000, 8, 20_000
CLAUSES = f"DEFINE A AS a, B AS b, C AS c PATTERN A before B AND A before C AND B before C WITHIN {WINDOW}"


def phases() -> list[list[Rows]]:
    """Per ratio its batches: situations of 4 events; at ratio 50 a hundred in a window, at 1 two."""
    rng = np.random.default_rng(574)
    found, clock = [], 0
    for ratios in RATIOS:
        n = BATCH * N_BATCHES
        mask = np.zeros(n, np.uint8)
        for symbol, ratio in enumerate(ratios):
            starts = np.cumsum(rng.integers(60, 340 if ratio == 50 else 340 * 50, n // 60))
            for i in range(4):
                mask[starts[starts < n - 4] + i] |= 1 << symbol
        batches = []
        for begin in range(0, n, BATCH):
            time = clock + begin + np.arange(BATCH)
            batches.append(Rows(time, mask[begin : begin + BATCH], np.array([0, BATCH])))
        clock += n
        found.append(batches)
    return found


def visited(order: tuple[int, ...] | None) -> list[list[int]]:
    """Candidates looked at, per phase and batch, with one fixed order or with plans that follow."""
    engine = engine_of(CLAUSES, join="range")
    if order is not None:
        engine.planner = Planner(engine.spec.relations, order=order, join="range")
        engine._plan_changed()
    known = engine.nothing_known(1)
    counts = []
    for batches in phases():
        counts.append([])
        for rows in batches:
            before = looked_at(engine)
            _, known = engine.step(Input(rows, attribute_states(engine, {}, len(rows.time))), known)
            counts[-1].append(looked_at(engine) - before)
    return counts


def looked_at(engine: Engine) -> int:
    return engine.n_visited + int(engine._work.visited.sum())


def test_candidates_stay_near_those_of_the_best_fixed_plan() -> None:
    own = visited(None)
    fixed = {order: visited(order) for order in permutations(range(3))}
    for phase, ratios in enumerate(RATIOS):
        best = min(sum(counts[phase][2:]) for counts in fixed.values())
        assert sum(own[phase][2:]) <= 1.1 * best, (ratios, own[phase], best)
    totals = {order: sum(map(sum, counts)) for order, counts in fixed.items()}
    assert sum(map(sum, own)) < min(totals.values()), (own, totals)
