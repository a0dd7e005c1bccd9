"""Results of small steps are slices of one table: as if each had been made for itself."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.operators.situations import sheets
from situ.operators.situations.push import SituationsPush as Operator
from situ.operators.situations.sheets import Sheets
from situations.drawing import SCHEMA, events

PATTERN = "DEFINE A AS a, B AS b, C AS c PATTERN A before;overlaps;meets;contains B AND B before;during C"
RETURNS = ["", "RETURN B.te AS b, A.ts AS a", "RETURN A.ts AS x, A.ts AS y, C.te AS z"]
timelines = st.lists(st.text("#.", min_size=30, max_size=30), min_size=3, max_size=3)


def operator_of(returned: str, emit: str = "EARLY") -> Operator:
    operator = situ.query(f"FROM e ORDER BY t {PATTERN} WITHIN 20 {returned} EMIT {emit}").operator(SCHEMA)
    assert operator.operator.results._sheets is not None
    return operator


def pushed(operator: Operator, table: pa.Table, step: int) -> list[pa.Table]:
    return [operator.push(batch) for batch in table.to_batches(max_chunksize=step)]


@pytest.mark.parametrize("size", [8, 16, 64])
@given(lines=timelines, returned=st.sampled_from(RETURNS), step=st.integers(1, 12))
def test_results_are_what_columns_of_their_own_hold(
    size: int, lines: list[str], returned: str, step: int
) -> None:
    table = events(*(f"{name} {line}" for name, line in zip("abc", lines, strict=True)))
    own, plain = operator_of(returned), operator_of(returned)
    assert own.operator.results._sheets is not None
    own.operator.results._sheets.size = size
    plain.operator.results._sheets = None
    found, expected = pushed(own, table, step), pushed(plain, table, step)
    for one, other in zip(found, expected, strict=True):  # all are held to the end: none may change
        one.validate(full=True)
        assert one.equals(other)
        assert one.schema.equals(other.schema)
        assert [column.null_count for column in one.columns] == [
            column.null_count for column in other.columns
        ]


def test_a_sheet_is_bounded_whatever_the_number_of_symbols() -> None:
    for n in (1, 3, 64):
        room = Sheets(pa.schema([]), [], n)
        assert room.size % 8 == 0
        assert room.size >= 8
        assert 8 * room.size * (2 * n + 1) <= sheets._BYTES


def test_a_small_result_holds_on_to_little() -> None:
    #                                             0123456789
    found = operator_of("").push(events("a ##........", "b ..##......", "c .....##...").to_batches()[0])
    assert found.num_rows == 1
    assert found.get_total_buffer_size() <= 16 * 8 * (7 * 8 + 3 / 8)
    assert pickle.loads(pickle.dumps(found)).equals(found)
    assert len(pickle.dumps(found)) < 10_000


@pytest.mark.parametrize(
    ("clauses", "options"),
    [
        ("RETURN A.ts + 1 AS a", {}),
        ("RETURN A.ts AS a, count(B.x) AS n", {}),
        ("RETURN A.duration AS d", {}),
        ("", {"match_id": True}),
    ],
)
def test_other_results_have_columns_of_their_own(clauses: str, options: dict[str, Any]) -> None:
    query = situ.query(f"FROM e ORDER BY t {PATTERN} WITHIN 20 {clauses}")
    operator = query.operator(SCHEMA, **options)
    assert operator.operator.results._sheets is None
    #                           0123456789
    found = operator.push(events("a ##........", "b ..##......", "c .....##..."))
    assert found.num_rows == 1


def test_partitions_and_converted_times_have_columns_of_their_own() -> None:
    parts = situ.query(f"FROM e PARTITION BY k ORDER BY t {PATTERN} WITHIN 20").operator(SCHEMA)
    assert parts.operator.results._sheets is None
    narrow = SCHEMA.set(1, pa.field("t", pa.int32()))
    assert (
        situ.query(f"FROM e ORDER BY t {PATTERN} WITHIN 20").operator(narrow).operator.results._sheets is None
    )
