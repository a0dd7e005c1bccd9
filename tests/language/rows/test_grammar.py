"""What every clause of a row pattern becomes (ROW 1 to 6, 9)."""

from __future__ import annotations

import pickle
import re

import pytest

import situ
from situ.language.rows.ast import (
    Aggregate,
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Exclusion,
    Item,
    MatchNumber,
    Navigation,
    OrderColumn,
    Pattern,
    Permutation,
    Repetition,
    RowQuery,
    Skip,
    Subset,
    Variable,
)
from situ.language.text.nodes import Duration, Expression

A, B, C = Variable("A"), Variable("B"), Variable("C")


def rows(inside: str, source: str = "t") -> RowQuery:
    query = situ.query(f"FROM {source} MATCH_RECOGNIZE ({inside})")
    assert isinstance(query, RowQuery)
    assert situ.query(str(query)) == query
    assert pickle.loads(pickle.dumps(query)) == query
    return query


def pattern(text: str) -> Pattern:
    return rows(f"ORDER BY ts PATTERN ({text})").pattern


def item(text: str, *, names: str = "A B", subset: str = "") -> Item:
    """The one item of a measure that is nothing else."""
    query = rows(f"ORDER BY ts MEASURES {text} AS m PATTERN ({names}) {subset}")
    assert query.measures[0].expression.sql == "_item_0"
    assert len(query.items) == 1
    return query.items[0]


def over(sql: str, *columns: str) -> Expression:
    return Expression(sql, columns)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", A),
        ("a", A),
        ("`a`", Variable("a")),
        ("A B", Concatenation((A, B))),
        ("A | B C", Alternation((A, Concatenation((B, C))))),
        ("(A | B) C", Concatenation((Alternation((A, B)), C))),
        ("((A) (B C))", Concatenation((A, B, C))),
        ("A | (B | C)", Alternation((A, B, C))),
        ("", Empty()),
        ("()", Empty()),
        ("A () B", Concatenation((A, Empty(), B))),
        ("^A$", Concatenation((Anchor(True), A, Anchor(False)))),
        ("A*", Repetition(A, 0, None)),
        ("A+?", Repetition(A, 1, None, True)),
        ("A??", Repetition(A, 0, 1, True)),
        ("A{3}", Repetition(A, 3, 3)),
        ("A{3,}?", Repetition(A, 3, None, True)),
        ("A{,3}", Repetition(A, 0, 3)),
        ("A{,}", Repetition(A, 0, None)),
        ("A{2,3}", Repetition(A, 2, 3)),
        ("(A*)*", Repetition(Repetition(A, 0, None), 0, None)),
        ("(A B)+", Repetition(Concatenation((A, B)), 1, None)),
        ("A B+", Concatenation((A, Repetition(B, 1, None)))),
        ("(()*)*", Repetition(Repetition(Empty(), 0, None), 0, None)),
        ("PERMUTE(A, B C)", Permutation((A, Concatenation((B, C))))),
        ("permute(A | B, C)+", Repetition(Permutation((Alternation((A, B)), C)), 1, None)),
        ("PERMUTE", Variable("PERMUTE")),
        ("A {- B+ -} C", Concatenation((A, Exclusion(Repetition(B, 1, None)), C))),
        ("{-A|B-}*", Repetition(Exclusion(Alternation((A, B))), 0, None)),
    ],
)
def test_pattern(text: str, expected: Pattern) -> None:
    assert pattern(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", Navigation(over("x"))),
        ("A.x", Navigation(over("x"), "A")),
        ("a.X", Navigation(over("X"), "A")),
        ("t.x", Navigation(over("x"))),
        ("A.s.f", Navigation(over("s.f"), "A")),
        ("t.s.f", Navigation(over("s.f"))),
        ("A.`my col`", Navigation(over("`my col`"), "A")),
        ("LAST(A.x)", Navigation(over("x"), "A")),
        ("LAST(x, 1)", Navigation(over("x"), offset=1)),
        ("FIRST(A.x)", Navigation(over("x"), "A", is_first=True)),
        ("FIRST(A.x + A.y, 2)", Navigation(over("x + y"), "A", is_first=True, offset=2)),
        ("PREV(x)", Navigation(over("x"), shift=-1)),
        ("PREV(x, 0)", Navigation(over("x"))),
        ("NEXT(A.x, 3)", Navigation(over("x"), "A", shift=3)),
        ("PREV(FIRST(A.x, 2), 3)", Navigation(over("x"), "A", is_first=True, offset=2, shift=-3)),
        ("FINAL LAST(A.x)", Navigation(over("x"), "A", is_final=True)),
        ("RUNNING LAST(A.x)", Navigation(over("x"), "A")),
        ("FINAL PREV(A.x)", Navigation(over("x"), "A", shift=-1, is_final=True)),
        ("PREV(FINAL LAST(A.x))", Navigation(over("x"), "A", shift=-1, is_final=True)),
        ("CLASSIFIER()", Navigation(over("_classifier"))),
        ("CLASSIFIER(b)", Navigation(over("_classifier"), "B")),
        ("FIRST(CLASSIFIER())", Navigation(over("_classifier"), is_first=True)),
        ("LAST(upper(CLASSIFIER(B)), 1)", Navigation(over("UPPER(_classifier)"), "B", offset=1)),
        ("MATCH_NUMBER()", MatchNumber()),
        ("count(*)", Aggregate("count")),
        ("COUNT(A.*)", Aggregate("count", variable="A")),
        ("sum(A.x * 2)", Aggregate("sum", over("x * 2"), "A")),
        ("mean(x)", Aggregate("avg", over("x"))),
        ("collect_list(x)", Aggregate("array_agg", over("x"))),
        ("bool_or(A.x > 1)", Aggregate("any", over("x > 1"), "A")),
        ("any(A.ok)", Aggregate("any", over("ok"), "A")),
        ("every(A.x > 1)", Aggregate("every", over("x > 1"), "A")),
        ("count(DISTINCT A.x)", Aggregate("count", over("x"), "A", is_distinct=True)),
        ("count(ALL A.x)", Aggregate("count", over("x"), "A")),
        ("FINAL sum(A.x)", Aggregate("sum", over("x"), "A", is_final=True)),
        ("percentile(A.x, 0.5)", Aggregate("percentile", over("x"), "A", more=("0.5",))),
        ("max_by(A.x, A.y)", Aggregate("max_by", over("x"), "A", more=("y",))),
        ("count(A.*) FILTER (WHERE A.x > 1)", Aggregate("count", variable="A", where=over("x > 1"))),
        ("array_agg(CLASSIFIER())", Aggregate("array_agg", over("_classifier"))),
        ("first_value(x)", Aggregate("first_value", over("x"))),
    ],
)
def test_item(text: str, expected: Item) -> None:
    assert item(text) == expected


