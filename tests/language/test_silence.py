"""SILENCE and IGNORING GAPS in text, builder and binder (SEM 12, 14)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from situ.algebra.certainty import Admissible
from situ.builder import col, events
from situ.errors import DurationError, DurationTypeError, QueryError
from situ.language import query
from situ.language.situations.ast import Gaps, Query, Symbol
from situ.language.situations.binder import bind
from situ.language.text.nodes import Duration
from situ.language.text.types import Column
from situ.operators.situations.question import conditions_of

MINUTE = 60_000_000
TIMES = (Column("t", "timestamp"), Column("x", "double"), Column("silence", "boolean"))
TICKS = (Column("t", "bigint"), Column("x", "double"))


def only(text: str) -> Symbol:
    """The one symbol of a query, which prints and parses to itself."""
    parsed = query(f"FROM t ORDER BY t DEFINE A AS {text}")
    assert query(str(parsed)) == parsed
    return parsed.symbols[0]


def test_a_silence_has_lengths_and_no_condition() -> None:
    least = Duration(10 * MINUTE, True)
    assert only("SILENCE AT LEAST 10 minutes") == Symbol("A", None, least, None, is_silence=True)
    assert only("silence between 10 minutes and 1 hour") == Symbol(
        "A", None, least, Duration(60 * MINUTE, True), is_silence=True
    )
    assert only("SILENCE BETWEEN 5 AND 9").at_most == Duration(9, False)


@pytest.mark.parametrize(
    "text",
    [
        "silence > 3 AT LEAST 5s",
        "`silence` AT LEAST 5s",
        "`silence`",
        "t.silence AT LEAST 5s",
        "(silence) BETWEEN 1s AND 5s",
        "silence AND x > 3",
        "silence BETWEEN 1 AND 2 AND x > 3",
        "NOT silence",
    ],
)
def test_a_column_may_be_called_silence(text: str) -> None:
    symbol = only(text)
    assert not symbol.is_silence
    assert symbol.condition is not None
    assert symbol.condition.columns[0].lower() == "silence"


def test_when_a_silence_can_be_used() -> None:
    found = query("FROM t DEFINE A AS SILENCE AT LEAST 5s").admissible
    assert found == (Admissible.DELAYED,)
    assert query("FROM t DEFINE A AS SILENCE BETWEEN 5s AND 9s").admissible == (Admissible.AT_END,)


def test_every_event_counts_for_a_silence() -> None:
    parsed = query("FROM t DEFINE A AS x > 1, B AS SILENCE AT LEAST 5s PATTERN A meets B")
    assert [condition.sql for condition in conditions_of(parsed)] == ["x > 1", "TRUE"]


def test_items_of_a_silence_are_those_of_its_one_event() -> None:
    parsed = query(
        "FROM t ORDER BY t DEFINE q AS SILENCE AT LEAST 5s RETURN last(q.x) AS x, count(q) AS n HAVING n = 1"
    )
    assert bind(parsed, TIMES).item_types == ("double", "bigint")


def test_gaps_are_lengths_or_events() -> None:
    assert only("x > 1 IGNORING GAPS UP TO 5 seconds").ignoring == Gaps(duration=Duration(5_000_000, True))
    assert only("x > 1 AT LEAST 3 ignoring gaps up to 7").ignoring == Gaps(duration=Duration(7, False))
    assert only("x > 1 AT LEAST 3s IGNORING GAPS UP TO 3 EVENTS").ignoring == Gaps(events=3)
    assert only("x > 1 IGNORING GAPS UP TO 1 event").ignoring == Gaps(events=1)
    assert only("ignoring > 1 IGNORING GAPS UP TO 1 event").ignoring == Gaps(events=1)


def test_gaps_have_the_units_of_the_time_column() -> None:
    with pytest.raises(DurationTypeError, match="7 has no unit, and the time column t is a timestamp"):
        bind(query("FROM t ORDER BY t DEFINE A AS x > 1 IGNORING GAPS UP TO 7"), TIMES)
    with pytest.raises(DurationTypeError, match="so 5 seconds cannot be converted"):
        bind(query("FROM t ORDER BY t DEFINE A AS x > 1 IGNORING GAPS UP TO 5s"), TICKS)
    bind(query("FROM t ORDER BY t DEFINE A AS x > 1 IGNORING GAPS UP TO 7 EVENTS"), TICKS)


def test_a_length_that_a_schema_reveals_keeps_the_gaps() -> None:
    text = "FROM t ORDER BY t DEFINE A AS `silence` BETWEEN 2 AND 9 IGNORING GAPS UP TO 3 EVENTS"
    bound = bind(query(text), (Column("t", "bigint"), Column("silence", "boolean")))
    assert bound.at_most == (9,)
    assert bound.query.symbols[0].ignoring == Gaps(events=3)


def built(made: Query, text: str) -> None:
    assert made == query(text)


def test_the_builder_says_the_same() -> None:
    begin = events("t").order_by("t")
    built(
        begin.define("A", "SILENCE", at_least="10 minutes").query(),
        "FROM t ORDER BY t DEFINE A AS SILENCE AT LEAST 10 minutes",
    )
    built(
        begin.define("A", col("silence"), at_least=timedelta(minutes=1)).query(),
        "FROM t ORDER BY t DEFINE A AS `silence` AT LEAST 1 minute",
    )
    built(
        begin.define("A", col("x") > 1, ignoring_gaps=timedelta(seconds=5)).query(),
        "FROM t ORDER BY t DEFINE A AS x > 1 IGNORING GAPS UP TO 5 seconds",
    )
    built(
        begin.define("A", col("x") > 1, at_most=9, ignoring_gaps="3 events").query(),
        "FROM t ORDER BY t DEFINE A AS x > 1 AT MOST 9 IGNORING GAPS UP TO 3 EVENTS",
    )
    with pytest.raises(QueryError, match="it is not said how long a SILENCE must last"):
        begin.define("A", "SILENCE").query()
    with pytest.raises(DurationError, match="a gap of no length is no gap"):
        begin.define("A", "x > 1", ignoring_gaps=0)


def test_explain_tells_of_both() -> None:
    text = str(query("FROM t DEFINE A AS x > 1 IGNORING GAPS UP TO 5s, B AS SILENCE AT LEAST 9s").explain())
    assert "x > 1, ignoring gaps up to 5 seconds" in text
    assert "no event comes" in text
