"""Mistakes with distances, NO groups, silences, gaps, HAVING and parameters: each is told what to type."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import situ
from situ.errors import ParameterError, QueryError

AB = "FROM t DEFINE A AS a, B AS b PATTERN"
ABC = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN"
A = "FROM t DEFINE A AS"

# text, error, what the carets stand under, a part of the message or hint
MISTAKES = [
    (f"{ABC} A before B AND NO X while B", "UnknownSymbolError", "X", "the symbols are A, B, C"),
    (f"{AB} A before B AND NO A during B", "AbsenceError", "NO A during B", "define A a second time"),
    (f"{ABC} A before B AND NO C during B RETURN C.ts AS x", "AbsenceError", "C", "a match has no C"),
    (f"{ABC} A before B AND NO C during B HAVING count(C) > 1", "AbsenceError", "C", "a match has no C"),
    (f"{AB} NO B after A", "AbsenceError", "NO B after A", "NO B after A BY AT MOST 5 minutes"),
    (f"{ABC} A before B AND NOT C during B", "QuerySyntaxError", "NOT", "write NO: NO C during B"),
    (f"{ABC} A before B AND NOT (C during B)", "QuerySyntaxError", "NOT", "write NO: NO C during B"),
    (f"{ABC} A before B AND WITHOUT C during B", "QuerySyntaxError", "WITHOUT", "write NO: NO C during B"),
    (f"{ABC} A before B AND C not during B", "QuerySyntaxError", "not", "write NO: NO C during B"),
    (f"{ABC} (A before B) OR (A before C)", "QuerySyntaxError", "OR", "several queries in one pass"),
    (f"{AB} A before B BY AT MOSST 5 minutes", "QuerySyntaxError", "MOSST", 'did you mean "MOST"?'),
    (f"{AB} A before B BY AT 5 minutes", "QuerySyntaxError", "5", "BY AT MOST 5 minutes"),
    (f"{AB} A before B HAVNG x > 3", "UnknownRelationError", "HAVNG", 'did you mean "HAVING"?'),
    (f"{AB} A whlie B", "UnknownRelationError", "whlie", 'did you mean "while"?'),
    (f"{AB} A appart from B", "QuerySyntaxError", "from", "did you mean `apart from`?"),
    (f"{A} SILENCE 5 minutes", "QuerySyntaxError", "5", "write SILENCE AT LEAST 10 minutes"),
    (f"{A} SILENCE FOR 5 minutes", "QuerySyntaxError", "FOR", "write SILENCE AT LEAST 10 minutes"),
    (f"{A} SILENCE OF x AT LEAST 5 minutes", "QuerySyntaxError", "OF", "WHERE and PARTITION BY"),
    (f"{A} a IGNORE GAPS UP TO 5 minutes", "QuerySyntaxError", "IGNORE", "expected IGNORING before `GAPS`"),
    (f"{A} a IGNORING GAP UP TO 5 minutes", "QuerySyntaxError", "GAP", "expected GAPS after `IGNORING`"),
    (
        f"{A} a IGNORING GAPS UP TO 5 minutes, q AS SILENCE AT LEAST 3 minutes PATTERN NO q during A",
        "AbsenceError",
        "NO q during A",
        "leave IGNORING GAPS out of A",
    ),
    (f"{A} x > ?", "QuerySyntaxError", "?", "x > :limit"),
]


@pytest.mark.parametrize(("text", "kind", "marked", "said"), MISTAKES)
def test_a_mistake_is_told_what_to_type(text: str, kind: str, marked: str, said: str) -> None:
    with pytest.raises(QueryError) as raised:
        situ.query(text)
    error = raised.value
    assert type(error).__name__ == kind
    assert error.span is not None
    assert text[error.span.start : error.span.end] == marked
    assert said in str(error)
    assert error.hint


def test_words_for_no_are_symbols_where_they_are_defined() -> None:
    text = "FROM t DEFINE without AS a, B AS b PATTERN without before B"
    assert [symbol.name for symbol in situ.query(text).symbols] == ["without", "B"]
    assert situ.query(f"{A} silence > 3").symbols[0].condition is not None


def test_a_misspelt_silence() -> None:
    events = pa.table({"t": [1], "x": [1]})
    with pytest.raises(QueryError, match='did you mean "SILENCE"'):
        situ.match(events, "FROM e ORDER BY t DEFINE q AS SILENSE AT LEAST 5")


LEAST = f"{A} a AT LEAST :least"


@pytest.mark.parametrize("value", ["5 minutes", None, -5, 1.5, datetime.timedelta(seconds=-1)])
def test_a_length_that_is_none(value: Any) -> None:
    with pytest.raises(QueryError) as raised:
        situ.query(LEAST, least=value)
    assert "the value of :least" in str(raised.value)
    assert "give it a timedelta, or a whole number" in str(raised.value.hint)


@pytest.mark.parametrize("earlier", [-3, datetime.timedelta(seconds=-3)])
def test_a_distance_may_be_negative(earlier: Any) -> None:
    later, least = -earlier, f"{AB} B.ts >= A.te + :d"
    assert situ.query(least, d=earlier) == situ.query(f"{AB} B.ts >= A.te - :d", d=later)
    between = f"{AB} B.ts - A.te BETWEEN :least AND :most"
    both = situ.query(between, least=earlier, most=later)
    assert both == situ.query(f"{AB} B.ts >= A.te - :d AND B.ts <= A.te + :d", d=later)


@pytest.mark.parametrize("text", [f"{A} t.:name > 3", f"{A} x > 3 AND t . :name"])
def test_a_value_in_place_of_a_name(text: str) -> None:
    with pytest.raises(ParameterError, match="a name is expected here") as raised:
        situ.query(text, name="speed")
    assert raised.value.span is not None
    assert text[raised.value.span.start : raised.value.span.end] == ":name"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.int64(3), "3"),
        (np.float32(1.5), "1.5E0"),
        (np.bool_(True), "TRUE"),
        (np.str_("x"), "'x'"),
        (np.timedelta64(3, "s"), "INTERVAL '3' SECOND"),
        (np.timedelta64(3_000_000_000, "ns"), "INTERVAL '3' SECOND"),
        (np.datetime64("2026-01-01T00:00:00", "ns"), "TIMESTAMP_NTZ '2026-01-01 00:00:00'"),
        (pd.Timestamp("2026-01-01"), "TIMESTAMP_NTZ '2026-01-01 00:00:00'"),
        (pd.Timedelta("3s"), "INTERVAL '3' SECOND"),
    ],
)
def test_values_of_numpy_and_pandas(value: Any, written: str) -> None:
    assert situ.query(f"{A} x > :it", it=value) == situ.query(f"{A} x > {written}")


@pytest.mark.parametrize("value", [pd.NaT, pd.NA, np.datetime64("NaT"), np.array([1, 2]), np.float64("nan")])
def test_values_that_are_none(value: Any) -> None:
    with pytest.raises(ParameterError, match=":it"):
        situ.query(f"{A} x > :it", it=value)


def test_what_explain_says_of_gaps() -> None:
    said = " ".join(str(situ.query(f"{A} a IGNORING GAPS UP TO 5 seconds").explain()).split())
    assert "When A pauses it is not known at once whether that is a gap or the end" in said


def test_no_is_a_keyword_in_a_notebook() -> None:
    html = situ.query(f"{ABC} A before B AND NO C while B")._repr_html_()
    assert ">NO</span>" in html
    assert ">no</span>" not in situ.query("FROM t DEFINE no AS a, B AS b PATTERN no before B")._repr_html_()


def test_explain_has_no_empty_table() -> None:
    events = pa.table({"t": [1, 2], "a": [True, False]})
    assert "let through" not in str(situ.explain(events, "FROM e ORDER BY t DEFINE A AS a"))
