"""Several sources in one query: how it is written, and how it meets their schemas (SEM 13.2, 13.4)."""

from __future__ import annotations

import pytest

from situ.builder import events, symbols
from situ.errors import (
    AmbiguousColumnError,
    BindError,
    ConditionTypeError,
    DurationTypeError,
    SourceError,
    TimeColumnError,
    TooManySymbolsError,
    UnknownColumnError,
)
from situ.language import query
from situ.language.situations.ast import Query, SourceTable
from situ.language.situations.binder import BoundQuery, bind
from situ.language.text.types import Column, Schema

G, L = symbols("G", "L")
WEATHER = (Column("t", "bigint"), Column("at", "string"), Column("gust", "int"), Column("both", "int"))
FLIGHTS = (Column("t", "bigint"), Column("at", "string"), Column("late", "boolean"), Column("both", "int"))
FROM = "FROM weather AS w, flights AS f"


def parsed(text: str) -> Query:
    """The query, which prints and parses to itself."""
    found = query(text)
    assert query(str(found)) == found
    return found


def bound(text: str, weather: Schema = WEATHER, flights: Schema = FLIGHTS) -> BoundQuery:
    return bind(parsed(text), {"weather": weather, "flights": flights})


def test_a_qualified_column_decides() -> None:
    found = parsed(f"{FROM} DEFINE G AS w.gust > 5, L AS F.late, X AS both > 1")
    assert [symbol.on for symbol in found.symbols] == ["w", "f", None]
    assert [symbol.condition.sql for symbol in found.symbols] == ["gust > 5", "late", "both > 1"]  # type: ignore[union-attr]


def test_what_on_says_and_what_names_say_is_the_same_query() -> None:
    assert parsed(f"{FROM} DEFINE G ON w AS gust > 5") == parsed(f"{FROM} DEFINE G AS w.gust > 5")
    assert parsed("FROM a.b, c DEFINE G AS a.b.x") == parsed("FROM a.b, c DEFINE G ON b AS x")


def test_columns_by_name_or_paired() -> None:
    found = parsed(
        f"{FROM} PARTITION BY w.at = f.airport, n ORDER BY w.obs = f.dep, w.i, k DEFINE G AS w.gust"
    )
    assert found.sources == (
        SourceTable("weather", "w", ("obs", "i", "k"), ("at", "n")),
        SourceTable("flights", "f", ("dep", "k"), ("airport", "n")),
    )
    assert (found.order_by, found.partition_by) == (("obs", "i", "k"), ("at", "n"))


def test_where_is_split_by_conjuncts() -> None:
    found = parsed(
        f"{FROM} WHERE w.gust BETWEEN 1 AND 2 AND (f.late OR f.x) AND free > 1 AND w.y = 2 DEFINE G AS w.gust"
    )
    assert [table.where and table.where.sql for table in found.sources] == [
        "gust BETWEEN 1 AND 2 AND y = 2",
        "(late OR x)",
    ]
    assert found.where is not None
    assert found.where.sql == "free > 1"


def test_a_column_called_like_a_source_is_printed_so_that_it_is_one() -> None:
    found = parsed("FROM a, b DEFINE A ON b AS b.b.x > 3 AND b.a.y < 1")
    condition = found.symbols[0].condition
    assert condition is not None
    assert condition.columns == ("b", "a")


def test_one_table_under_two_names() -> None:
    found = parsed("FROM cars AS a, cars AS b DEFINE A AS a.x > 1, B AS b.x < 1 PATTERN A before B")
    assert [table.key for table in found.sources] == ["cars", "cars"]
    schema = (Column("t", "timestamp"), Column("x", "int"))
    assert [one.alias for one in bind(found, {"cars": schema}).sources] == ["a", "b"]


def test_the_builder_says_the_same() -> None:
    built = (
        events(w="weather", f="flights")
        .where("w.gust <> 3 AND free > 1")
        .partition_by({"w": "origin", "f": "airport"})
        .order_by({"w": "obs", "f": "dep"}, {"w": "n"})
        .define(G, "gust > 5", on="w")
        .define(L, "f.late")
        .pattern(G.overlaps(L))
        .query()
    )
    assert built == parsed(
        f"{FROM} WHERE w.gust <> 3 AND free > 1 PARTITION BY w.origin = f.airport "
        "ORDER BY w.obs = f.dep, w.n DEFINE G AS w.gust > 5, L AS f.late PATTERN G overlaps L"
    )
    assert events("a", "b").order_by("t").define(G, "a.x").query() == parsed(
        "FROM a, b ORDER BY t DEFINE G AS a.x"
    )


def test_what_the_builder_refuses() -> None:
    with pytest.raises(SourceError, match="one of several sources"):
        events(w="weather")
    with pytest.raises(SourceError, match="for several sources"):
        events("t").order_by({"w": "t"}).define(G, "x").query()
    with pytest.raises(SourceError, match="leave ON out"):
        events("t").define(G, "x", on="t").query()


def test_too_many_symbols_and_sources() -> None:
    entries = ", ".join(f"A{i} AS w.x > {i}" for i in range(63))
    with pytest.raises(TooManySymbolsError, match="of 2 sources can have 62 symbols"):
        query(f"{FROM} DEFINE {entries}")


