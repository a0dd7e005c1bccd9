"""Distances are bounds of the ranges that joins look through, not only tests of what they find there."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.kernels.layout import Rows
from situations.drawing import engine_of

N = 4_000
DISTANCES = (10, 100, 1_000)
WAYS = [
    "BY AT MOST {d}",
    "AND B.ts <= A.te + {d}",
    "AND B.ts - A.te BETWEEN 3 AND {d}",
    "AND B.te < A.ts + {d}",
]


def clauses(way: str | None, d: int = 0) -> str:
    distance = "" if way is None else way.format(d=d)
    return f"DEFINE A AS a, B AS b PATTERN A before B {distance} WITHIN 3000"


def stepped(text: str, join: str, batch: int) -> tuple[Engine, int]:
    """A in every tenth tick and B three ticks after it; the matches."""
    engine = engine_of(text, join=join)
    at = np.arange(N)
    mask = ((at % 10 == 0) | (at % 10 == 3) << 1).astype(np.uint8)
    known, n_matches = engine.nothing_known(1), 0
    for begin in range(0, N, batch):
        time = at[begin : begin + batch]
        rows = Rows(time, mask[begin : begin + batch], np.array([0, len(time)]))
        found, known = engine.step(Input(rows, attribute_states(engine, {}, len(time))), known)
        n_matches += found.size
    return engine, n_matches


def falls(counts: list[int], n_matches: list[int]) -> bool:
    """Whether each distance costs about what it leaves, and far less than the next one."""
    return all(1.5 * few < many for few, many in itertools.pairwise(counts)) and all(
        count <= 2 * found + N for count, found in zip(counts, n_matches, strict=True)
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("join", ["range", "pair"])
def test_a_batch_tests_the_fewer_candidates_the_shorter_the_distance(way: str, join: str) -> None:
    runs = [stepped(clauses(way, d), join, N) for d in DISTANCES] + [stepped(clauses(None), join, N)]
    tested = [int(engine._work.tested.sum()) for engine, _ in runs]
    assert falls(tested, [n for _, n in runs]), tested


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("batch", [1, 50])
def test_pushes_visit_the_fewer_candidates_the_shorter_the_distance(way: str, batch: int) -> None:
    runs = [stepped(clauses(way, d), "range", batch) for d in DISTANCES]
    runs.append(stepped(clauses(None), "range", batch))
    visited = [engine.work_so_far().n_candidates for engine, _ in runs]
    assert falls(visited, [n for _, n in runs]), visited


@pytest.mark.parametrize(("join", "batch"), [("range", N), ("range", 7), ("pair", N)])
def test_given_intervals_too(join: str, batch: int) -> None:
    at = np.arange(0, N, 10)
    table = pa.table({"s": np.concatenate([at, at + 3]), "e": np.concatenate([at + 1, at + 4])})
    table = table.append_column("a", pa.array(np.repeat([True, False], len(at)))).sort_by("e")
    visited, n_matches = [], []
    for text in [*(WAYS[0].format(d=d) for d in DISTANCES), ""]:
        query = situ.query(
            "FROM INTERVALS e STARTING s ENDING e DEFINE A AS a, B AS NOT a "
            f"PATTERN A before B {text} WITHIN 3000"
        )
        operator = query.operator(table.schema, join=join)
        found = [operator.push(piece).num_rows for piece in table.to_batches(max_chunksize=batch)]
        n_matches.append(sum(found))
        visited.append(operator.operator.work().n_candidates)
    assert falls(visited, n_matches), visited
