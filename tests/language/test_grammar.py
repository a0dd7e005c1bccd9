"""What texts mean: the papers' queries, every clause, both pattern spellings, names and comments."""

from __future__ import annotations

import pytest

from situ.algebra.relations import NAMES, names_of
from situ.language import query
from situ.language.situations.ast import Constraint, IntervalSource, Item, Query
from situ.language.text.nodes import Duration

# EDBT 2018, Listing 1: units removed, the time column named, `finishes` as SEM 3.1 says.
LISTING_1 = """
FROM   CarSensors CS ORDER BY CS.ts PARTITION BY CS.car_id
DEFINE A AS CS.accel > 8 at least 5s,
       B AS CS.speed > 70 between 4s AND 30s,
       C AS CS.accel < -9 at least 3s
PATTERN A meets B; A overlaps B; A starts B; A during B
        AND C during B; B finished-by C; B overlaps C; B meets C
        AND A before C
WITHIN 5 MINUTES
RETURN first(B.car_id) AS id,
        avg(B.speed) AS avg_speed;
"""
# Dissertation, Listing 5.1, likewise.
LISTING_5_1 = """
FROM      CarSensors PARTITION BY car_id ORDER BY ts
DEFINE    A AS accel > 8 AT LEAST 5s,
          B AS speed > 70 BETWEEN 4s AND 30s,
          C AS accel < -9 AT LEAST 3s
PATTERN   A meets;overlaps;starts;during B
          AND B contains;finished-by;overlaps;meets C
          AND A before C
WITHIN    5 minutes
RETURN    first(B.car_id) AS id,
          avg(B.speed) AS avg_speed;
"""
# PieStream, Example 1: a missing comma and the dash of a comment mended, the time column named.
PIESTREAM = """
FROM Carsensors ORDER BY timestamp
DEFINE a AS accel > 8, -- Acceleration(m/s^2)
       s AS speed > 70, -- Speeding threshold(mph)
       d AS accel < -9, -- Hard braking(m/s^2)
       c AS (lateralAccel > 0.5) OR (lateralAccel < -0.5) -- Horizontal speed(m/s)
PATTERN a meets; overlaps; starts; during s
    AND a meets; overlaps; finished_by; contains c
    AND s contains; overlaps; finished_by c
    AND c overlaps; meets; before d
    AND s contains; finished_by; overlaps; meets d
    AND a before d
WITHIN 5 minutes
RETURN FIRST(s. timestamp) AS startTime, AVG(s. speed) AS avgSpeed
"""
# ISEQ, Example 2, in endpoint form over given intervals.
ISEQ = """
FROM INTERVALS trace SYMBOL BY kind STARTING ts ENDING te
PATTERN A.ts < B.ts < C.ts < D.ts
WITHIN 30
"""


def names(constraint: Constraint) -> set[str]:
    return set(names_of(constraint.relations))


def test_both_published_spellings_of_the_aggressive_drivers_are_one_query() -> None:
    assert query(LISTING_1) == query(LISTING_5_1)


def test_listing_1() -> None:
    parsed = query(LISTING_1)
    assert parsed.source == "CarSensors"
    assert parsed.order_by == ("ts",)
    assert parsed.partition_by == ("car_id",)
    assert [str(symbol.condition and symbol.condition.sql) for symbol in parsed.symbols] == [
        "accel > 8",
        "speed > 70",
        "accel < -9",
    ]
    assert [(symbol.at_least, symbol.at_most) for symbol in parsed.symbols] == [
        (Duration(5_000_000, True), None),
        (Duration(4_000_000, True), Duration(30_000_000, True)),
        (Duration(3_000_000, True), None),
    ]
    assert [(one.left, one.right, names(one)) for one in parsed.constraints] == [
        ("A", "B", {"meets", "overlaps", "starts", "during"}),
        ("A", "C", {"before"}),
        ("B", "C", {"contains", "finished-by", "overlaps", "meets"}),
    ]
    assert parsed.within == Duration(300_000_000, True)
    assert parsed.items == (Item("first", "B", "car_id"), Item("avg", "B", "speed"))
    assert [item.name for item in parsed.returns] == ["id", "avg_speed"]


