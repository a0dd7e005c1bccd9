"""Names, types and durations against a schema."""

from __future__ import annotations

import pytest

from situ.errors import OptionError, QueryError
from situ.language import query
from situ.language.situations.binder import bind
from situ.language.text.types import Column, Schema

CARS: Schema = (
    Column("ts", "timestamp"),
    Column("Car_Id", "string"),
    Column("speed", "double"),
    Column("gear", "int"),
    Column("price", "decimal(10,2)"),
    Column("braking", "boolean"),
    Column("where_", "struct<lat:double,lon:double>"),
    Column("tags", "map<string,string>"),
)
TICKS: Schema = (Column("t", "bigint"), Column("x", "int"), Column("day", "date"))


def test_names_take_the_schema_s_spelling() -> None:
    bound = bind(
        query(
            "FROM c ORDER BY TS, GEAR PARTITION BY car_id DEFINE A AS SPEED > 3 AT LEAST "
            "5s, B AS braking AT MOST 1 min "
            "PATTERN A before B WITHIN 1 hour RETURN avg(A.Speed) AS a, max(B.speed) AS b, "
            "first(A.CAR_ID) AS c"
        ),
        CARS,
    )
    assert bound.time == Column("ts", "timestamp")
    assert bound.ties == (Column("gear", "int"),)
    assert bound.partition == (Column("Car_Id", "string"),)
    assert bound.attributes == (Column("speed", "double"), Column("Car_Id", "string"))
    assert bound.within == 3_600_000_000
    assert bound.at_least == (5_000_000, None)
    assert bound.at_most == (None, 60_000_000)
    assert bound.schema == CARS


@pytest.mark.parametrize(
    ("item", "type_name"),
    [
        ("sum(A.gear)", "bigint"),
        ("sum(A.speed)", "double"),
        ("sum(A.price)", "decimal(20,2)"),
        ("avg(A.gear)", "double"),
        ("avg(A.price)", "decimal(14,6)"),
        ("stddev(A.price)", "double"),
        ("stddev(A.gear)", "double"),
        ("median(A.gear)", "double"),
        ("percentile(A.price, 0.9)", "double"),
        ("collect_list(A.price)", "array<decimal(10,2)>"),
        ("array_agg(A.tags)", "array<map<string,string>>"),
        ("count(A)", "bigint"),
        ("count(A.tags)", "bigint"),
        ("min(A.gear)", "int"),
        ("max(A.car_id)", "string"),
        ("first(A.tags)", "map<string,string>"),
        ("last(A.price)", "decimal(10,2)"),
        ("A.ts", "timestamp"),
        ("A.te", "timestamp"),
        ("A.duration", "interval day to second"),
    ],
)
def test_items_have_spark_s_types(item: str, type_name: str) -> None:
    assert bind(query(f"FROM c DEFINE A AS braking RETURN {item} AS x"), CARS).item_types == (type_name,)


def test_wide_decimals_are_bounded() -> None:
    schema = (Column("t", "bigint"), Column("d", "decimal(38,10)"))
    bound = bind(query("FROM c DEFINE A AS d > 0 RETURN sum(A.d) AS s, avg(A.d) AS a"), schema, time="t")
    assert bound.item_types == ("decimal(38,10)", "decimal(38,14)")


def test_integer_time_counts_ticks() -> None:
    bound = bind(
        query("FROM c ORDER BY t DEFINE A AS x > 3 AT LEAST 5 WITHIN 300 RETURN A.duration AS d"), TICKS
    )
    assert (bound.within, bound.at_least, bound.item_types) == (300, (5,), ("bigint",))


def test_a_date_column_takes_units() -> None:
    bound = bind(query("FROM c ORDER BY day DEFINE A AS x > 3 AT LEAST 2 days RETURN A.ts AS d"), TICKS)
    assert bound.at_least == (172_800_000_000,)
    assert bound.item_types == ("date",)


def test_the_time_option_and_the_only_timestamp() -> None:
    parsed = query("FROM c DEFINE A AS x > 3")
    assert bind(parsed, TICKS, time="T").time.name == "t"
    assert bind(query("FROM c DEFINE A AS braking"), CARS).time.name == "ts"
    assert bind(query("FROM c ORDER BY ts DEFINE A AS braking"), CARS, time="TS").time.name == "ts"


def test_intervals_bind_their_columns() -> None:
    schema = (
        Column("K", "string"),
        Column("s", "timestamp_ntz"),
        Column("e", "timestamp_ntz"),
        Column("level", "int"),
    )
    bound = bind(
        query(
            "FROM INTERVALS t SYMBOL BY k STARTING s ENDING e PATTERN A before B RETURN "
            "A.level AS x, A.te AS y"
        ),
        schema,
    )
    assert bound.time == Column("s", "timestamp_ntz")
    assert bound.attributes == (Column("level", "int"),)
    assert bound.item_types == ("int", "timestamp_ntz")


def test_synonyms_of_types_are_understood() -> None:
    schema = (Column("t", "LONG"), Column("x", "decimal"), Column("y", "Decimal(10, 2)"))
    bound = bind(query("FROM c DEFINE A AS x > 1 RETURN sum(A.x) AS s, sum(A.y) AS y"), schema, time="t")
    assert bound.item_types == ("decimal(20,0)", "decimal(20,2)")


