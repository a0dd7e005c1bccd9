"""What is kept: all that the window and the pattern can still use, and nothing else (SEM 8.4)."""

from __future__ import annotations

import numpy as np
import pytest

from situ.operators.situations.engine import Engine
from situ.operators.situations.kernels.layout import Entries, Rows
from situ.operators.situations.kernels.prune import useful
from situ.operators.situations.kernels.retain import oldest_kept_each, retain
from situ.rows.kernels.numbers import LONG_AGO, OPEN, UNBOUNDED
from situations.drawing import engine_of, kept, rows_of

pytestmark = pytest.mark.nojit


def retained(engine: Engine, rows: Rows) -> tuple[Entries, np.ndarray]:
    runs, state = engine.derive(rows, engine.nothing_known(len(rows.offset) - 1))
    kept, offset, column = retain(tuple(runs), tuple(engine.spec), state[0])
    return Entries(kept[0], kept[1], kept[2], kept[3], kept[4:], offset), column


def test_situations_that_began_before_the_window_are_gone() -> None:
    # a  #.#.#.      horizon 5, WITHIN 3: ts >= 2 stay
    # b  ######      began at 0: gone although it is open
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A before;after;during;starts;finishes B WITHIN 3")
    entries, column = retained(engine, rows_of(["#.#.#.", "######"]))
    assert list(zip(entries.symbol.tolist(), entries.ts.tolist(), entries.te.tolist(), strict=True)) == [
        (0, 2, 3),
        (0, 4, 5),
    ]
    assert column.tolist() == [1, 2]
    assert entries.offset.tolist() == [0, 2]


def test_without_a_window_everything_is_kept() -> None:
    assert oldest_kept_each(np.array([5, LONG_AGO]), UNBOUNDED).tolist() == [LONG_AGO, LONG_AGO]
    assert oldest_kept_each(np.array([5, LONG_AGO + 1]), 3).tolist() == [2, LONG_AGO]


def test_entries_are_by_slot_symbol_and_start() -> None:
    engine = engine_of("DEFINE A AS a, B AS b PATTERN A before B WITHIN 9")
    entries, _ = retained(engine, rows_of(["#.#", ".#."], ["..#", "#.."]))
    assert entries.offset.tolist() == [0, 3, 5]
    assert entries.symbol.tolist() == [0, 0, 1, 0, 1]
    assert entries.ts.tolist() == [0, 2, 1, 2, 0]


def kept_by(pattern: str, *entries: tuple[int, int, int], n: int = 2) -> list[bool]:
    """Which of the entries (symbol, ts, te) a match still to come can hold."""
    defined = ", ".join(f"{name.upper()} AS {name}" for name in "abc"[:n])
    engine = engine_of(f"DEFINE {defined} PATTERN {pattern} WITHIN 1000")
    return useful(kept(*((s, ts, te, ts) for s, ts, te in entries)), engine.spec).tolist()


def test_a_closed_situation_is_dropped_when_every_relation_needs_the_past() -> None:
    assert kept_by("A overlaps B", (0, 1, 5)) == [False]  # any b would have had to begin by 5
    assert kept_by("A before B", (0, 1, 5)) == [True]
    assert kept_by("A overlaps B", (0, 1, OPEN)) == [True]


def test_an_open_partner_keeps_it() -> None:
    # a [1---5)
    # b    [3------        contains is over, overlaps is certain: but it is reported already
    assert kept_by("A overlaps B", (0, 1, 5), (1, 3, OPEN)) == [True, True]
    assert kept_by("A contains B", (0, 1, 5), (1, 3, OPEN)) == [False, True]


def test_dropping_one_can_drop_others() -> None:
    # a [1-----6)               a overlaps b, b contains c: without a c b is of no use, nor then a
    # b    [3-----8)
    # c       [4-5)
    pattern = "A overlaps B AND B contains C"
    assert kept_by(pattern, (0, 1, 6), (1, 3, 8), n=3) == [False, False]
    assert kept_by(pattern, (0, 1, 6), (1, 3, 8), (2, 4, 5), n=3) == [False] * 3  # complete: all is over
    assert kept_by(pattern, (0, 1, 6), (1, 3, OPEN), (2, 4, 5), n=3) == [True] * 3


def test_a_ring_of_closed_situations_does_not_keep_itself() -> None:
    pattern = "A overlaps B AND B overlaps C AND A overlaps;meets C"
    assert kept_by(pattern, (0, 1, 6), (1, 3, 8), (2, 5, 10), n=3) == [False] * 3


def test_one_that_leads_to_what_may_come_stays() -> None:
    # b before c leads on, and through b so does a
    pattern = "A overlaps B AND B before C"
    assert kept_by(pattern, (0, 1, 6), (1, 3, 8), n=3) == [True, True]
    assert kept_by(pattern, (0, 1, 6), n=3) == [False]
