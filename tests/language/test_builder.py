"""The builder makes the very queries that text makes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from language.test_grammar import ISEQ, LISTING_1, PIESTREAM
from situ import errors
from situ.language import query
from situ.language.building.builder import call, col, events, intervals, no, sql, symbols
from situ.language.building.symbols import SymbolName
from situ.language.building.values import Value

A, B, C = symbols("A", "B", "C")
AB_DEFINED = events("t").define(A, "x").define(B, "y")


def test_listing_1() -> None:
    built = (
        events("CarSensors")
        .order_by("ts")
        .partition_by("car_id")
        .define(A, col("accel") > 8, at_least="5 seconds")
        .define(B, col("speed") > 70, at_least="4s", at_most=datetime.timedelta(seconds=30))
        .define(C, "accel < -9", at_least="3s")
        .pattern(
            A.meets(B) | A.overlaps(B) | A.starts(B) | A.during(B),
            C.during(B) | B.finished_by(C) | B.overlaps(C) | B.meets(C),
            A.before(C),
        )
        .within("5 minutes")
        .returns(id=B.first("car_id"), avg_speed=B.avg("speed"))
        .query()
    )
    assert built == query(LISTING_1)


def test_piestream() -> None:
    a, s, d, c = symbols("a", "s", "d", "c")
    sideways = col("lateralAccel")
    built = (
        events("Carsensors")
        .order_by("timestamp")
        .define(a, col("accel") > 8)
        .define(s, col("speed") > 70)
        .define(d, col("accel") < -9)
        .define(c, "(lateralAccel > 0.5) OR (lateralAccel < -0.5)")
        .pattern("a meets; overlaps; starts; during s", "a meets; overlaps; finished_by; contains c")
        .pattern("s contains; overlaps; finished_by c AND c overlaps; meets; before d")
        .pattern(s.contains(d) | s.finished_by(d) | s.overlaps(d) | s.meets(d), a.before(d))
        .within("5 minutes")
        .returns(startTime=s.first("timestamp"), avgSpeed=s.avg("speed"))
        .query()
    )
    assert built == query(PIESTREAM)
    assert ((sideways > 0.5) | (sideways < -0.5)).sql == "lateralAccel > 0.5 OR lateralAccel < -0.5"


def test_all_values() -> None:
    built = (
        events("e")
        .order_by("t")
        .define(A, col("x") > 8)
        .returns(m=A.median("x"), p=A.percentile("ts", 0.95) * 2, all=A.collect_list("x"))
        .query()
    )
    text = "median(A.x) AS m, percentile(A.`ts`, .95) * 2 AS p, array_agg(A.x) AS all"
    assert built == query(f"FROM e ORDER BY t DEFINE A AS x > 8 RETURN {text}")


def test_iseq() -> None:
    d = SymbolName("D")
    built = (
        intervals("trace", symbol_by="kind", starting="ts", ending="te")
        .pattern((A.ts < B.ts) & (B.ts < C.ts), C.ts < d.ts)
        .within(30)
        .query()
    )
    assert built == query(ISEQ)


def test_everything_else() -> None:
    built = (
        intervals("t", starting="s", ending="e", id_by="i")
        .where(col("valid"))
        .partition_by("p", "q")
        .define("A", col("kind") == "HIGH", at_most=5)
        .define("my b", sql("level > 3") | col("flag"))
        .pattern("A overlaps;met-by `my b`")
        .emit("FINAL")
        .returns(level=A.value("level"), n=A.count(), length=A.duration, gap=SymbolName("my b").ts - A.te)
        .query()
    )
    assert built == query(
        "FROM INTERVALS t STARTING s ENDING e ID BY i WHERE valid PARTITION BY p, q "
        "DEFINE A AS kind = 'HIGH' AT MOST 5, `my b` AS (level > 3) OR flag PATTERN A overlaps;met-by `my b` "
        "EMIT FINAL RETURN A.level AS level, count(A) AS n, A.duration AS length, `my b`.ts - A.te AS gap"
    )


def test_a_builder_is_not_changed_by_its_methods() -> None:
    begun = events("t").define("A", "a")
    begun.within("5s")
    assert begun.query() == query("FROM t DEFINE A AS a")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((col("a") > 1) & (col("b") < 2), "a > 1 AND b < 2"),
        ((col("a") > 1) & ((col("b") < 2) | col("c")), "a > 1 AND (b < 2 OR c)"),
        (~((col("a") > 1) | col("b")), "NOT (a > 1 OR b)"),
        (~col("a").is_null(), "NOT a IS NULL"),
        ((col("a") + 1) * 2 > col("b") - (col("c") - 3), "(a + 1) * 2 > b - (c - 3)"),
        (-(col("a") + 1) < -5, "-(a + 1) < -5"),
        (col("a") - -5 > 0, "a - -5 > 0"),
        (1 - col("a") / 2 % 3 >= 10 * col("b"), "1 - a / 2 % 3 >= 10 * b"),
        (col("a") != "it's", r"a <> 'it\'s'"),
        (col("a") == "back\\slash", r"a = 'back\\slash'"),
        ((col("a") > 1) == True, "(a > 1) = TRUE"),  # noqa: E712
        (col("a").isin("x", 2, None), "a IN ('x', 2, NULL)"),
        (col("a").between(1, col("b") + 1), "a BETWEEN 1 AND b + 1"),
        (col("a").like("x%") | col("b").rlike("^y"), "a LIKE 'x%' OR b RLIKE '^y'"),
        (col("max speed").is_not_null(), "`max speed` IS NOT NULL"),
        (col("xs")[0] > Decimal("1.5"), "xs[0] > 1.5"),
        (call("abs", col("a") - 1) > 1.5, "ABS(a - 1) > 1.5"),
        (col("d") > datetime.date(2026, 1, 2), "d > DATE '2026-01-02'"),
        (col("d") <= datetime.datetime(2026, 1, 2, 3, 4), "d <= TIMESTAMP '2026-01-02 03:04:00'"),
        (sql("a OR b") & col("c"), "(a OR b) AND c"),
    ],
)
def test_python_expressions(value: Value, expected: str) -> None:
    assert value.sql == expected
    built = events("t").define("A", value).query()
    assert built == query(f"FROM t DEFINE A AS {expected}")
    assert built.symbols[0].condition is not None
    assert built.symbols[0].condition.sql == expected


SPECIAL_WORDS = sorted(
    {
        *(word for word in Spark.Tokenizer.KEYWORDS if word.isidentifier()),
        *SparkParser.FUNCTIONS,
        *SparkParser.FUNCTION_PARSERS,
        *SparkParser.NO_PAREN_FUNCTION_PARSERS,
        *(token.name for token in TokenType),
    }
)


@pytest.mark.parametrize(
    "position", ["{} = 1", "1 < {}", "{} + 1 > {}", "NOT {}", "f({}, 1)", "{} IS NULL", "({})"]
)
def test_words_that_mean_something_to_sqlglot_can_be_columns(position: str) -> None:
    for word in SPECIAL_WORDS:
        built = events("t").define("A", position.replace("{}", col(word).sql)).query()
        assert built.symbols[0].condition is not None
        assert built.symbols[0].condition.columns == (word,), word


@given(st.text(min_size=1), st.text())
def test_any_name_and_any_string_can_be_used(name: str, text: str) -> None:
    built = events(name).define(name, col(name) == text).returns(**{name: SymbolName(name).max(name)}).query()
    assert built.symbols[0].condition is not None
    assert built.symbols[0].condition.columns == (name,)
    assert query(str(built)) == built


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: col("a") > 1 and col("b"), errors.QueryError),
        (lambda: A.ts < B.ts < C.ts, errors.QueryError),
        (lambda: col("a") > object(), errors.QueryError),
        (lambda: col("a") > float("nan"), errors.QueryError),
        (lambda: (A.meets(B) | A.before(B)) & A.ts.__lt__(B.ts), errors.QueryError),
        (lambda: events("t").define("A", 5), errors.QueryError),
        (lambda: events("t").define("A", "x > 1 AT LEAST 5s").query(), errors.DurationError),
        (lambda: events("t").define("A", "x > 1, B AS y").query(), errors.QuerySyntaxError),
        (lambda: events("t").define("A", "x PATTERN A before B").query(), errors.QuerySyntaxError),
        (lambda: events("t").define("A", "").query(), errors.QuerySyntaxError),
        (lambda: events("t").define("A", "x", at_least="5 parsecs"), errors.UnknownDurationUnitError),
        (lambda: events("t").define("A", "x", at_least="6s", at_most="5s"), errors.DurationBoundsError),
        (lambda: events("t").define("A", "x", at_least="-5s"), errors.DurationError),
        (lambda: events("t").define("A", "A.te > 5").query(), errors.EndpointInConditionError),
        (lambda: events("t").define("A", "x").define("A", "y").query(), errors.DuplicateSymbolError),
        (lambda: AB_DEFINED.pattern("A metts B").query(), errors.UnknownRelationError),
        (lambda: AB_DEFINED.pattern(A.meets(B) | C.meets(B)).query(), errors.AlternativesError),
        (lambda: events("t").define(A, "x").pattern("").query(), errors.QuerySyntaxError),
        (lambda: events("t").emit("LATE"), errors.QuerySyntaxError),  # type: ignore[arg-type]
        (lambda: events("t").query(), errors.QuerySyntaxError),
        (lambda: events("").define(A, "x").query(), errors.QueryError),
        (lambda: intervals("t", starting="s", ending="e", symbol_by="k").define(A, "x").query(),
         errors.IntervalQueryError),
        (lambda: events("t").define(A, "x", at_least=6).within(5).query(), errors.WindowTooShortError),
    ],
)  # fmt: skip
def test_mistakes(make: Any, kind: type[errors.QueryError]) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert "{" not in str(caught.value)


D = SymbolName("D")

MINUTES = datetime.timedelta(minutes=5)


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (A.before(B).by(at_most="5 minutes"), "A before B BY AT MOST 5 minutes"),
        (A.before(B).by(at_least=MINUTES), "A before B BY AT LEAST 5 minutes"),
        ((A.before(B) | A.meets(B)).by(at_least=1, at_most=5), "A before;meets B BY BETWEEN 1 AND 5"),
        (A.while_(B).by(at_least="5s"), "A while B BY AT LEAST 5s"),
        (A.while_(B), "A while B"),
        (A.intersects(B), "A intersects B"),
        (A.inside(B) | A.before(B), "A inside;before B"),
        (A.covers(B), "A covers B"),
        (A.apart_from(B), "A apart from B"),
        (A.te + "5 minutes" < B.te, "A.te + 5 minutes < B.te"),
        (B.ts <= A.te + MINUTES, "B.ts <= A.te + 5 minutes"),
        (B.ts - 5 >= A.te, "B.ts - 5 >= A.te"),
        (B.ts + -5 >= A.te, "B.ts - 5 >= A.te"),
        (B.ts - A.te <= 10, "B.ts - A.te <= 10"),
        (B.ts - A.te == "10s", "B.ts - A.te = 10s"),
        (B.ts - A.te - 3 > 10, "B.ts - A.te - 3 > 10"),
        ((B.ts - A.te).between("1s", "5s"), "B.ts - A.te BETWEEN 1s AND 5s"),
        (B.ts.between(A.te + 1, A.te + 5), "B.ts BETWEEN A.te + 1 AND A.te + 5"),
        (A.before(B) & no(A.before(D), D.during(B)), "A before B AND NO (A before D AND D during B)"),
        (no(D.during(A) | D.starts(A)) & A.meets(B), "NO D during;starts A AND A meets B"),
        (no(D.before(A).by(at_most=5)) & A.meets(B), "NO D before A BY AT MOST 5 AND A meets B"),
        (no(D.ts < A.te + 5, D.ts > A.te) & A.meets(B), "NO (D.ts < A.te + 5 AND D.ts > A.te) AND A meets B"),
    ],
)  # fmt: skip
def test_distances_words_and_absences(constraint: Any, text: str) -> None:
    begun = AB_DEFINED if "NO" not in text else AB_DEFINED.define(D, "w")
    defined = "DEFINE A AS x, B AS y" + (", D AS w" if "NO" in text else "")
    built = begun.pattern(constraint).query()
    assert built == query(f"FROM t {defined} PATTERN {text}")
    assert query(str(built)) == built


def test_moments_are_values_too() -> None:
    built = AB_DEFINED.pattern(A.before(B)).returns(gap=B.ts - A.te, later=A.te + "5 minutes", n=A.ts - 3)
    texts = [item.expression.sql for item in built.query().returns]
    assert texts[0] == "_item_0 - _item_1"
    assert texts[1].startswith("_item_1 + INTERVAL")
    assert texts[2] == "_item_2 - 3"
    assert (A.ts < 5).sql == "A.ts < 5"
    assert (A.ts.between(1, 2)).sql == "A.ts BETWEEN 1 AND 2"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: (A.ts < B.ts).by(at_most=5), "belongs to relations between two symbols"),
        (lambda: no(C.during(B)).by(at_most=5), "belongs to relations"),
        (lambda: A.before(B).by(), "at_least, at_most or both"),
        (lambda: no(), "what is absent"),
        (lambda: A.te + "5 parsecs", "not a unit"),
        (lambda: A.before(B).by(at_most=True), "a bool is not a duration"),
        (lambda: AB_DEFINED.pattern(A.contains(B).by(at_most=5)).query(), "bound its length"),
    ],
)
def test_wrong_distances(make: Any, said: str) -> None:
    with pytest.raises(errors.QueryError) as caught:
        make()
    assert said in str(caught.value)


@pytest.mark.parametrize("least", [-10, datetime.timedelta(seconds=-10)])
def test_negative_distances(least: int | datetime.timedelta) -> None:
    first, second = symbols("A", "B")
    base = events("e").order_by("t").define(first, col("a")).define(second, col("b"))
    written = "-10" if isinstance(least, int) else "-10 seconds"
    zero = 0 if isinstance(least, int) else datetime.timedelta(0)
    head = "FROM e ORDER BY t DEFINE A AS a, B AS b PATTERN"
    apart = second.ts - first.te
    assert base.pattern(apart >= least).query() == query(f"{head} B.ts - A.te >= {written}")
    between = f"{head} B.ts - A.te BETWEEN {written} AND {written.replace('-10', '0')}"
    assert base.pattern(apart.between(least, zero)).query() == query(between)
    earlier = f"{head} B.ts >= A.te - {written.removeprefix('-')}"
    assert base.pattern(second.ts >= first.te + least).query() == query(earlier)


def test_a_length_is_a_value_of_having() -> None:
    (symbol,) = symbols("A")
    built = (
        events("e")
        .order_by("t")
        .define(symbol, col("a"))
        .having(symbol.duration > datetime.timedelta(minutes=1.5))
    )
    text = "FROM e ORDER BY t DEFINE A AS a HAVING A.duration > INTERVAL '90' SECOND"
    assert built.query() == query(text)