def test_items_are_shared() -> None:
    query = rows(
        "ORDER BY ts MEASURES A.x + LAST(A.x) AS m, PREV(x) AS n PATTERN (A) "
        "DEFINE A AS x > PREV(x) AND A.x > 1"
    )
    assert query.items == (
        Navigation(over("x"), "A"),
        Navigation(over("x"), shift=-1),
        Navigation(over("x")),
    )
    assert query.measures[0].expression.sql == "_item_0 + _item_0"
    assert query.conditions["A"].sql == "_item_2 > _item_1 AND _item_0 > 1"
    assert query.conditions["A"].columns == ("_item_2", "_item_1", "_item_0")


def test_functions_lambdas_and_fields_stay_around_items() -> None:
    query = rows("ORDER BY ts PATTERN (A) DEFINE A AS exists(A.list, v -> v > x) AND A.m['k'].f = date(A.d)")
    assert query.conditions["A"].sql == "EXISTS(_item_0, v -> v > _item_1) AND _item_2['k'].f = DATE(_item_3)"


def test_every_clause() -> None:
    query = situ.query(
        """
        SELECT * FROM (SELECT * FROM db.trades AS e WHERE e.price > 0) AS good MATCH_RECOGNIZE (
            PARTITION BY good.sym, `zone id`
            ORDER BY ts, price DESC NULLS FIRST, n NULLS LAST
            MEASURES U.price AS p
            ALL ROWS PER MATCH OMIT EMPTY MATCHES
            AFTER MATCH SKIP TO FIRST B
            PATTERN (A B+ C)
            SUBSET U = (A, B), V = (c)
            WITHIN 1.5 hours
            DEFINE B AS price > PREV(price)
        ) AS m;
        """
    )
    assert query.source == "db.trades"
    assert query.where == over("price > 0")
    assert query.partition_by == ("sym", "zone id")
    assert query.order_by == (
        OrderColumn("ts"),
        OrderColumn("price", True, False),
        OrderColumn("n", False, True),
    )
    assert (query.rows, query.empty) == ("all", "omit")
    assert query.skip == Skip("first", "B")
    assert query.subsets == (Subset("U", ("A", "B")), Subset("V", ("C",)))
    assert query.within == Duration(5_400_000_000, True)
    assert query.alias == "m"
    assert query.members("U") == {"A", "B"}
    assert situ.query(str(query)) == query