def test_piestream() -> None:
    parsed = query(PIESTREAM)
    assert parsed.symbol_names == ("a", "s", "d", "c")
    assert len(parsed.constraints) == 6
    assert parsed.constraints[-1] == Constraint(
        "d", "c", NAMES["overlapped-by"] | NAMES["met-by"] | NAMES["after"]
    )
    assert parsed.items == (Item("first", "s", "timestamp"), Item("avg", "s", "speed"))


def test_iseq() -> None:
    parsed = query(ISEQ)
    assert parsed.intervals == IntervalSource("ts", "te", symbol_by="kind")
    assert parsed.symbol_names == ("A", "B", "C", "D")
    starts_first = {"before", "meets", "overlaps", "finished-by", "contains"}
    assert [(one.left, one.right) for one in parsed.constraints] == [("A", "B"), ("B", "C"), ("C", "D")]
    assert all(names(one) == starts_first for one in parsed.constraints)
    assert parsed.within == Duration(30, False)


def pattern(text: str) -> list[tuple[str, str, set[str]]]:
    parsed = query(
        f"FROM t DEFINE A AS a, B AS b, C AS c PATTERN {text} AND A before;meets;overlaps;contains C"
    )
    return [
        (one.left, one.right, names(one)) for one in parsed.constraints if (one.left, one.right) != ("A", "C")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A overlapped-by B", ("A", "B", {"overlapped-by"})),
        ("A overlapped_by B", ("A", "B", {"overlapped-by"})),
        ("A Overlapped By B", ("A", "B", {"overlapped-by"})),
        ("A equal B", ("A", "B", {"equals"})),
        ("B during A; A meets B", ("A", "B", {"contains", "meets"})),
        ("B during;meets A", ("A", "B", {"contains", "met-by"})),
        ("A before B AND A followed-by B", ("A", "B", {"followed-by"})),
        ("A before;meets B AND A meets;overlaps B", ("A", "B", {"meets"})),
        ("A.ts < B.ts AND A overlaps;during B", ("A", "B", {"overlaps"})),
        ("A.ts < B.ts < A.te", ("A", "B", {"overlaps", "finished-by", "contains"})),
        ("A.te = B.ts; A.te < B.ts", ("A", "B", {"meets", "before"})),
        ("A.ts < A.te < B.ts", ("A", "B", {"before"})),
        ("(A before B)", ("A", "B", {"before"})),
        ("A.TS == B.ts AND A.te >= B.te", ("A", "B", {"equals", "started-by"})),
    ],
)
def test_patterns(text: str, expected: tuple[str, str, set[str]]) -> None:
    assert pattern(text) == [expected]


def test_a_chain_relates_neighbours() -> None:
    parsed = query(
        "FROM t DEFINE A AS a, B AS b, C AS c, D AS d PATTERN A starts B before;meets C overlaps D"
    )
    assert [(one.left, one.right, names(one)) for one in parsed.constraints] == [
        ("A", "B", {"starts"}),
        ("B", "C", {"before", "meets"}),
        ("C", "D", {"overlaps"}),
    ]


def test_the_order_of_constraints_does_not_matter() -> None:
    define = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN "
    assert query(define + "B before C AND A meets B") == query(define + "B met-by A AND C after B")


def test_clauses_after_from_come_in_any_order() -> None:
    assert query(
        "FROM t RETURN A.ts AS x WITHIN 5s DEFINE A AS a PARTITION BY p WHERE w ORDER BY o EMIT FINAL"
    ) == query("FROM t WHERE w ORDER BY o PARTITION BY p DEFINE A AS a WITHIN 5s EMIT FINAL RETURN A.ts AS x")


def condition(text: str) -> tuple[str, Duration | None, Duration | None]:
    symbol = query(f"FROM cars AS c DEFINE A AS {text}").symbols[0]
    assert symbol.condition is not None
    return symbol.condition.sql, symbol.at_least, symbol.at_most


