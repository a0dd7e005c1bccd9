"""What a push operator keeps of row patterns (ROW 8.5, 8.6): counted, row by row."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, OptionError, QueryError, StateError
from situ.operators.rowpattern.push import RowPush

SCHEMA = pa.schema(
    [("k", pa.string()), ("t", pa.int64()), ("a", pa.bool_()), ("b", pa.bool_()), ("x", pa.int64())]
)


def text(
    pattern: str, within: int | None = 10, measures: str = "count(*) AS n", more: str = "", define: str = ""
) -> str:
    window = "" if within is None else f"WITHIN {within} "
    conditions = define or ", ".join(f"{name} AS {name.lower()}" for name in "AB" if name in pattern)
    return (
        f"FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY t MEASURES {measures} {more} "
        f"PATTERN ({pattern}) {window}DEFINE {conditions})"
    )


def made(query: str, **options: Any) -> RowPush:
    operator = situ.query(query).operator(SCHEMA, **options)
    assert isinstance(operator, RowPush)
    return operator


def event(t: int, holds: str, k: str = "p", x: int = 0) -> dict[str, Any]:
    return {"k": k, "t": t, "a": "A" in holds, "b": "B" in holds, "x": x}


def kept(operator: RowPush, *events: dict[str, Any]) -> list[int]:
    """How many rows are kept after each event."""
    counts = []
    for one in events:
        operator.push(one)
        counts.append(operator.n_situations)
    return counts


def test_rows_are_kept_from_the_first_undecided_start_on() -> None:
    rows = [event(0, ""), event(1, "A"), event(2, "B"), event(3, "B"), event(4, ""), event(5, "B")]
    assert kept(made(text("A B+")), *rows) == [0, 1, 2, 3, 0, 0]


def test_the_window_bounds_what_is_kept() -> None:
    operator = made(text("A B+"))
    counts = kept(operator, event(0, "A"), *(event(t, "B") for t in range(1, 100)))
    assert max(counts) == 10
    assert counts[-1] == 0


def test_a_pattern_of_so_many_rows_needs_no_window() -> None:
    operator = made(text("A A{1,3} B", within=None))
    counts = kept(operator, *(event(t, "A") for t in range(50)))
    assert max(counts) == 4


def test_rows_that_are_looked_back_at_are_kept() -> None:
    define = "A AS x > PREV(x, 2), B AS b"
    counts = kept(made(text("A B", define=define)), *(event(t, "", x=-t) for t in range(9)))
    assert counts == [1, *[2] * 8]


def test_rows_that_NEXT_waits_for_are_kept() -> None:
    define = "A AS NEXT(x, 2) > x"
    operator = made(text("A", define=define, measures="x AS x"))
    assert kept(operator, *(event(t, "", x=-t) for t in range(6))) == [1, 2, 2, 2, 2, 2]


def test_it_does_not_grow_with_partial_candidates() -> None:
    operator = made(text("(A | B)* (A | B)* (A B | B A)* A{5}"))
    assert max(kept(operator, *(event(t, "AB") for t in range(60)))) <= 11


def test_rows_that_satisfy_nothing_are_not_kept_by_strategies_that_skip_them() -> None:
    for strategy in ("NEXT", "ANY"):
        operator = made(text("A B", more=f"STRATEGY SKIP TILL {strategy}", within=100))
        counts = kept(operator, event(0, "A"), *(event(t, "") for t in range(1, 50)))
        assert counts == [1] * 50


def test_silent_partitions_are_settled_and_forgotten_by_the_watermark() -> None:
    operator = made(text("A B+"), watermark=0)
    operator.push(event(0, "A"))
    operator.push(event(3, "B"))
    operator.push(event(9, "", k="q"))
    assert operator.push(event(11, "", k="q")).num_rows == 0  # W is 9: a row of time 10 may still come
    found = operator.push(event(12, "", k="q"))  # W is 11
    assert found.to_pylist() == [{"k": "p", "n": 2}]
    operator.advance(100)
    assert operator.n_partitions == 0


@pytest.mark.parametrize("pattern", ["^ A B", "A B"])
def test_that_a_partition_has_begun_is_remembered_where_it_matters(pattern: str) -> None:
    operator = made(text(pattern), watermark=0)
    operator.push(event(0, ""))
    operator.advance(100)
    operator.push(event(200, "A"))
    operator.push(event(201, "B"))
    assert operator.advance(300).num_rows == (0 if "^" in pattern else 1)


def test_match_numbers_go_on_after_silence_unless_it_is_forgotten() -> None:
    for options, numbers in (({}, [1, 2]), ({"forget_after": 50}, [1, 1])):
        operator = made(text("A B", measures="MATCH_NUMBER() AS n"), watermark=0, **options)
        found = []
        for t in (0, 200):
            operator.push(event(t, "A"))
            operator.push(event(t + 1, "B"))
            found += operator.advance(t + 100).to_pylist()
        assert [row["n"] for row in found] == numbers


def test_only_columns_that_are_read_are_kept() -> None:
    plain, reading = made(text("A B+")), made(text("A B+", measures="LAST(x) AS x"))
    for operator in (plain, reading):
        kept(operator, event(0, "A"), *(event(t, "B") for t in range(1, 9)))
    assert reading.nbytes - plain.nbytes >= 9 * 8
    assert "x" not in {name for name in plain.needs.attribute_names}


def test_a_row_at_or_before_what_is_known_is_late() -> None:
    operator = made(text("A B"), late_rows=True)
    kept(operator, event(5, "A"), event(5, "B"), event(4, "B"), event(6, "B"))
    assert operator.late == 2
    assert operator.late_rows.num_rows == 2


def test_the_end_of_the_input_reports_what_it_makes_certain() -> None:
    operator = made(text("A B+"), match_time=True)
    kept(operator, event(0, "A"), event(3, "B"))
    assert operator.finish().to_pylist() == [{"k": "p", "n": 2, "match_time": 10}]
    with pytest.raises(DataError, match="the input has ended"):
        operator.push(event(11, "A"))


def test_timeouts_are_handed_out_once() -> None:
    operator = made(text("A B"), timeouts=True)
    kept(operator, event(0, "A"), event(20, ""), event(21, "A"), event(40, "B"))
    rows = [
        (row["k"], row["start_time"], row["match_time"], row["furthest"])
        for row in operator.timeouts().to_pylist()
    ]
    assert rows == [("p", 0, 10, "A"), ("p", 21, 31, "A")]
    assert operator.timeouts().num_rows == 0
    with pytest.raises(OptionError, match="timeouts=True"):
        made(text("A B")).timeouts()


def test_state_of_another_query_is_refused() -> None:
    operator = made(text("A B"))
    operator.push(event(0, "A"))
    with pytest.raises(StateError):
        made(text("A B+"), state=operator.state())


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (text("A B+", within=None), "a stream needs a window"),
        (text("A B $"), "a stream has no last row"),
        (text("A", more="ALL ROWS PER MATCH WITH UNMATCHED ROWS"), "WITH UNMATCHED ROWS is for whole tables"),
        (
            text("A B").replace("ORDER BY t", "ORDER BY x DESC, t").replace("WITHIN 10", ""),
            "needs a time column",
        ),
        (
            text("A B", more="INCREMENTAL MATCH", define="A AS a, B AS NEXT(b)"),
            "INCREMENTAL MATCH with conditions",
        ),
    ],
)
def test_what_no_stream_can_answer_is_refused(query: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        made(query)