@pytest.mark.parametrize(
    "condition",
    [
        "braking",
        "NOT braking",
        "speed > 3",
        "(speed > 3)",
        "speed IS NULL",
        "gear IN (1, 2)",
        "car_id LIKE 'x%'",
        "car_id RLIKE 'x'",
        "TRUE",
        "NULL",
        "my_udf(speed)",
        "where_.lat > 3",
        "where_.flag",
        "tags['x']",
        "coalesce(braking, FALSE)",
        "CAST(gear AS BOOLEAN)",
        "CASE WHEN braking THEN TRUE END",
        "exists(tags, x -> x > 3)",
        "if(braking, TRUE, FALSE)",
        "ts > TIMESTAMP '2026-01-01 00:00:00'",
        "speed BETWEEN 3 AND 5 OR braking",
    ],
)
def test_conditions_that_are_or_may_be_boolean(condition: str) -> None:
    bind(query(f"FROM c DEFINE A AS {condition}"), CARS)


MISTAKES = [
    ("DEFINE A AS sped > 1", "UnknownColumnError", 'did you mean "speed"'),
    ("DEFINE A AS trucks.speed > 1", "UnknownColumnError", "the FROM name is c"),
    ("DEFINE A AS braking, B AS speed > A.speed PATTERN A before B", "UnknownColumnError", "A is a symbol"),
    ("DEFINE A AS braking RETURN avg(A.sped) AS x", "UnknownColumnError", "RETURN uses"),
    ("PARTITION BY car DEFINE A AS braking", "UnknownColumnError", 'did you mean "Car_Id"'),
    ("WHERE nope DEFINE A AS braking", "UnknownColumnError", "WHERE"),
    ("DEFINE A AS speed", "ConditionTypeError", "speed > 0"),
    ("DEFINE A AS speed + 1", "ConditionTypeError", "number"),
    ("DEFINE A AS car_id", "ConditionTypeError", "string"),
    ("DEFINE A AS 'braking'", "ConditionTypeError", "string"),
    ("DEFINE A AS ts", "ConditionTypeError", "date or time"),
    ("DEFINE A AS ts + INTERVAL '1' DAY", "ConditionTypeError", "true or false"),
    ("DEFINE A AS braking || braking", "ConditionTypeError", "write OR"),
    ("DEFINE A AS CAST(braking AS INT)", "ConditionTypeError", "number"),
    ("WHERE gear DEFINE A AS braking", "ConditionTypeError", "WHERE"),
    ("ORDER BY car_id DEFINE A AS braking", "TimeColumnError", "to_timestamp"),
    ("ORDER BY speed DEFINE A AS braking", "TimeColumnError", "whole ticks"),
    ("ORDER BY price DEFINE A AS braking", "TimeColumnError", "decimal(10,2)"),
    ("DEFINE A AS braking AT LEAST 5", "DurationTypeError", "5 seconds"),
    ("ORDER BY gear DEFINE A AS braking WITHIN 5 minutes", "DurationTypeError", "plain number of ticks"),
    ("DEFINE A AS braking RETURN sum(A.car_id) AS x", "AggregateTypeError", "Car_Id is a string"),
    ("DEFINE A AS braking RETURN avg(A.braking) AS x", "AggregateTypeError", "needs a number"),
    ("DEFINE A AS braking RETURN min(A.tags) AS x", "AggregateTypeError", "ordered"),
]


@pytest.mark.parametrize(("clauses", "kind", "said"), MISTAKES)
def test_mistakes(clauses: str, kind: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        bind(query(f"FROM c {clauses}"), CARS)
    assert type(caught.value).__name__ == kind
    assert said in str(caught.value)


def test_columns_that_differ_in_case_only_are_ambiguous() -> None:
    schema = (Column("t", "timestamp"), Column("x", "int"), Column("X", "int"))
    with pytest.raises(QueryError, match="any of the columns x, X") as caught:
        bind(query("FROM c DEFINE A AS x > 1"), schema)
    assert type(caught.value).__name__ == "AmbiguousColumnError"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ((Column("a", "timestamp"), Column("b", "timestamp_ntz"), Column("x", "boolean")), "a, b"),
        ((Column("n", "int"), Column("x", "boolean")), "here n"),
        ((Column("s", "string"), Column("x", "boolean")), "no column is a timestamp"),
    ],
)
def test_a_time_column_that_cannot_be_told(schema: Schema, said: str) -> None:
    with pytest.raises(QueryError, match=said) as caught:
        bind(query("FROM c DEFINE A AS x"), schema)
    assert type(caught.value).__name__ == "TimeColumnError"


def test_an_option_that_contradicts_the_query_is_refused() -> None:
    with pytest.raises(OptionError, match="contradicts ORDER BY ts"):
        bind(query("FROM c ORDER BY ts DEFINE A AS braking"), CARS, time="gear")


@pytest.mark.parametrize(
    ("ending", "symbol", "kind", "said"),
    [
        ("timestamp", "string", "TimeColumnError", "same type"),
        ("bigint", "int", "BindError", "use DEFINE instead"),
    ],
)
def test_mistakes_of_intervals(ending: str, symbol: str, kind: str, said: str) -> None:
    schema = (Column("k", symbol), Column("s", "bigint"), Column("e", ending))
    with pytest.raises(QueryError, match=said) as caught:
        bind(query("FROM INTERVALS t SYMBOL BY k STARTING s ENDING e PATTERN A before B"), schema)
    assert type(caught.value).__name__ == kind