def test_bare_names_are_resolved() -> None:
    found = bound(
        f"{FROM} WHERE gust > 1 AND late ORDER BY t DEFINE G AS gust > 5 AND both > 1, L AS late AND at = 'x'"
    )
    assert [symbol.on for symbol in found.query.symbols] == ["w", "f"]
    assert [table.where and table.where.sql for table in found.query.sources] == ["gust > 1", "late"]
    assert found.query.where is None


def test_united_columns() -> None:
    found = bound(
        f"{FROM} ORDER BY t, both PARTITION BY at DEFINE G AS gust > 5, L AS late PATTERN G while L "
        "RETURN max(G.both) AS g, max(L.both) AS l, first(L.at) AS at2, last(G.t) AS t2"
    )
    assert [column.name for column in found.schema] == ["at", "t", "w.both", "f.both"]
    assert [column.name for column in found.ties] == ["w.both", "f.both"]
    assert [found.column_of(item).name for item in found.query.items] == ["w.both", "f.both", "at", "t"]


def test_a_column_that_breaks_ties_in_one_source_only() -> None:
    found = bound(f"{FROM} ORDER BY t, gust DEFINE G AS gust > 5, L AS late PATTERN G while L")
    assert [table.order_by for table in found.query.sources] == [("t", "gust"), ("t",)]
    with pytest.raises(UnknownColumnError, match="nowhere"):
        bound(f"{FROM} ORDER BY t, nowhere DEFINE G AS gust > 5, L AS late PATTERN G while L")
    with pytest.raises(UnknownColumnError, match="gust"):
        bound(f"{FROM} ORDER BY t, f.gust DEFINE G AS gust > 5, L AS late PATTERN G while L")


MISTAKES = [
    ("DEFINE G AS both > 1", AmbiguousColumnError, "w.both or f.both"),
    ("WHERE both > 1 DEFINE G AS gust", AmbiguousColumnError, "w.both or f.both"),
    ("DEFINE G AS gust > 1 AND late", SourceError, "late is a column of f"),
    ("DEFINE G ON w AS late", SourceError, "HAVING"),
    ("DEFINE G AS gast > 1", UnknownColumnError, 'did you mean "gust"'),
    ("DEFINE G ON w AS gast > 1", UnknownColumnError, "gast"),
    ("DEFINE G AS gust", ConditionTypeError, "gust > 0"),
    ("DEFINE G AS gust > 1 AT LEAST 3 minutes", DurationTypeError, "3 minutes"),
    ("PARTITION BY w.at = f.nowhere DEFINE G AS gust > 1", UnknownColumnError, "nowhere"),
    ("PARTITION BY w.at = f.late DEFINE G AS gust > 1", BindError, "w.at, a string, with f.late, a boolean"),
    ("DEFINE G AS gust > 1 RETURN sum(G.late) AS s", UnknownColumnError, "late"),
    ("DEFINE G AS gust > 1 HAVING sum(G.gust)", ConditionTypeError, "HAVING"),
    ("DEFINE G AS gust > 1, L AS late PATTERN G.ts <= L.ts + 3 minutes", DurationTypeError, "3 minutes"),
]


@pytest.mark.parametrize(("text", "kind", "said"), MISTAKES, ids=[text for text, *_ in MISTAKES])
def test_mistakes(text: str, kind: type[Exception], said: str) -> None:
    order = "" if "ORDER BY" in text else "ORDER BY t "
    with pytest.raises(kind) as caught:
        bound(f"{FROM} {order}{text}")
    assert said in str(caught.value)


def test_times_of_different_types() -> None:
    flights = (Column("dep", "timestamp"), *FLIGHTS[1:])
    with pytest.raises(TimeColumnError, match=r"w\.t is a bigint and f\.dep a timestamp"):
        bound(f"{FROM} ORDER BY w.t = f.dep DEFINE G AS gust > 1", flights=flights)


def test_the_only_timestamp_of_each_source() -> None:
    weather = (Column("obs", "timestamp"), Column("gust", "int"))
    flights = (Column("dep", "timestamp"), Column("late", "boolean"))
    found = bound(f"{FROM} DEFINE G AS gust > 1, L AS late PATTERN G while L", weather, flights)
    assert [one.bound.time.name for one in found.sources] == ["obs", "dep"]


def test_tables_that_are_not_those_of_from() -> None:
    two = query(f"{FROM} ORDER BY t DEFINE G AS gust > 1")
    one = query("FROM weather ORDER BY t DEFINE G AS gust > 1")
    with pytest.raises(SourceError, match="FROM names flights"):
        bind(two, {"weather": WEATHER})
    with pytest.raises(SourceError, match="'flight' was given") as caught:
        bind(two, {"weather": WEATHER, "flights": FLIGHTS, "flight": FLIGHTS})
    assert 'did you mean "flights"' in str(caught.value)
    with pytest.raises(SourceError, match="one table was given") as caught:
        bind(two, WEATHER)
    assert '{"weather": ..., "flights": ...}' in str(caught.value)
    with pytest.raises(SourceError, match="reads one table"):
        bind(one, {"weather": WEATHER})
