"""Row patterns as symbols (SEM 17): what cases and random queries do not reach."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from hypothesis import given

import situ
from conformance.random_composed import composed_examples
from conformance.random_rows import unless_too_long
from conformance.strategies import Example
from oracles.answer import batch_clock, partitions, situations_in
from oracles.events import events_of, settled
from situ.builder import events, symbols
from situ.carry.contract import Setting
from situ.errors import QueryError
from situ.operators.questions import deriving, matching
from situ.options import Options
from situ.rows.schema import spark_schema

DIP = """dip AS MATCH_RECOGNIZE (
    PATTERN (S D+ U+) WITHIN 8 DEFINE D AS p < PREV(p), U AS p > PREV(p)
)"""
TEXT = (
    f"FROM t PARTITION BY k ORDER BY t DEFINE hot AS h, {DIP} PATTERN hot while dip RETURN min(dip.p) AS low"
)
ROWS = pa.table(
    {
        "k": ["a", "b"] * 12,
        "t": [i // 2 for i in range(24)],
        "p": [value for p in (9, 8, 7, 8, 9, 9, 8, 7, 9, 9, 9, 9) for value in (p, 10 - p)],
        "h": [value for h in "011111011000" for value in (h == "1", h == "0")],
    }
)


def test_the_builder_makes_the_same_query() -> None:
    hot, dip = symbols("hot", "dip")
    built = (
        events("t")
        .partition_by("k")
        .order_by("t")
        .define(hot, "h")
        .define(dip, DIP.removeprefix("dip AS "), at_least=3)
        .pattern(hot.while_(dip))
        .returns(low=dip.min("p"))
        .query()
    )
    assert built == situ.query(TEXT.replace(") PATTERN hot", ") AT LEAST 3 PATTERN hot"))


@pytest.mark.parametrize("text", ["PATTERN (A X* Z | A)", "PATTERN (^ A X* $ | B)"])
def test_a_stream_bounds_the_rows_of_its_patterns(text: str) -> None:
    """ROW 8.1."""
    query = situ.query(f"FROM t ORDER BY t DEFINE low AS MATCH_RECOGNIZE ({text} DEFINE A AS p = 7) WITHIN 5")
    with pytest.raises(QueryError):
        query.operator(ROWS.schema)


def test_what_only_the_end_of_input_decides_is_no_situation() -> None:
    text = """FROM t WHERE k = 'a' ORDER BY t
        DEFINE low AS MATCH_RECOGNIZE (PATTERN (A X* Z | A) DEFINE A AS p = 7, Z AS p = 100)"""
    assert situ.match(ROWS, text).num_rows == 0
    assert situ.match(ROWS, text.replace("X* Z", "X Z")).num_rows == 2


@given(composed_examples(shuffled=True))
def test_situations(example: Example) -> None:
    """SEM 5.5, 17.4: of a row pattern those that are known by the end."""
    question, wanted = example.question, []

    def derived() -> None:
        clock = batch_clock(example.rows, question)
        for key, part in partitions(example.rows, question):
            events = events_of(part, question)
            about = settled(question, events)
            for name, found in situations_in(events, about).items():
                wanted.extend(
                    (*key, name, one.ts, one.te, len(one.events))
                    for one in found
                    if name in question.patterns and one.admissible <= clock
                )

    unless_too_long(derived)
    found = situ.situations(example.table, example.text, ties="last")
    rows = zip(*(column.to_pylist() for column in found.columns), strict=True)
    n = len(question.partition)
    actual = [row[: n + 4] for row in rows if row[n] in question.patterns]
    assert sorted(map(str, actual)) == sorted(map(str, wanted)), example


def test_spark_is_refused_by_name() -> None:
    asked = matching(TEXT).bind(spark_schema(ROWS.schema), Options())
    with pytest.raises(QueryError, match="dip: a symbol that is a row pattern"):
        asked.operator(ROWS.schema, Setting(evaluates=False))


@pytest.mark.parametrize("ask", [situ.why, situ.plot, situ.explain])
def test_calls_that_do_not_take_them_say_so(ask) -> None:
    with pytest.raises(QueryError, match="dip: a symbol that is a row pattern"):
        ask(ROWS, TEXT)


@pytest.mark.parametrize("of", [matching, deriving])
def test_operators_travel_as_data(of) -> None:
    operator = of(TEXT).bind(spark_schema(ROWS.schema), Options()).operator(ROWS.schema, Setting())
    again = pickle.loads(pickle.dumps(operator))
    assert again.identity == operator.identity
    assert [field.name for field in again.output] == [field.name for field in operator.output]


def test_beside_other_queries_in_one_call() -> None:
    both = situ.match(ROWS, {"dips": TEXT, "hot": "FROM t PARTITION BY k ORDER BY t DEFINE A AS h"})
    assert both["dips"].equals(situ.match(ROWS, TEXT))


def test_what_is_kept_is_shown_and_goes_with_the_window() -> None:
    query = situ.query(TEXT.replace("RETURN", "WITHIN 10 RETURN"))
    operator = query.operator(ROWS.schema, watermark=0)
    operator.push(ROWS)
    operator.advance(12)
    drawn = operator.describe()
    assert "dip" in drawn
    assert "hot" in drawn
    assert operator.n_situations > 0
    assert operator.nbytes > 0
    operator.advance(1000)
    assert operator.n_situations <= 2  # the rows of which a match may still begin, if any
    assert operator.push(ROWS.slice(0, 1)).num_rows == 0
    assert operator.late == 1


def test_explain_says_when_a_match_can_be_used() -> None:
    told = str(situ.query(TEXT).explain())
    assert "rows match S D+ U+" in told
    assert "A situation of dip ends at the first event behind the rows that match" in told