SECONDS_4, SECONDS_30 = Duration(4_000_000, True), Duration(30_000_000, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # BETWEEN of the condition
        ("x BETWEEN 5 AND 10", ("x BETWEEN 5 AND 10", None, None)),
        ("(x + 1) BETWEEN 5 AND 10", ("(x + 1) BETWEEN 5 AND 10", None, None)),
        ("a > 3 AND x BETWEEN 5 AND 10", ("a > 3 AND x BETWEEN 5 AND 10", None, None)),
        ("NOT x BETWEEN 5 AND 10", ("NOT x BETWEEN 5 AND 10", None, None)),
        ("abs(x) between 5 and 10 or y", ("ABS(x) BETWEEN 5 AND 10 OR y", None, None)),
        # BETWEEN of the duration
        ("x BETWEEN 4s AND 30s", ("x", SECONDS_4, SECONDS_30)),
        ("x > 5 BETWEEN 4 AND 30", ("x > 5", Duration(4, False), Duration(30, False))),
        ("x BETWEEN 5 AND 10 BETWEEN 4 AND 30",
         ("x BETWEEN 5 AND 10", Duration(4, False), Duration(30, False))),
        ("x BETWEEN 5 AND 10 BETWEEN 4s AND 30 seconds", ("x BETWEEN 5 AND 10", SECONDS_4, SECONDS_30)),
        ("a OR b IS NULL BETWEEN 4 AND 30", ("a OR b IS NULL", Duration(4, False), Duration(30, False))),
        ("(x > 5) BETWEEN 4 AND 30", ("(x > 5)", Duration(4, False), Duration(30, False))),
        ("x > 5 BETWEEN INTERVAL '4' SECOND AND INTERVAL '30' SECOND", ("x > 5", SECONDS_4, SECONDS_30)),
        ("x > 5 BETWEEN 0.004 hours AND 0.5 minutes", ("x > 5", Duration(14_400_000, True), SECONDS_30)),
        # the others
        ("x AT LEAST 4s", ("x", SECONDS_4, None)),
        ("x = 'AT LEAST 5s' at most 30s", ("x = 'AT LEAST 5s'", None, SECONDS_30)),
        ("least(x, 3) > 1 AT LEAST 4", ("LEAST(x, 3) > 1", Duration(4, False), None)),
        ("at > 5 AND least < 3 AT MOST 30s", ("at > 5 AND least < 3", None, SECONDS_30)),
        # names
        ("c.speed > cars.limit AND CARS.x", ("speed > limit AND x", None, None)),
        ("`cars`.`max speed` > 1", ("`max speed` > 1", None, None)),
        ("struct_column.field > 1", ("struct_column.field > 1", None, None)),
        ("within > 5 AND pattern = 'x' AND `define` < 3",
         ("within > 5 AND pattern = 'x' AND `define` < 3", None, None)),
        ("größe > 1 AND 速度 < 3", ("`größe` > 1 AND `速度` < 3", None, None)),
        ("`speed` > 1", ("speed > 1", None, None)),
        ("filter(cs, c -> c.speed > 1)[0] IS NULL", ("FILTER(cs, c -> c.speed > 1)[0] IS NULL", None, None)),
        # strings and comments
        ("x = 'a -- b' -- c\n AND y /* , */ > 1", ("x = 'a -- b' AND y > 1", None, None)),
        ("x = 'DEFINE, PATTERN; WITHIN'", ("x = 'DEFINE, PATTERN; WITHIN'", None, None)),
        ("x = 'it''s'", (r"x = 'it\'s'", None, None)),
        ("x IN (1, 2,\n3)", ("x IN (1, 2, 3)", None, None)),
    ],
)  # fmt: skip
def test_conditions(text: str, expected: tuple[str, Duration | None, Duration | None]) -> None:
    assert condition(text) == expected


def test_a_column_may_be_named_like_a_symbol() -> None:
    parsed = query("FROM t DEFINE A AS A > 5, B AS A.field > B PATTERN A before B RETURN avg(A.A) AS a")
    assert [symbol.condition and symbol.condition.columns for symbol in parsed.symbols] == [
        ("A",),
        ("A", "B"),
    ]
    assert parsed.items == (Item("avg", "A", "A"),)


