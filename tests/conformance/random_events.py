"""Random tables of events.

A table is drawn as one list whose elements do not depend on each other, each a row or a few rows in a row
that are alike. So Hypothesis can take any of them away, and what a row holds stays as it was drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import product
from math import gcd
from random import Random
from typing import NamedTuple, TypeVar

import pyarrow as pa
from hypothesis import strategies as st

from oracles.question import Row

SCHEMA = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("seq", pa.int64()),
        *((name, pa.bool_()) for name in "abcd"),
        ("x", pa.float64()),
        ("n", pa.int64()),
        ("s", pa.string()),
    ]
)
KEYS = [["p"], ["p"], ["p"], ["p", "q"], ["p", None], ["p", "q", "r", None]]
STATES = sorted(range(16), key=int.bit_count)  # of a, b, c, d: the fewest that hold are the simplest
NUMBERS = list(product([None, 0.5, 1.25, 2.5, 3.0, -4.75], [None, 0, 1, 2, -3, 40]))  # x and n
T = TypeVar("T")


def scattered(pool: Iterable[T]) -> st.SearchStrategy[T]:
    """The first is the simplest, the others in no order: Hypothesis prefers the beginning of a list."""
    items = list(pool)
    step = next(step for step in range(len(items) * 5 // 8, len(items)) if gcd(step, len(items)) == 1)
    return st.sampled_from([items[i * step % len(items)] for i in range(len(items))])


class Details(NamedTuple):
    """What matters less of a row, in one choice: drawing takes most of the time of a random test."""

    n_rows: int  # how many rows of this state follow each other
    nulls: int  # which of a, b, c, d are null
    rank: int  # rows of a higher one arrive later, and have a lower `seq`
    numbers: int  # where in NUMBERS


DETAILS = product([1, 1, 1, 1, 2, 4], [0] * 12 + [1, 2, 4, 8], range(4), range(len(NUMBERS)))
Element = tuple[int, int, int, Details]  # a row, or several: time since the last one, key, state
ELEMENTS = st.tuples(
    st.sampled_from([1, 1, 0, 2, 0, 3, 6]),
    st.sampled_from(range(4)),
    scattered(STATES),
    scattered(Details(*details) for details in DETAILS),
)


def in_stretches(element: st.SearchStrategy[T], max_size: int) -> st.SearchStrategy[list[T]]:
    """A list that is seldom short, drawn in stretches, so that many elements can go at once.

    A larger `min_size` of the elements would make it as long, and keep it from shrinking.
    """
    stretch = st.lists(element, min_size=1, max_size=6)
    few, many = (
        st.lists(stretch, min_size=size, max_size=3 + max_size // 3).map(
            lambda parts: joined(parts)[:max_size]
        )
        for size in (3, 6)
    )
    short = st.lists(element, max_size=6)
    return st.sampled_from([few, *[many] * 14, short]).flatmap(lambda chosen: chosen)


def joined(parts: list[list[T]]) -> list[T]:
    return [one for part in parts for one in part]


@cache
def event_rows(max_rows: int, shuffled: bool = False) -> st.SearchStrategy[list[Row]]:
    """Rows in the order they arrive, which is that of time unless told otherwise.

    Up to four partitions (one may be the null key), gaps, and in most tables ties.
    """
    return st.builds(
        arrived,
        elements=in_stretches(ELEMENTS, max_rows),
        keys=st.sampled_from(KEYS),
        begin=st.sampled_from([0, 0, -5, 1000]),
        has_ties=st.sampled_from([False, True, True]),
        lateness=st.sampled_from([0, 0, 4, max_rows, None]) if shuffled else st.just(0),
        mixture=st.integers(0, 99) if shuffled else st.just(0),
        max_rows=st.just(max_rows),
    )


def arrived(
    elements: list[Element],
    keys: list[str | None],
    begin: int,
    has_ties: bool,
    lateness: int | None,  # by how many rows a rank makes a row late; None: all are mixed up
    mixture: int,
    max_rows: int,
) -> list[Row]:
    rows: list[Row] = []
    arrival: list[int] = []
    clock = begin
    for gap, key, state, details in elements:
        for repeated in range(min(details.n_rows, max_rows - len(rows))):
            clock += gap if has_ties else max(gap, 1)
            arrival.append(len(rows) + (lateness or 0) * details.rank)
            x, n = NUMBERS[(details.numbers + 7 * repeated) % len(NUMBERS)]
            row = {"k": keys[key % len(keys)], "t": clock, "seq": len(rows) + 100 * (3 - details.rank)}
            numbers = {"x": x, "n": n, "s": None if n is None else f"v{n % 3}"}
            rows.append(row | booleans(state, details.nulls) | numbers)
    if lateness is None:
        Random(mixture).shuffle(rows)
        return rows
    return [rows[i] for i in sorted(range(len(rows)), key=arrival.__getitem__)]


def booleans(state: int, nulls: int = 0) -> Row:
    return {name: None if nulls >> bit & 1 else bool(state >> bit & 1) for bit, name in enumerate("abcd")}


class Begin(NamedTuple):
    """How a partition comes: after what gap, the key of which earlier one it takes, time between its rows."""

    gap: int
    back: int
    step: int


BEGINS = product([0, 1, 2, 5, 9], [0] * 8 + [1, 2, 30], [1, 2, 5])
Life = tuple[Begin, int, int]  # how many rows, and their states, four bits each
LIVES = st.tuples(
    scattered(Begin(*begin) for begin in BEGINS), st.sampled_from(range(1, 13)), st.integers(0, 16**12 - 1)
)


def crowd_rows() -> st.SearchStrategy[list[Row]]:
    """Many partitions with a short life each, some of which come back, or one with a long life."""
    many = in_stretches(st.lists(LIVES, min_size=1, max_size=12), 32).map(
        lambda parts: crowd(joined(parts), is_one=False)
    )
    one = in_stretches(LIVES, 40).map(lambda lives: crowd(lives, is_one=True))
    return st.sampled_from([many, many, one]).flatmap(lambda chosen: chosen)


def crowd(lives: list[Life], is_one: bool) -> list[Row]:
    rows: list[Row] = []
    clock = 0
    for number, (begin, n_rows, states) in enumerate(lives):
        clock += begin.gap
        key = 0 if is_one else max(number - begin.back, 0)
        for i in range(n_rows):
            numbers = {"x": (None, 0.5, 3.0)[i % 3], "n": (number + i) % 9, "s": "v"}
            row = {"k": f"key {key}", "t": clock + i * begin.step}
            rows.append(row | booleans(states >> 4 * i & 15) | numbers)
    rows.sort(key=lambda row: row["t"])
    return [row | {"seq": i} for i, row in enumerate(rows)]
