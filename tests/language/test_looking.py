"""`prev` in text (SEM 15): where it may stand, what it may be called with, what is told where it may not."""

from __future__ import annotations

import pyarrow as pa
import pytest

import situ
from situ.builder import col, events, prev
from situ.errors import AggregateInConditionError, ForbiddenExpressionError, QueryError, QuerySyntaxError
from situ.language.text.looking import looks_back, taken_apart
from situ.language.text.nodes import Expression


def defined(condition: str) -> situ.Query:
    return situ.query(f"FROM e PARTITION BY k ORDER BY t DEFINE A AS {condition}")


@pytest.mark.parametrize(
    "condition",
    [
        "x > prev(x)",
        "x - PREV(abs(x) + 1, 12) > 1 AND prev(s) = 'prev(x)'",
        "prev(b) BETWEEN 3 AND 5",
        "prev > 3 AND prev(e.x) > e.prev",
        "prev(CASE WHEN x IN (1, 2) THEN y END, 1000) IS NULL AT LEAST 3",
    ],
)
def test_the_canonical_text_says_the_same(condition: str) -> None:
    query = defined(condition)
    assert situ.query(str(query)) == query
    assert query.symbols[0].condition is not None
    assert looks_back(query.symbols[0].condition)


def test_a_column_of_that_name_is_one() -> None:
    query = defined("prev > 3 AND s = 'PREV(x)'")
    assert query.symbols[0].condition is not None
    assert not looks_back(query.symbols[0].condition)


def test_taken_apart() -> None:
    found: list[tuple[str, int]] = []

    def name(inner: Expression, n: int) -> str:
        found.append((inner.sql, n))
        return f"p{len(found)}"

    (symbol,) = defined("x > prev(y) OR abs(prev(greatest(x, `a b`), 3)) IN (1, prev(x, 1))").symbols
    assert symbol.condition is not None
    rest = taken_apart(symbol.condition, name)
    assert rest.sql == "x > p1 OR ABS(p2) IN (1, p3)"
    assert rest.columns == ("x", "p1", "p2", "p3")
    assert found == [("y", 1), ("GREATEST(x, `a b`)", 3), ("x", 1)]


@pytest.mark.parametrize("n", ["0", "-1", "1.5", "1e2", "y", "1001", "1 + 1", "'2'", "2L", "9" * 5000, ""])
def test_how_far_back_is_a_whole_number(n: str) -> None:
    with pytest.raises(QueryError) as refused:
        defined(f"x > prev(x, {n})")
    assert isinstance(refused.value, QuerySyntaxError)
    assert "whole number from 1 to 1,000" in str(refused.value)
    assert "prev(speed, 3)" in str(refused.value)


def test_a_parameter_says_how_far() -> None:
    text = "FROM e ORDER BY t DEFINE A AS x > prev(x, :n)"
    assert situ.query(text, n=3) == situ.query(text.replace(":n", "3"))
    with pytest.raises(QueryError, match="whole number"):
        situ.query(text, n=1.5)


@pytest.mark.parametrize(
    ("condition", "error", "said"),
    [
        ("x > prev()", QuerySyntaxError, "prev of nothing"),
        ("x > prev(x, 1, 2)", QuerySyntaxError, "3 arguments"),
        ("x > prev(prev(x))", ForbiddenExpressionError, r"inside of prev(.|\n)*prev\(speed, 2\)"),
        ("x > prev(avg(x))", AggregateInConditionError, "aggregate avg"),
        ("x > prev(rand())", ForbiddenExpressionError, "rand"),
        ("x > lag(x)", ForbiddenExpressionError, r"lag(.|\n)*write prev\(x\)"),
        ("x > lag(x) OVER (ORDER BY t)", ForbiddenExpressionError, r"write prev\(x\)"),
    ],
)
def test_what_is_no_look_back(condition: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        defined(condition)


@pytest.mark.parametrize(
    "text",
    [
        "FROM e WHERE prev(x) > 1 ORDER BY t DEFINE A AS x > 1",
        "FROM e ORDER BY t DEFINE A AS x > 1 RETURN prev(A.x) AS p",
        "FROM e ORDER BY t DEFINE A AS x > 1 RETURN prev(first(A.x)) AS p",
        "FROM e ORDER BY t DEFINE A AS x > 1 HAVING prev(first(A.x)) > 1",
        "FROM INTERVALS e STARTING a ENDING b DEFINE A AS x > prev(x)",
    ],
)
def test_only_conditions_over_events_look_back(text: str) -> None:
    with pytest.raises(ForbiddenExpressionError, match="only a condition of DEFINE over events") as refused:
        situ.query(text)
    assert refused.value.span is not None


def test_without_text() -> None:
    built = events("e").order_by("t").define("A", (col("x") > prev(col("x"))) & (prev(col("y") + 1, 2) < 3))
    assert built.query() == situ.query("FROM e ORDER BY t DEFINE A AS x > prev(x) AND prev(y + 1, 2) < 3")
    with pytest.raises(ForbiddenExpressionError, match="WHERE calls prev"):
        events("e").order_by("t").where(prev(col("x")) > 1).define("A", "x > 1").query()


def test_names_and_types_inside_are_checked() -> None:
    table = pa.table({"t": [1], "x": [1]})
    with pytest.raises(situ.SituError, match='no column "speed"'):
        situ.match(table, situ.query("FROM e ORDER BY t DEFINE A AS x > prev(speed)"))
    with pytest.raises(situ.SituError, match="must be true or false"):
        situ.match(table, situ.query("FROM e ORDER BY t DEFINE A AS prev(x)"))


@pytest.mark.parametrize(("n", "said"), [("", "the instant before"), (", 12", "up to 12 instants back")])
def test_explain_tells_what_is_kept(n: str, said: str) -> None:
    told = str(situ.query(f"FROM e ORDER BY t DEFINE A AS x > prev(x{n}) AND prev(y) > 1").explain())
    assert f"Conditions look at {said} (prev)" in " ".join(told.split())
    assert "prev" not in str(situ.query("FROM e ORDER BY t DEFINE A AS x > 1").explain())