def test_a_struct_column_named_like_source_or_symbol_is_qualified_when_printed() -> None:
    parsed = query("FROM t DEFINE A AS t.t.x > 1 AND t.A.ts > 3")
    assert parsed.symbols[0].condition is not None
    assert parsed.symbols[0].condition.sql == "t.x > 1 AND A.ts > 3"
    assert "t.t.x > 1 AND t.A.ts > 3" in str(parsed)
    assert query(str(parsed)) == parsed


def returned(text: str) -> tuple[list[str], tuple[Item, ...]]:
    parsed = query(f"FROM t DEFINE A AS a, B AS b PATTERN A before B RETURN {text}")
    return [item.expression.sql for item in parsed.returns], parsed.items


def test_items_are_shared_between_returns() -> None:
    assert returned("avg(A.x) * 2 AS p, AVG(A.x) - count(B) AS q, A.te - B.ts AS r") == (
        ["_item_0 * 2", "_item_0 - _item_1", "_item_2 - _item_3"],
        (Item("avg", "A", "x"), Item("count", "B"), Item("te", "A"), Item("ts", "B")),
    )


def test_return_expressions_are_spark_sql() -> None:
    sql, items = returned(
        "timestampdiff(SECOND, A.ts, B.ts) AS p, CAST(sum(A.x) AS decimal(10, 2)) AS q, "
        "CASE WHEN count(A) > 3 THEN 'many' ELSE upper(first(B.s)) END AS r, A.ts + "
        "INTERVAL '5' SECOND AS s, "
        "filter(last(A.xs), v -> v > 0) AS t, cast(max(A.x) as array<int>) AS u"
    )
    assert sql == [
        "TIMESTAMPDIFF(SECOND, _item_0, _item_1)",
        "CAST(_item_2 AS DECIMAL(10, 2))",
        "CASE WHEN _item_3 > 3 THEN 'many' ELSE UPPER(_item_4) END",
        "_item_0 + INTERVAL '5' SECOND",
        "FILTER(_item_5, v -> v > 0)",
        "CAST(_item_6 AS array<int>)",
    ]
    assert len(items) == 7


def test_a_column_called_ts_needs_back_quotes_in_return() -> None:
    assert returned("max(A.`ts`) AS x")[1] == (Item("max", "A", "ts"),)


def test_return_star_and_no_return_are_the_endpoints() -> None:
    text = "FROM t DEFINE A AS a, B AS b PATTERN A before B"
    expected = query(f"{text} RETURN A.ts AS A_ts, A.te AS A_te, B.ts AS B_ts, B.te AS B_te")
    assert query(text) == query(f"{text} RETURN *") == expected
    starred = "FROM t DEFINE A AS a, B AS b RETURN * PATTERN (A before B)"
    assert query(starred) == expected


def test_intervals_with_define_and_values() -> None:
    parsed = query(
        "FROM INTERVALS t STARTING s ENDING e ID BY i DEFINE A AS kind = 'HIGH' AND level "
        "> 3 AT LEAST 5, B AS b "
        "PATTERN A overlaps B RETURN A.level + 1 AS level"
    )
    assert parsed.intervals == IntervalSource("s", "e", id_by="i")
    assert parsed.items == (Item("value", "A", "level"),)


def test_symbols_of_symbol_by_keep_their_order_when_printed() -> None:
    parsed = query(
        "FROM INTERVALS t SYMBOL BY k STARTING s ENDING e "
        "PATTERN A.ts < A.te AND B meets C AND C meets D AND A before D"
    )
    assert parsed.symbol_names == ("A", "B", "C", "D")
    assert query(str(parsed)) == parsed


@pytest.mark.parametrize(
    "source", ["t", "db.t", "`my table`", "intervals", "parquet.`/data/x`", "t AS x", "t x"]
)
def test_sources(source: str) -> None:
    assert isinstance(query(f"FROM {source} DEFINE A AS a"), Query)
