"""Answers that can be read off, one line per rule; test_against_spark asks Spark for the same lines."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal as D
from typing import Any

import pyarrow as pa
import pytest

from expressions.support import INF, NAN, compiled, evaluate, same
from situ.errors import ExpressionError

ROW = pa.table(
    {
        "i": pa.array([7], pa.int32()),
        "big": pa.array([2**63 - 1], pa.int64()),
        "low": pa.array([-(2**63)], pa.int64()),
        "tiny": pa.array([127], pa.int8()),
        "zero": pa.array([0], pa.int32()),
        "x": pa.array([1.005]),
        "nan": pa.array([NAN]),
        "minus_zero": pa.array([-0.0]),
        "f": pa.array([0.1], pa.float32()),
        "d": pa.array([D("12.35")], pa.decimal128(10, 2)),
        "wide": pa.array([D(10**38 - 1)], pa.decimal128(38, 0)),
        "s": ["a%b"],
        "yes": [True],
        "no": [False],
        "nothing": pa.array([None], pa.int32()),
        "unknown": pa.array([None], pa.bool_()),
        "ts": pa.array([86_400_000_000], pa.timestamp("us", tz="UTC")),
        "day": pa.array([1], pa.date32()),
        "gap": pa.array([300_000_000], pa.duration("us")),
        "eve": pa.array([-1], pa.timestamp("us", tz="UTC")),
        "noon": pa.array([1_709_208_000_000_000], pa.timestamp("us")),
        "leap": pa.array([19_782], pa.date32()),
    }
)

BOTH: list[tuple[str, Any]] = [
    # comparison
    ("nan > 1e308", True),
    ("nan = nan", True),
    ("nan < 1", False),
    ("minus_zero = 0", True),
    ("f = 0.1", False),
    ("f = CAST(0.1 AS FLOAT)", True),
    ("i > 6.5", True),
    ("big > 9223372036854775806.5", True),
    ("big < 9223372036854775808", True),
    ("nothing = nothing", None),
    ("nothing <=> nothing", True),
    ("nothing IS DISTINCT FROM 1", True),
    ("i = '7'", True),
    ("ts = '1970-01-02'", True),
    ("ts = day", True),
    ("ts > TIMESTAMP '1970-01-01 23:59:59.999999'", True),
    ("ts = TIMESTAMP '1970-01-02T01:00:00+01:00'", True),
    ("'Z' < 'a'", True),
    ("'é' > 'z'", True),
    # logic
    ("unknown AND no", False),
    ("unknown OR yes", True),
    ("unknown AND yes", None),
    ("NOT unknown", None),
    ("unknown IS NOT TRUE", True),
    ("unknown IS FALSE", False),
    ("nothing IS NULL", True),
    ("isnotnull(nothing)", False),
    ("nothing IN (1, 2)", None),
    ("i IN (7, NULL)", True),
    ("i IN (8, NULL)", None),
    ("i NOT IN (8, 9)", True),
    ("nan IN (1.5e0, CAST('NaN' AS DOUBLE))", True),
    ("i BETWEEN 7 AND nothing", None),
    ("i NOT BETWEEN 8 AND nothing", True),
    # text
    ("s LIKE 'a\\\\%b'", True),
    ("s LIKE 'a_b'", True),
    ("s LIKE 'a/%b' ESCAPE '/'", True),
    ("s NOT LIKE '%c%'", True),
    ("s LIKE 'A%'", False),
    ("r'a\\b' = 'a\\\\b'", True),
    ("s ILIKE 'A%'", True),
    ("'ΑΣ' ILIKE 'ας'", True),
    ("upper('straße, ǆ, ŉ')", "STRASSE, Ǆ, ʼN"),
    ("lower('ΌΣΟΣ ΟΣΑ, İ')", "όσος οσα, i̇"),
    ("upper(i)", "7"),
    ("trim('  a b\t ')", "a b\t"),
    ("trim('\u00a0a\u00a0')", "\xa0a\xa0"),
    ("trim(LEADING 'ab' FROM 'abcab')", "cab"),
    ("trim(BOTH FROM ' a ')", "a"),
    ("trim('xy', 'xaby')", "ab"),
    ("ltrim('x', 'xax')", "ax"),
    ("rtrim(' a ')", " a"),
    ("btrim('xax', 'x')", "a"),
    ("trim(NULL FROM s)", None),
    ("length('a😀é')", 3),
    ("char_length(' a ')", 3),
    ("character_length('')", 0),
    ("concat(s, i, yes)", "a%b7true"),
    ("concat(s, nothing)", None),
    ("s || 1 || 'x'", "a%b1x"),
    ("concat_ws(', ', s, nothing, '', i)", "a%b, , 7"),
    ("concat_ws(',')", ""),
    ("concat_ws(NULL, s)", None),
    ("substring('a😀bc', 2, 2)", "😀b"),
    ("substring('abc', 0, 2)", "ab"),
    ("substring('abc', -2)", "bc"),
    ("substring('abc', -5, 3)", "a"),
    ("substring('abc', -5, 2)", ""),
    ("substring('abc', 2, -1)", ""),
    ("substr('abc' FROM 2 FOR 1)", "b"),
    ("substring('abc' FROM 3)", "c"),
    ("left('abc', 2)", "ab"),
    ("left('abc', -1)", ""),
    ("right('abc', 2)", "bc"),
    ("right('abc', 9)", "abc"),
    ("replace('aaa', 'aa', 'b')", "ba"),
    ("replace('abc', 'b')", "ac"),
    ("replace('abc', '', 'x')", "abc"),
    ("startswith(s, 'a%')", True),
    ("endswith(s, 'A')", False),
    ("contains(s, '')", True),
    ("contains(s, NULL)", None),
    ("s RLIKE '^a.b$'", True),
    ("s NOT RLIKE 'A'", True),
    ("regexp_like(s, '(?i)^A')", True),
    ("regexp(s, r'\\d')", False),
    ("'a\\n' RLIKE 'a$'", True),
    ("'a\\r\\n' RLIKE 'a$'", True),
    ("'a\\r\\n' RLIKE r'\\r$'", False),
    ("'a\\n\\n' RLIKE 'a$'", False),
    ("'\\u2028' RLIKE '^.$'", False),
    ("'\u212a' RLIKE '(?i)k'", False),
    ("'٣' RLIKE r'\\d'", False),
    ("'\u000b' RLIKE r'\\s'", True),
    ("'ab-' RLIKE r'\\bab\\b'", True),
    # arithmetic
    ("i / 2", 3.5),
    ("i div 2", 3),
    ("-i div 2", -3),
    ("-i % 4", -3),
    ("i % -4", 3),
    ("1.0 / 3", D("0.333333")),
    ("d + 1", D("13.35")),
    ("d * 1.5", D("18.525")),
    ("d / 3", D("4.116667")),
    ("d % 5", D("2.35")),
    ("i * 1.5", D("10.5")),
    ("f * 2", 0.20000000298023224),
    ("pmod(-7, 3)", 2),
    ("pmod(-7, -3)", -1),
    ("pmod(-7.5e0, 2)", 0.5),
    ("mod(-7, 3)", -1),
    # functions
    ("sqrt(2)", 1.4142135623730951),
    ("sqrt(-1)", NAN),
    ("sqrt('4')", 2.0),
    ("cbrt(-27)", -3.0),
    ("exp(1)", 2.7182818284590455),  # Java's, and not the nearest double
    ("exp(-800)", 0.0),
    ("expm1(1e-10)", 1.00000000005e-10),
    ("ln(10)", 2.302585092994046),
    ("log(0)", None),
    ("ln(-1)", None),
    ("ln(nan)", NAN),
    ("log(2, 8)", 2.0794415416798357 / 0.6931471805599453),
    ("log(1, 2)", INF),
    ("log(0, 2)", None),
    ("log10(1000)", 3.0),
    ("log(10, 1000)", 2.9999999999999996),
    ("log2(8)", 3.0),
    ("log1p(-1)", None),
    ("log1p(0.5)", 0.4054651081081644),
    ("pow(2, 10)", 1024.0),
    ("power(d, 0.5)", 3.5142566781611158),
    ("pow(-8, 1e0/3)", NAN),
    ("pow(1, nan)", NAN),
    ("pow(nan, 0)", 1.0),
    ("sign(-2.5)", -1.0),
    ("signum(minus_zero)", -0.0),
    ("sqrt(nothing)", None),
    ("ROUND(x, 2)", 1.01),
    ("ROUND(-2.5e0)", -3.0),
    ("ROUND(-0.4e0)", 0.0),
    ("ROUND(1250, -2)", 1300),
    ("ROUND(d, 1)", D("12.4")),
    ("FLOOR(-1.5)", D("-2")),
    ("FLOOR(x)", 1),
    ("CEIL(nan)", 0),
    ("ABS(-2.5)", D("2.5")),
    ("LEAST(3, nothing, 2)", 2),
    ("GREATEST(1e0, nan)", NAN),
    ("COALESCE(nothing, 1.5)", D("1.5")),
    ("NULLIF(i, 7)", None),
    ("IF(unknown, 1, 2)", 2),
    ("CASE i WHEN 7 THEN 'seven' END", "seven"),
    ("CASE WHEN no THEN 1 END", None),
    # casts
    ("CAST(1.005e0 AS DECIMAL(10,2))", D("1.01")),
    ("CAST(nan AS DECIMAL(5,2))", None),
    ("CAST(d AS INT)", 12),
    ("CAST(-d AS INT)", -12),
    ("CAST(yes AS DOUBLE)", 1.0),
    ("CAST(i AS STRING)", "7"),
    ("CAST(no AS STRING)", "false"),
    ("CAST(ts AS BIGINT)", 86_400),
    ("CAST('-Infinity' AS DOUBLE)", -INF),
    # time
    ("gap > INTERVAL '4' MINUTE", True),
    ("(ts - INTERVAL 1 DAY) = TIMESTAMP '1970-01-01'", True),
    ("(ts + gap) - ts = gap", True),
    ("hour(eve)", 23),
    ("minute(eve)", 59),
    ("second(eve)", 59),
    ("EXTRACT(SECOND FROM eve)", D("59.999999")),
    ("year(eve)", 1969),
    ("dayofweek(ts)", 6),
    ("weekday(ts)", 4),
    ("EXTRACT(DOW_ISO FROM ts)", 5),
    ("date_part('doy', leap)", 60),
    ("quarter(leap)", 1),
    ("weekofyear(DATE '2021-01-03')", 53),
    ("EXTRACT(YEAROFWEEK FROM DATE '2021-01-03')", 2020),
    ("hour(noon)", 12),
    ("hour('2024-02-29 07:08:09')", 7),
    ("date_trunc('HOUR', eve) = TIMESTAMP '1969-12-31 23:00:00'", True),
    ("date_trunc('week', eve) = '1969-12-29'", True),
    ("date_trunc('eon', ts)", None),
    ("trunc(leap, 'quarter') = '2024-01-01'", True),
    ("trunc(leap, 'hour')", None),
    ("to_date(eve)", date(1969, 12, 31)),
    ("date(noon)", date(2024, 2, 29)),
    ("leap + 1", date(2024, 3, 1)),
    ("leap - INTERVAL '1' WEEK", date(2024, 2, 22)),
    ("leap + INTERVAL 1 YEAR", date(2025, 2, 28)),
    ("leap + INTERVAL '1' HOUR", datetime(2024, 2, 29, 1, tzinfo=UTC)),
    ("noon - INTERVAL 3 MONTHS", datetime(2023, 11, 29, 12)),
    ("leap - day", timedelta(days=19_781)),
    ("EXTRACT(HOUR FROM gap * 300)", 1),
    ("gap / 7", timedelta(microseconds=42_857_143)),
    ("date_add(leap, -60)", date(2023, 12, 31)),
    ("add_months(leap, 12)", date(2025, 2, 28)),
    ("last_day(day)", date(1970, 1, 31)),
    ("next_day(leap, 'thu')", date(2024, 3, 7)),
    ("datediff(leap, eve)", 19_783),
    ("datediff(MONTH, leap, TIMESTAMP '2024-01-29 01:00:00')", 0),
    ("timestampdiff(HOUR, eve, ts)", 24),
    ("timestampadd(QUARTER, -1, noon)", datetime(2023, 11, 29, 12)),
    ("unix_timestamp(eve)", 0),
    ("unix_seconds(eve)", -1),
    ("unix_micros(eve)", -1),
    ("unix_date(leap)", 19_782),
    ("date_from_unix_date(19782) = leap", True),
    ("timestamp_millis(-1) < eve", True),
    ("from_utc_timestamp(ts, 'America/New_York') = '1970-01-01 19:00:00'", True),
    ("to_utc_timestamp(ts, '+05:30') = '1970-01-01 18:30:00'", True),
    ("convert_timezone('UTC', 'Asia/Kolkata', noon)", datetime(2024, 2, 29, 17, 30)),
]


@pytest.mark.parametrize(("sql", "expected"), BOTH, ids=[sql for sql, _ in BOTH])
@pytest.mark.parametrize("ansi", [True, False], ids=["ansi", "lenient"])
def test_value(sql: str, expected: Any, ansi: bool) -> None:
    (found,) = evaluate(sql, ROW, ansi=ansi)
    assert same(found, expected), found


ERRORS: list[tuple[str, Any, str]] = [
    ("i / zero", None, "divides by zero"),
    ("i / 0.0", None, "divides by zero"),
    ("i % zero", None, "divides by zero"),
    ("i div zero", None, "divides by zero"),
    ("x / minus_zero", None, "divides by zero"),
    ("pmod(i, zero)", None, "divides by zero"),
    ("mod(x, 0)", None, "divides by zero"),
    ("big + 1", -(2**63), "9223372036854775807 \\+ 1 does not fit bigint"),
    ("low - 1", 2**63 - 1, "does not fit bigint"),
    ("big * 2", -2, "does not fit bigint"),
    ("low * -1", -(2**63), "does not fit bigint"),
    ("low div -1", -(2**63), "does not fit bigint"),
    ("-low", -(2**63), "does not fit bigint"),
    ("ABS(low)", -(2**63), "does not fit bigint"),
    ("tiny + CAST(1 AS TINYINT)", -128, "does not fit tinyint"),
    ("ROUND(big, -1)", -(2**63) + 2, "does not fit bigint"),
    ("CAST(big AS INT)", -1, "cannot be cast to int"),
    ("CAST(nan AS INT)", 0, "cannot be cast to int"),
    ("CAST(1e10 AS INT)", 2**31 - 1, "cannot be cast to int"),
    ("CAST(300 AS TINYINT)", 44, "cannot be cast to tinyint"),
    ("CAST(1e300 AS DECIMAL(38,0))", None, "does not fit decimal\\(38,0\\)"),
    ("wide + 1", None, "does not fit decimal\\(38,0\\)"),
    ("FLOOR(1e19)", 2**63 - 1, "does not fit bigint"),
]


@pytest.mark.parametrize(("sql", "lenient", "message"), ERRORS, ids=[sql for sql, _, _ in ERRORS])
def test_ansi_raises_where_lenient_gives_null_or_wraps(sql: str, lenient: Any, message: str) -> None:
    assert evaluate(sql, ROW, ansi=False) == [lenient]
    with pytest.raises(ExpressionError, match=message):
        evaluate(sql, ROW, ansi=True)


TYPES: list[tuple[str, pa.DataType]] = [
    ("1", pa.int32()),
    ("2147483648", pa.int64()),
    ("-2147483648", pa.int32()),
    ("1L", pa.int64()),
    ("1.0", pa.decimal128(2, 1)),
    ("1.", pa.decimal128(1, 0)),
    ("0.05", pa.decimal128(2, 2)),
    ("1e0", pa.float64()),
    ("1.0D", pa.float64()),
    ("1.5F", pa.float32()),
    ("99999999999999999999", pa.decimal128(20, 0)),
    ("d + 1", pa.decimal128(11, 2)),
    ("d + i", pa.decimal128(13, 2)),
    ("d * d", pa.decimal128(21, 4)),
    ("d / d", pa.decimal128(23, 13)),
    ("wide * wide", pa.decimal128(38, 0)),
    ("tiny + tiny", pa.int8()),
    ("tiny + 1", pa.int32()),
    ("i div 2", pa.int64()),
    ("FLOOR(x)", pa.int64()),
    ("COALESCE(i, 1.5)", pa.decimal128(11, 1)),
    ("ts - ts", pa.duration("us")),
    ("ROUND(-128, 0) / 8.0", pa.decimal128(17, 6)),
    ("length(s)", pa.int32()),
    ("concat(i, i)", pa.string()),
    ("upper(NULL)", pa.string()),
    ("sqrt(i)", pa.float64()),
    ("sign(i)", pa.float64()),
    ("pow(d, tiny)", pa.float64()),
    ("pmod(tiny, tiny)", pa.int8()),
    ("pmod(i, big)", pa.int64()),
    ("day + INTERVAL 1 DAY", pa.date32()),
    ("day + INTERVAL 1 HOUR", pa.timestamp("us", tz="UTC")),
    ("date_trunc('day', noon)", pa.timestamp("us", tz="UTC")),
    ("timestampadd(DAY, 1, day)", pa.timestamp("us", tz="UTC")),
    ("EXTRACT(SECOND FROM ts)", pa.decimal128(8, 6)),
    ("EXTRACT(MINUTE FROM gap)", pa.int8()),
    ("NULL / d", pa.float64()),
    ("d / NULL", pa.decimal128(23, 13)),
    ("NULL + d", pa.decimal128(11, 2)),
    ("NULL", pa.null()),
]


@pytest.mark.parametrize(("sql", "type_"), TYPES, ids=[sql for sql, _ in TYPES])
def test_type(sql: str, type_: pa.DataType) -> None:
    assert compiled(sql, ROW.schema).type == type_


def test_an_integer_beside_a_float_widens_to_double_only_under_ansi() -> None:
    assert compiled("i + f", ROW.schema, ansi=True).type == pa.float64()
    assert compiled("i + f", ROW.schema, ansi=False).type == pa.float32()


@pytest.mark.parametrize(
    ("zone", "instant"),
    [
        ("UTC", 0),
        ("+02:00", -7_200_000_000),
        ("America/New_York", 18_000_000_000),
    ],
)
def test_timestamp_literals_are_read_in_the_time_zone(zone: str, instant: int) -> None:
    table = pa.table({"ts": pa.array([instant], pa.timestamp("us", tz="UTC"))})
    assert evaluate("ts = TIMESTAMP '1970-01-01 00:00:00'", table, time_zone=zone) == [True]
    assert evaluate("ts = '1970-01-01'", table, time_zone=zone) == [True]
    assert evaluate("ts = DATE '1970-01-01'", table, time_zone=zone) == [True]


def test_local_times_around_a_clock_change_are_read_as_java_reads_them() -> None:
    # Berlin, 2024: 02:30 on 31 March does not exist (read as 03:30 CEST),
    # on 27 October it comes twice (the first is meant).
    table = pa.table({"ts": pa.array([1711848600_000_000, 1729989000_000_000], pa.timestamp("us", tz="UTC"))})
    assert evaluate("ts = '2024-03-31 02:30:00'", table, time_zone="Europe/Berlin") == [True, False]
    assert evaluate("ts = '2024-10-27 02:30:00'", table, time_zone="Europe/Berlin") == [False, True]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # New York, 10 March 2024: 02:00 becomes 03:00, the day has 23 hours
        ("hour(ts)", 3),
        ("ts + INTERVAL '1' DAY = '2024-03-11 03:00:00'", True),
        ("ts - INTERVAL '1' DAY = '2024-03-09 03:00:00'", True),
        ("ts - INTERVAL '23' HOUR = '2024-03-09 03:00:00'", True),
        ("timestampadd(HOUR, -24, ts) = '2024-03-09 02:00:00'", True),
        ("ts - date_trunc('day', ts)", timedelta(hours=3)),
        ("unix_seconds(ts) - unix_seconds(date_trunc('day', ts))", 7_200),
        ("ts + INTERVAL 8 MONTHS = '2024-11-10 03:00:00'", True),
        ("CAST(TIMESTAMP_NTZ '2024-03-10 02:30:00' AS TIMESTAMP) = '2024-03-10 03:30:00'", True),
        ("CAST(ts AS DATE)", date(2024, 3, 10)),
        # 3 November 2024: 01:30 comes twice, and one stays in the half one came from
        ("hour(ts + INTERVAL '5711' HOUR)", 1),
        (
            "date_trunc('hour', TIMESTAMP '2024-11-03T01:30:00-05:00') = TIMESTAMP '2024-11-03T06:00:00Z'",
            True,
        ),
        # beyond the changes that are written down
        ("hour(TIMESTAMP '2400-07-01T12:00:00Z')", 8),
        ("hour(TIMESTAMP '2400-12-01T12:00:00Z')", 7),
        # before them New York was 4 h 56 min 2 s behind
        ("second(TIMESTAMP '1800-01-01T00:00:00Z')", 58),
    ],
)
def test_times_in_new_york(sql: str, expected: Any) -> None:
    table = pa.table({"ts": pa.array([1_710_054_000_000_000], pa.timestamp("us", tz="UTC"))})
    assert evaluate(sql, table, time_zone="America/New_York") == [expected]


def test_a_day_that_never_was_begins_with_the_next() -> None:
    table = pa.table({"day": pa.array([date(2011, 12, 30)])})  # skipped in Apia
    sql = "CAST(day AS TIMESTAMP) = '2011-12-31 00:00:00'"
    assert evaluate(sql, table, time_zone="Pacific/Apia") == [True]
