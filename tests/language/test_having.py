"""HAVING: what it is made of, how it is written, and what the join may use of it (SEM 13.1)."""

from __future__ import annotations

import pytest

from situ.builder import events, symbols
from situ.errors import AggregateTypeError, ConditionTypeError, UnknownColumnError
from situ.language import query
from situ.language.situations.ast import Item, Query
from situ.language.situations.binder import bind
from situ.language.situations.having import equal_firsts, without_having
from situ.language.text.types import Column

AB = "FROM t ORDER BY t DEFINE A AS x > 1, B AS x < 1 PATTERN A before B"
SCHEMA = (Column("t", "bigint"), Column("x", "double"), Column("s", "string"), Column("b", "boolean"))
ENDS = tuple(Item(end, symbol) for symbol in "AB" for end in ("ts", "te"))


def parsed(text: str) -> Query:
    """The query, which prints and parses to itself."""
    found = query(f"{AB} {text}")
    assert query(str(found)) == found
    return found


def having(text: str) -> str:
    condition = parsed(text).having
    assert condition is not None
    return condition.sql


def test_items_that_only_having_reads_come_behind_those_of_return() -> None:
    found = parsed("RETURN A.ts AS a HAVING first(A.s) = 'x' AND A.ts > 3 AND count(B) > 2")
    assert found.items == (Item("ts", "A"), Item("first", "A", "s"), Item("count", "B"))
    assert found.having is not None
    assert found.having.sql == "_item_1 = 'x' AND _item_0 > 3 AND _item_2 > 2"
    assert without_having(found).items == (Item("ts", "A"),)
    assert without_having(found) == query(f"{AB} RETURN A.ts AS a")


def test_without_return_every_endpoint_is_there() -> None:
    found = parsed("HAVING A_ts > 3 AND avg(A.x) > 1")
    assert found.items == (*ENDS, Item("avg", "A", "x"))
    assert str(found).endswith("\nHAVING A.ts > 3 AND avg(A.x) > 1")
    assert without_having(found) == query(AB)


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("RETURN avg(A.x) * 5L AS m HAVING m > 3", "(_item_0 * 5L) > 3"),
        (
            "RETURN A.ts AS A, count(A) AS n HAVING count(A) > 3 AND a > N",
            "_item_1 > 3 AND _item_0 > _item_1",
        ),
        ("RETURN A.ts > 3 AS late HAVING NOT late", "NOT (_item_0 > 3)"),
        ("RETURN A.ts AS `a b` HAVING `A B` BETWEEN 1 AND 2", "_item_0 BETWEEN 1 AND 2"),
        ("RETURN first(A.s) AS r HAVING r.field = 1", "_item_0.field = 1"),
        ("HAVING count(A) > 1 RETURN A.ts AS a", "_item_1 > 1"),
        ("RETURN * HAVING TRUE", "TRUE"),
        ("RETURN A.ts AS having HAVING `having` > 3", "_item_0 > 3"),
    ],
)
def test_names_of_return_stand_for_their_expressions(text: str, sql: str) -> None:
    assert having(text) == sql


@pytest.mark.parametrize("text", ["avg(A.x)", "count(A) + 1", "first(A.s)", "A.ts", "A.duration"])
def test_it_is_true_or_false(text: str) -> None:
    with pytest.raises(ConditionTypeError) as caught:
        bind(query(f"{AB} HAVING {text}"), SCHEMA)
    kind = "string" if text == "first(A.s)" else "number"
    assert str(caught.value) == (
        f"the condition of HAVING must be true or false, but {text} is a {kind}\n"
        f"  line 6: HAVING {text}\n"
        "          ^^^^^^\n"
        "Hint: compare it with a value, as in HAVING avg(A.speed) > 70"
    )


def test_what_it_reads_is_bound() -> None:
    bind(query(f"{AB} HAVING last(A.b)"), SCHEMA)
    bind(query(f"{AB} HAVING my_udf(A.ts)"), SCHEMA)
    with pytest.raises(UnknownColumnError, match='no column "y"'):
        bind(query(f"{AB} HAVING max(A.y) > 3"), SCHEMA)
    with pytest.raises(AggregateTypeError, match=r"sum\(A.s\) needs a number"):
        bind(query(f"{AB} HAVING sum(A.s) > 3"), SCHEMA)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("first(A.x) = first(B.y)", [(("A", "x"), ("B", "y"))]),
        (
            "(first(B.x) = (first(A.x))) AND count(A) > 1 AND first(A.s) == first(B.s)",
            [(("B", "x"), ("A", "x")), (("A", "s"), ("B", "s"))],
        ),
        ("first(A.x) = first(B.x) OR count(A) > 1", []),
        ("NOT (first(A.x) = first(B.x))", []),
        ("first(A.x) = first(A.y) AND first(A.x) <=> first(B.x) AND first(A.x) = last(B.x)", []),
        ("first(A.x) + 1 = first(B.x) AND first(A.x).f = first(B.x).f AND A.ts = B.te", []),
    ],
)
def test_what_must_be_equal_of_two_situations(text: str, pairs: list[object]) -> None:
    assert equal_firsts(parsed(f"HAVING {text}")) == pairs


def test_nothing_must_be_equal_without_it() -> None:
    assert equal_firsts(query(AB)) == []


def test_the_builder_says_the_same() -> None:
    A, B = symbols("A", "B")
    begin = events("t").order_by("t").define(A, "x > 1").define(B, "x < 1").pattern(A.before(B))
    assert begin.having(A.first("x") == B.first("x")).query() == parsed("HAVING first(A.x) = first(B.x)")
    both = begin.returns(n=A.count()).having("n > 3").query()
    assert both == parsed("RETURN count(A) AS n HAVING n > 3")


def notes(text: str) -> list[str]:
    found = [section for section in query(text).explain().sections if section.title == "Notes"]
    return [line for section in found for line in section.lines]


def test_explain_warns_of_ends_that_may_not_be_known() -> None:
    assert "Only matches with count(A) > 3 are reported (HAVING)." in str(
        parsed("HAVING count(A) > 3").explain()
    )
    assert notes(f"{AB} HAVING A.te > 3") == []  # A has ended before B begins
    assert notes(f"{AB} HAVING B.duration > 3 AND B.ts > 1") == [
        "HAVING reads B.duration, and B may still be open when a match is reported (EMIT EARLY): then it is "
        "null. With EMIT FINAL all situations of a match have ended."
    ]
    assert notes(f"{AB} EMIT FINAL HAVING B.duration > 3") == []
    assert notes(f"{AB} HAVING count(A) > 3 AND first(B.x) > 1") == []  # neither can change any more
    assert notes(f"{AB} HAVING count(B) > 3") == [
        "HAVING reads count(B), and B may still be open when a match is reported (EMIT EARLY): then it is "
        "that of its events so far. With EMIT FINAL all situations of a match have ended."
    ]
    assert notes("FROM t DEFINE A AS x > 1 AT MOST 5 HAVING A.te > 3") == []
    overlapping = "FROM t DEFINE A AS a, B AS b PATTERN A overlaps;contains;finished-by B HAVING A.te > 3"
    assert len(notes(overlapping)) == 1
    assert notes(overlapping.replace(";contains", "")) == []
