"""What cannot be promised to equal Spark's answer is refused, by name."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from expressions.support import POOLS, compiled, evaluate
from situ.errors import OptionError, UnsupportedExpressionError

SCHEMA = pa.schema([*((name, type_) for name, (type_, _) in POOLS.items()), ("raw", pa.binary())])

REFUSED = [
    ("sin(f64)", "the function SIN"),
    ("my_udf(i32)", "the function MY_UDF"),
    ("s || i32 + 1", "a sum behind \\|\\| without parentheses"),
    ("s || f64", "CAST from double to string"),
    ("upper(ts)", "CAST from timestamp to string"),
    ("length(raw)", "CAST from binary to string"),
    ("concat('a' 'b')", "string literals in a row"),
    ("starts_with(s, 'a')", "the function STARTS_WITH"),
    ("startswith(s, r)", "STARTSWITH of a text that is not a literal"),
    ("trim(r FROM s)", "TRIM of characters that is not a literal"),
    ("replace(s, r, 'a')", "REPLACE of a text that is not a literal"),
    ("substring(s, i32)", "SUBSTRING from a position that is not a literal"),
    ("substring(s, 1.5)", "SUBSTRING from a position of type decimal\\(2,1\\)"),
    ("upper('\ua7dc')", "U\\+A7DC, whose case depends on the version of Unicode"),
    ("upper('ƛ')", "U\\+019B, whose case depends on the version of Unicode"),
    ("sqrt(b)", "SQRT of boolean"),
    ("sqrt(s)", "CAST from string to double"),
    ("pmod(d5, 2)", "pmod of decimals"),
    ("iif(b, 1, 2)", "the function IIF"),
    ("try_mod(i32, 2)", "TRY_MOD|the function"),
    ("log10(f64, 2)", "the function LOG10 of 2 arguments"),
    ("i32 & 1", "BitwiseAnd"),
    ("s RLIKE r", "RLIKE with a pattern that is not a literal"),
    ("s RLIKE 'a' = b", "a predicate as operand without parentheses"),
    ("regexp_like(s, 'a', 'i')", "flag"),
    ("s RLIKE r'(a)\\1'", "a back-reference"),
    ("s RLIKE r'(?<x>a)\\k<x>'", "a back-reference"),
    ("s RLIKE 'a*+'", "a possessive quantifier"),
    ("s RLIKE 'a(?=b)'", "look-around or an atomic group"),
    ("s RLIKE '(?<!b)a'", "look-around or an atomic group"),
    ("s RLIKE '(?>a)'", "look-around or an atomic group"),
    ("s RLIKE '(?m)^a'", "the flag m"),
    ("s RLIKE '(?iu)ä'", "the flag u"),
    ("s RLIKE 'a$b'", "a \\$ before the end"),
    ("s RLIKE '(a$)?'", "\\? behind an anchor"),
    ("s RLIKE '[a[b]]'", "\\[ in a bracketed set"),
    ("s RLIKE '[a-z&&[^b]]'", "& in a bracketed set"),
    ("s RLIKE r'[\\w-z]'", "a - in the middle of a bracketed set"),
    ("s RLIKE '[z-a]'", "a range whose end comes first"),
    ("s RLIKE r'\\p{L}'", "which has \\\\p"),
    ("s RLIKE r'\\Bb'", "which has \\\\B"),
    ("s RLIKE r'\\Qa\\E'", "which has \\\\Q"),
    ("s RLIKE '(a'", "a \\( without its \\)"),
    ("s RLIKE 'a)'", "a \\) without its \\("),
    ("s RLIKE '[a'", "no end"),
    ("s RLIKE '*a'", "a \\* with nothing to repeat"),
    ("s RLIKE 'a{,2}'", "a { that begins no count"),
    ("s RLIKE 'a{2000}'", "more repetition than can be counted"),
    (f"s RLIKE '{'(' * 9000}a{')' * 9000}'", "more than 50 groups in one another"),
    ("s RLIKE '(?<x>a)(?<x>b)'", "two groups called x"),
    ("s LIKE r", "LIKE with a pattern that is not a literal"),
    ("s LIKE 'a\\\\b'", "escapes neither"),
    ("s LIKE ANY ('a', 'b')", "Any"),
    ("try_cast(i32 AS TINYINT)", "safe"),
    ("CAST(s AS INT)", "CAST from string to int"),
    ("CAST(f64 AS STRING)", "CAST from double to string"),
    ("CAST(d18 AS FLOAT)", "CAST from decimal\\(18,6\\) to float"),
    ("CAST(i32 AS TIMESTAMP)", "CAST from int to timestamp"),
    ("CAST(i32 AS BINARY)", "CAST to BINARY"),
    ("i32 = s", "CAST from string to bigint"),
    ("i32 = 'seven'", "the text 'seven' as bigint"),
    ("s + 1", "string \\+ int"),
    ("b = 1", "comparing boolean with int"),
    ("b + 1", "boolean \\+ int"),
    ("i32 AND b", "AND over int instead of a boolean"),
    ("CASE WHEN i32 THEN 1 END", "a condition over int"),
    ("CASE WHEN b THEN 1 ELSE 'x' END", "CASE over int and string"),
    ("raw = raw", "comparing binary"),
    ("f64 div 2", "div of floating numbers"),
    ("d18 div 2", "div of decimals"),
    ("-d38", "- of decimal\\(38,10\\)"),
    ("ABS(e38)", "abs of decimal\\(38,0\\)"),
    ("FLOOR(d38)", "FLOOR of decimal\\(38,10\\)"),
    ("FLOOR(f64, 1)", "decimals"),
    ("ROUND(f64, i32)", "ROUND to a number of digits that is not an integer literal"),
    ("ROUND(f32, 9)", "ROUND of a float to 9 digits"),
    ("d38 = e38", "one type of at most 38 digits"),
    ("d5 + 1L", "the typed literal CAST\\(1 AS BIGINT\\) beside a decimal"),
    ("i32 = j32 < 3", "comparisons in a row"),
    ("dt + 1L", "date \\+ bigint"),
    ("ts + 1", "timestamp \\+ int"),
    ("dt + dt", "date \\+ date"),
    ("INTERVAL 1 DAY - dt", "interval day - date"),
    ("INTERVAL 1 MONTH", "a result of type interval year to month"),
    ("INTERVAL 1 MONTH 2 DAYS", "interval year to month \\+ interval day"),
    ("INTERVAL 1 QUARTER", "INTERVAL '1' QUARTER"),
    ("INTERVAL 1 DAY * 1.5", "interval day \\* decimal"),
    ("gap = INTERVAL 1 MONTH", "comparing interval day to second with interval year to month"),
    ("hour(i32)", "hour of int"),
    ("hour(s)", "hour of string"),
    ("hour('noon')", "the text 'noon' as timestamp"),
    ("hour(ts, 1)", "the function HOUR of 2 arguments"),
    ("date_trunc(s, ts)", "date_trunc to a unit that is not a text literal"),
    ("trunc(dt, s)", "trunc to a unit that is not a text literal"),
    ("trunc(f64, 2)", "trunc of double"),
    ("date_part(s, ts)", "date_part of a field that is not a text literal"),
    ("EXTRACT(EPOCH FROM ts)", "EXTRACT\\(EPOCH FROM timestamp\\)"),
    ("EXTRACT(DAY FROM INTERVAL '5' HOUR)", "EXTRACT\\(DAY FROM interval day to second\\)"),
    ("to_date(s, 'yyyy')", "the function TO_DATE of 2 arguments"),
    ("unix_timestamp()", "the function UNIX_TIMESTAMP of 0 arguments"),
    ("unix_timestamp(s)", "unix_timestamp of string"),
    ("unix_seconds(dt)", "unix_seconds of date"),
    ("timestamp_seconds(f64)", "timestamp_seconds of double"),
    ("date_add(dt, 1L)", "date_add with bigint"),
    ("dateadd('day', 1, ts)", "timestampadd in a unit other than"),
    ("dateadd(eon, 1, ts)", "timestampadd in a unit other than"),
    ("next_day(dt, 'holiday')", "not the name of a weekday"),
    ("from_utc_timestamp(ts, 'Middle/Earth')", "the zone 'Middle/Earth'"),
    ("from_utc_timestamp(ts, s)", "a zone that is not a text literal"),
    ("from_unixtime(i64)", "the function FROM_UNIXTIME"),
    ("date_format(ts, 'yyyy')", "the function DATE_FORMAT"),
    ("months_between(ts, us)", "the function MONTHS_BETWEEN"),
    ("make_date(2024, 1, 1)", "the function MAKE_DATE"),
    ("make_timestamp(2024, 1, 1, 0, 0, 0)", "the function MAKE_TIMESTAMP"),
    ("current_timestamp()", "the function CURRENT_TIMESTAMP"),
    ("ts > '2024-01-01 10:00:00 Europe/Berlin'", "as timestamp"),
    ("GREATEST(i32)", "GREATEST of one value|GREATEST"),
    ("s[0]", "Bracket"),
    ("a.b", "table"),
    ("i32 IN (SELECT 1)", "query"),
    ("NULL + NULL", "void \\+ void"),
]


@pytest.mark.parametrize(("sql", "name"), REFUSED, ids=[sql[:60] for sql, _ in REFUSED])
def test_refused_by_name_with_the_advice_to_use_spark(sql: str, name: str) -> None:
    with pytest.raises(UnsupportedExpressionError, match=name) as caught:
        compiled(sql, SCHEMA)
    assert "Run the query on a Spark DataFrame" in str(caught.value)


def test_characters_whose_case_is_not_settled_are_refused_when_they_occur() -> None:
    table = pa.table({"s": ["é", None, "ƛ", "\U0001fae8 \U00032000"], "ok": [True, True, False, True]})
    assert evaluate("CASE WHEN ok THEN upper(s) END", table) == ["É", None, None, "\U0001fae8 \U00032000"]
    assert evaluate("ok AND s ILIKE 'É'", table) == [True, None, False, False]
    with pytest.raises(UnsupportedExpressionError, match=r"UPPER of a text with U\+019B"):
        evaluate("upper(s)", table)


def test_word_bounds_are_refused_on_texts_beyond_ascii() -> None:
    table = pa.table({"s": ["an a", None, "ä"], "ok": [True, True, False]})
    assert evaluate(r"ok AND s RLIKE r'\ba\b'", table) == [True, None, False]
    with pytest.raises(UnsupportedExpressionError, match=r"'ä', where .* depends on the version of Java"):
        evaluate(r"s RLIKE r'\ba\b'", table)


@pytest.mark.parametrize("zone", ["Middle/Earth", "+19:00", "+05:75", "localtime", "../UTC", ""])
def test_an_unknown_time_zone_is_an_option_error(zone: str) -> None:
    with pytest.raises(OptionError, match=f"time_zone='{re.escape(zone)}' is not a time zone"):
        compiled("ts = '1970-01-01'", SCHEMA, time_zone=zone)


def test_a_column_spark_has_no_type_for_is_refused() -> None:
    with pytest.raises(UnsupportedExpressionError, match="uint64"):
        compiled("u > 1", pa.schema([("u", pa.uint64())]))


@pytest.mark.parametrize("sql", ["CAST(x AS DECIMAL(38,2))", "ROUND(x, -2)"])
def test_digits_that_depend_on_the_version_of_java_are_refused_when_they_occur(sql: str) -> None:
    column = pa.array([2.0**53, None, 2.0**60])
    table = pa.table({"x": column, "small": pa.array([True, True, False])})
    assert evaluate(sql, table.slice(0, 2))[1] is None
    assert evaluate(f"CASE WHEN small THEN {sql} END", table)[1:] == [None, None]
    with pytest.raises(UnsupportedExpressionError, match="depend on the version of Java"):
        evaluate(sql, table)