@pytest.mark.parametrize(
    ("written", "skip"),
    [
        ("PATTERN (A B)", Skip()),
        ("AFTER MATCH SKIP PAST LAST ROW PATTERN (A B)", Skip()),
        ("AFTER MATCH SKIP TO NEXT ROW PATTERN (A B)", Skip("next row")),
        ("AFTER MATCH SKIP TO LAST B PATTERN (A B)", Skip("last", "B")),
        ("AFTER MATCH SKIP TO B PATTERN (A B)", Skip("last", "B")),
        ("AFTER MATCH SKIP TO `NEXT` PATTERN (A `NEXT`)", Skip("last", "NEXT")),
        ("MAXIMAL MATCH PATTERN (A B)", Skip("next row")),
        ("AFTER MATCH SKIP TO NEXT ROW INCREMENTAL MATCH PATTERN (A B)", Skip("next row")),
        ("STRATEGY SKIP TILL ANY PATTERN (A B) WITHIN 5", Skip("next row")),
        ("STRATEGY SKIP TILL NEXT PATTERN (A B) WITHIN 5", Skip("next row")),
        ("AFTER MATCH SKIP PAST LAST ROW STRATEGY SKIP TILL NEXT PATTERN (A B) WITHIN 5", Skip()),
        ("STRATEGY CONTIGUOUS PATTERN (A B)", Skip()),
    ],
)
def test_skip(written: str, skip: Skip) -> None:
    assert rows(f"ORDER BY ts {written}").skip == skip


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("ONE ROW PER MATCH", ("one", "show")),
        ("ALL ROWS PER MATCH", ("all", "show")),
        ("ALL ROWS PER MATCH SHOW EMPTY MATCHES", ("all", "show")),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", ("all", "omit")),
        ("ALL ROWS PER MATCH WITH UNMATCHED ROWS", ("all", "unmatched")),
    ],
)
def test_rows_per_match(written: str, expected: tuple[str, str]) -> None:
    query = rows(f"ORDER BY ts {written} PATTERN (A)")
    assert (query.rows, query.empty) == expected


def test_columns_may_be_called_like_clauses() -> None:
    query = rows(
        "PARTITION BY pattern ORDER BY within, define MEASURES measures AS strategy, pattern + one AS after "
        "PATTERN (a) DEFINE a AS subset > 1 AND match > define"
    )
    assert query.partition_by == ("pattern",)
    assert [column.name for column in query.order_by] == ["within", "define"]
    assert [measure.name for measure in query.measures] == ["strategy", "after"]


def test_struct_columns_called_like_variables_and_sources() -> None:
    query = rows(
        "ORDER BY ts MEASURES t.a.f AS m, t.t.g AS n, A.a.f AS o, t.f AS p PATTERN (A t)",
        source="(SELECT * FROM x.t WHERE t.t.g > 1)",
    )
    # t is a variable here: a variable goes before a table (ROW 2.1)
    assert query.items[0] == Navigation(over("a.f"), "T")
    query = rows(
        "ORDER BY ts MEASURES e.a.f AS m, e.t.g AS n, A.a.f AS o PATTERN (A t)",
        source="(SELECT * FROM x.t AS e WHERE e.t.g > 1)",
    )
    assert query.items == (
        Navigation(over("a.f")),
        Navigation(over("t.g")),
        Navigation(over("a.f"), "A"),
    )
    assert "AS input" in str(query)


def test_parameters() -> None:
    query = situ.query(
        "FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B{:n,}) DEFINE B AS x > :limit AND y > PREV(y, :n))",
        limit=5,
        n=2,
    )
    assert query.conditions["B"].sql == "_item_0 > 5 AND _item_1 > _item_2"
    assert query.items[2] == Navigation(over("y"), shift=-2)
    assert query.pattern == Concatenation((A, Repetition(B, 2, None)))


def test_any_behind_a_comparison_is_an_aggregate_by_another_name() -> None:
    query = rows("ORDER BY ts PATTERN (A) DEFINE A AS TRUE = bool_or(A.ok)")
    assert query.items == (Aggregate("any", over("ok"), "A"),)


def test_shown() -> None:
    query = rows("ORDER BY ts MEASURES FINAL LAST(x) AS m PATTERN (A)")
    assert eval(repr(query), {"situ": situ}) == query


def test_notebooks_know_the_words() -> None:
    query = rows(
        "ORDER BY ts DESC NULLS FIRST MEASURES FINAL LAST(x) AS measures, next AS first ALL ROWS PER MATCH "
        "AFTER MATCH SKIP TO NEXT ROW PATTERN (PERMUTE(A, `row`)) SUBSET U = (A) "
        "DEFINE A AS A.measures > prev(x)"
    )
    shown = query._repr_html_()
    keywords = re.findall(r"font-weight:bold\">(\w+)<", shown)
    assert " ".join(keywords) == (
        "FROM MATCH_RECOGNIZE ORDER BY NULLS FIRST MEASURES FINAL LAST AS AS ALL ROWS PER MATCH "
        "AFTER MATCH SKIP TO NEXT ROW PATTERN PERMUTE SUBSET DEFINE AS PREV"
    )
