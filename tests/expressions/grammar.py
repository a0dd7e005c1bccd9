"""Random Spark SQL expressions of the documented subset, as text."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Text = SearchStrategy[str]

INTEGERS = ["i8", "i16", "i32", "j32", "i64", "j64", "only_null"]
FLOATS = ["f32", "f64", "g64"]
DECIMALS = ["d5", "d18", "d38", "e38"]
# Spark looks lists of more than ten literals up in a set; from seventeen on so do we.
LONG_LISTS = [
    ", ".join(map(str, range(-3, 10))),
    ", ".join([*map(str, range(100, 85, -1)), "-1", "NULL", "7"]),
    ", ".join(["0.0", "1.5", *map(str, range(12))]),
]

number_literals: Text = st.sampled_from([
    "0", "1", "-1", "2", "7", "100", "-128", "2147483647", "-2147483648", "2147483648", "9223372036854775807",
    "0.0", "0.5", "1.5", "-2.25", "70.0", "8.0", "3.", "1.005", "12345678901234567890", "0.000001",
    "1e0", "-1e0", "2.5e-1", "1e18", "1.0D", "0D", "3L", "2S", "5Y", "1.5F", "CAST('NaN' AS DOUBLE)",
    "CAST('Infinity' AS DOUBLE)", "CAST(3 AS DECIMAL(20,5))", "1.5BD", "NULL",
])  # fmt: skip
# What Java and RE2 read alike, and some of what is refused.
regexes: Text = st.sampled_from([
    "'a'", "''", "'^a'", "'a$'", "'^$'", "'.'", "'^.$'", "'a.b'", "'[^a]'", "'(?i)A'", "'(?i)[^a]b?$'",
    "'(?s)z.'", "'z$'", "r'\\d+$'", "r'\\w'", "r'^\\W'", "r'\\s$'", "'a|b$'", "'^(a|ä)+$'", "'😀|%'",
    "'^(?:a|b){2,3}?$'", "'[a-z]{2}'", "r'[\\[\\]\\\\]'", "r'\\ba'", "'a++'", "r'(a)\\1'", "'(?=a)'", "'a$b'",
])  # fmt: skip
string_literals: Text = st.sampled_from(["''", "'a'", "'ab'", "'ä'", "'10'", "'z\\n'", "NULL"])
patterns: Text = st.sampled_from(
    ["'%'", "''", "'a%'", "'%b'", "'_'", "'%\\\\%%'", "'a\\\\_b'", "'%ä%'", "'__%'", "'.*'", "'(a'", "'a%b%'"]
)
time_literals: Text = st.sampled_from([
    "TIMESTAMP '1970-01-01 00:00:00'", "TIMESTAMP '2024-02-29 23:59:59.999999'", "DATE '2024-03-01'",
    "TIMESTAMP '2024-03-01T01:00:00+01:00'", "TIMESTAMP '2024-03-10 02:30:00'",
    "TIMESTAMP_NTZ '2024-03-01 00:00:00'", "DATE '0001-01-01'",
])  # fmt: skip
time_strings: Text = st.sampled_from(["'2024-03-01'", "'1970-01-01'", "'2024-2-9'"])
interval_leaves: Text = st.sampled_from([
    "INTERVAL 5 MINUTES", "INTERVAL '1' DAY", "INTERVAL '1.5' SECOND", "INTERVAL 1 DAY 2 HOURS", "(ts - us)",
    "gap", "INTERVAL -2 WEEKS", "(dt - DATE '2024-03-09')", "(ntz - ts)", "INTERVAL '25' HOUR",
])  # fmt: skip
whole_spans: Text = st.sampled_from(["gap", "(ts - us)", "(gap * i8)", "(ntz - dt)"])  # days to seconds
months: Text = st.sampled_from(["INTERVAL 1 MONTH", "INTERVAL '-3' YEAR", "INTERVAL 1 YEAR 2 MONTHS"])
zone_names: Text = st.sampled_from(
    ["'America/New_York'", "'Australia/Lord_Howe'", "'Pacific/Apia'", "'+05:30'", "'PST'", "'UTC'", "'EST'"]
)
date_fields: Text = st.sampled_from(
    ["year", "quarter", "month", "day", "dayofmonth", "dayofyear", "dayofweek", "weekday", "weekofyear"]
)
clock_fields: Text = st.sampled_from(["hour", "minute", "second"])
extracted: Text = st.sampled_from(
    ["YEAR", "YEAROFWEEK", "QTR", "MON", "WEEK", "D", "DOW", "DOW_ISO", "DOY", "HOURS", "MIN", "SECOND"]
)
date_units: Text = st.sampled_from(["'week'", "'MON'", "'mm'", "'quarter'", "'YEAR'", "'yy'"])
clock_units: Text = st.sampled_from(
    ["'microsecond'", "'MILLISECOND'", "'second'", "'minute'", "'Hour'", "'day'", "'DD'", "'eon'", "NULL"]
)
spoken_units: Text = st.sampled_from(
    ["MICROSECOND", "MILLISECOND", "second", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"]
)
small_numbers: Text = st.sampled_from(["1", "-31", "25", "i8", "i16", "i32", "only_null"])
comparisons: Text = st.sampled_from(["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"])
casts: Text = st.sampled_from(
    [
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL(5,2)",
        "DECIMAL(20,0)",
        "DECIMAL(38,18)",
    ]
)


def _of(template: str, *parts: Text) -> Text:
    return st.tuples(*parts).map(lambda values: template.format(*values))


def _many(template: str, part: Text, least: int = 2) -> Text:
    return st.lists(part, min_size=least, max_size=4).map(lambda parts: template.format(", ".join(parts)))


text_leaves: Text = st.one_of(st.sampled_from(["s", "r"]), st.sampled_from(["i64", "b"]), string_literals)
positions: Text = st.sampled_from(
    ["0", "1", "2", "3", "-1", "-2", "-5", "2147483647", "-2147483648", "1L", "NULL"]
)


def _text_steps(texts: Text) -> Text:
    trims = st.sampled_from(["", "BOTH ", "LEADING ", "TRAILING "])
    return st.one_of(
        _of("{}({})", st.sampled_from(["UPPER", "LOWER", "TRIM", "LTRIM", "RTRIM", "BTRIM"]), texts),
        _of("TRIM({}{} FROM {})", trims, string_literals, texts),
        _of("BTRIM({}, {})", texts, string_literals),
        _of("LTRIM({}, {})", string_literals, texts),
        _many("CONCAT({})", texts, 1),
        _of("({} || {})", texts, texts),
        _many("CONCAT_WS({})", texts, 1),
        _of("SUBSTRING({}, {}, {})", texts, positions, positions),
        _of("SUBSTR({} FROM {})", texts, positions),
        _of("{}({}, {})", st.sampled_from(["LEFT", "RIGHT"]), texts, positions),
        _of("REPLACE({}, {}, {})", texts, string_literals, string_literals),
    )


def _number_steps(numbers: Text) -> Text:
    conditions = boolean_leaves(numbers)
    return st.one_of(
        _of("({} {} {})", numbers, st.sampled_from(["+", "-", "*", "/", "%", "div"]), numbers),
        _of("({} {} {})", numbers, st.sampled_from(["+", "-", "*", "/"]), numbers),
        _of("({} {} {})", numbers, st.sampled_from(["/", "%", "div"]), number_literals),
        _of("(-({}))", numbers),
        _of("ABS({})", numbers),
        _of("ROUND({})", numbers),
        _of("ROUND({}, {})", numbers, st.sampled_from(["0", "1", "2", "4", "-1", "-2", "-20", "17"])),
        _of("FLOOR({})", numbers),
        _of("CEIL({})", numbers),
        _of("CAST({} AS {})", numbers, casts),
        _of("CAST({} AS {})", conditions, casts),
        _many("LEAST({})", numbers),
        _many("GREATEST({})", numbers),
        _many("COALESCE({})", numbers),
        _of(
            "{}({})",
            st.sampled_from(["SQRT", "CBRT", "EXP", "EXPM1", "LN", "LOG", "LOG10", "LOG2", "LOG1P", "SIGN"]),
            numbers,
        ),
        _of("{}({}, {})", st.sampled_from(["POW", "LOG", "PMOD", "MOD"]), numbers, numbers),
        _of("LENGTH({})", text_leaves),
        _of("NULLIF({}, {})", numbers, numbers),
        _of("IF({}, {}, {})", conditions, numbers, numbers),
        _of("CASE WHEN {} THEN {} WHEN {} THEN {} END", conditions, numbers, conditions, numbers),
        _of("CASE {} WHEN {} THEN {} ELSE {} END", numbers, numbers, numbers, numbers),
        _of("(CASE WHEN {0} <> 0 THEN {1} / {0} END)", numbers, numbers),
    )


def boolean_leaves(numbers: Text) -> Text:
    return st.one_of(
        st.sampled_from(["b", "c", "TRUE", "FALSE"]),
        _of("({} {} {})", numbers, comparisons, numbers),
        _of("({} IS NULL)", numbers),
    )


number_columns: Text = st.sampled_from(INTEGERS + FLOATS + DECIMALS)
number_leaves: Text = st.one_of(number_columns, number_columns, number_literals)
numbers: Text = st.recursive(number_leaves, _number_steps, max_leaves=5)

strings: Text = st.recursive(
    st.one_of(st.sampled_from(["s", "r"]), string_literals),
    lambda texts: st.one_of(
        _many("COALESCE({})", texts),
        _many("GREATEST({})", texts),
        _many("LEAST({})", texts),
        _of("CASE WHEN b THEN {} ELSE {} END", texts, texts),
        _of("NULLIF({}, {})", texts, texts),
        st.sampled_from(["i64", "i8", "b"]).map("CAST({} AS STRING)".format),
        _text_steps(texts),
        _text_steps(texts),
    ),
    max_leaves=3,
)


def _interval_steps(spans: Text) -> Text:
    return st.one_of(
        _of("({} {} {})", spans, st.sampled_from(["+", "-"]), spans),
        _of("(-{})", spans),
        _of("({} {} {})", spans, st.sampled_from(["*", "/"]), st.sampled_from(["3", "-7", "i8", "i64"])),
        _many("COALESCE({})", spans),
        _many("GREATEST({})", spans),
    )


intervals: Text = st.recursive(interval_leaves, _interval_steps, max_leaves=2)


def _time_steps(instants: Text) -> Text:
    return st.one_of(
        _of("({} {} {})", instants, st.sampled_from(["+", "-"]), st.one_of(intervals, months)),
        _of("({} + {})", st.one_of(intervals, months), instants),
        _many("COALESCE({})", instants),
        _many("GREATEST({})", instants),
        _of("CAST({} AS {})", instants, st.sampled_from(["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"])),
        _of(
            "{}({})", st.sampled_from(["to_date", "date", "to_timestamp", "timestamp", "last_day"]), instants
        ),
        _of("date_trunc({}, {})", st.one_of(clock_units, date_units), instants),
        _of("trunc({}, {})", instants, st.one_of(clock_units, date_units)),
        _of("{}({}, {})", st.sampled_from(["date_add", "date_sub", "add_months"]), instants, small_numbers),
        _of("(dt {} {})", st.sampled_from(["+", "-"]), small_numbers),
        _of(
            "{}({}, {}, {})",
            st.sampled_from(["timestampadd", "dateadd"]),
            spoken_units,
            small_numbers,
            instants,
        ),
        _of("next_day({}, {})", instants, st.sampled_from(["'MO'", "'thu'", "'Sunday'"])),
        _of("from_utc_timestamp({}, {})", instants, zone_names),
        _of("to_utc_timestamp({}, {})", instants, zone_names),
        _of("convert_timezone({}, {}, {})", zone_names, zone_names, instants),
    )


made_times: Text = st.sampled_from([
    "timestamp_micros(i64)", "timestamp_millis(i64)", "timestamp_seconds(i32)", "date_from_unix_date(i32)",
])  # fmt: skip
times: Text = st.recursive(
    st.one_of(
        st.sampled_from(["ts", "us", "ntz", "dt"]),
        st.sampled_from(["ts", "ntz", "dt"]),
        time_literals,
        made_times,
    ),
    _time_steps,
    max_leaves=2,
)
time_numbers: Text = st.one_of(
    _of("{}({})", st.one_of(date_fields, clock_fields), times),
    _of("EXTRACT({} FROM {})", extracted, times),
    _of("date_part('{}', {})", extracted, times),
    _of("EXTRACT({} FROM {})", st.sampled_from(["DAY", "HOUR", "MINUTES", "S"]), whole_spans),
    _of("datediff({}, {})", times, times),
    _of("{}({}, {}, {})", st.sampled_from(["timestampdiff", "datediff"]), spoken_units, times, times),
    _of("{}({})", st.sampled_from(["unix_seconds", "unix_millis", "unix_micros", "unix_timestamp"]), times),
    _of("unix_date({})", times),
)
time_tests: Text = st.one_of(
    _of("({} {} {})", times, comparisons, times),
    _of("({} BETWEEN {} AND {})", times, times, times),
    _of("({} {} {})", time_numbers, comparisons, st.sampled_from(["1", "6", "22", "i8"])),
    _of("({} {} {})", st.sampled_from(["ts", "ntz", "dt"]), comparisons, time_strings),
    _of("({} {} {})", intervals, comparisons, intervals),
)


def _boolean_steps(booleans: Text) -> Text:
    return st.one_of(
        _of("({} AND {})", booleans, booleans),
        _of("({} OR {})", booleans, booleans),
        _of("(NOT {})", booleans),
        _of(
            "({} {})",
            booleans,
            st.sampled_from(["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NULL", "IS NOT NULL"]),
        ),
        _of("({} {} {})", booleans, comparisons, booleans),
        _of("COALESCE({}, {})", booleans, booleans),
        _of("CASE WHEN {} THEN {} ELSE {} END", booleans, booleans, booleans),
    )


booleans: Text = st.recursive(
    st.one_of(
        st.sampled_from(["b", "c", "TRUE", "FALSE", "NULL"]),
        _of("({} {} {})", numbers, comparisons, numbers),
        _of("({} {} {})", number_columns, comparisons, st.sampled_from(["'5'", "'-1'", "'100'"])),
        _of("({} {} {})", strings, comparisons, strings),
        time_tests,
        _of("({} BETWEEN {} AND {})", numbers, numbers, numbers),
        _of("({} NOT BETWEEN {} AND {})", strings, strings, strings),
        _of("({} {} ({}))", numbers, st.sampled_from(["IN", "NOT IN"]), _many("{}", number_leaves, 1)),
        _of("({} IN ({}))", number_columns, st.sampled_from(LONG_LISTS)),
        _of("({} IN ({}))", strings, _many("{}", strings, 1)),
        _of("({} LIKE {})", strings, patterns),
        _of("({} NOT LIKE {} ESCAPE '/')", strings, st.sampled_from(["'a/%%'", "'a/_b'", "'//'", "'%'"])),
        _of("({} {} {})", strings, st.sampled_from(["RLIKE", "NOT RLIKE", "REGEXP"]), regexes),
        _of("({} {} {})", strings, st.sampled_from(["ILIKE", "NOT ILIKE"]), patterns),
        _of(
            "{}({}, {})",
            st.sampled_from(["STARTSWITH", "ENDSWITH", "CONTAINS", "REGEXP_LIKE"]),
            strings,
            string_literals,
        ),
        _of("({} IS NOT NULL)", numbers),
    ),
    _boolean_steps,
    max_leaves=4,
)

times_and_spans: Text = st.one_of(times, times, time_numbers, time_tests, intervals)
expressions: Text = st.one_of(numbers, booleans, strings, times, time_numbers, intervals)
