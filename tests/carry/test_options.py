"""Options: known names, fitting values, durations in every form; every refusal says what would do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import OptionError
from situ.language.situations.binder import BoundQuery, bind
from situ.options import check_forget_after, ticks
from situ.rows.schema import spark_schema
from situations.drawing import SCHEMA, events

QUERY = situ.query("FROM t ORDER BY t DEFINE A AS a WITHIN 10")
TABLE = events("a .#.")


def bound(within: str = "", kind: pa.DataType | None = None) -> BoundQuery:
    schema = pa.schema([("t", kind or pa.timestamp("us")), ("a", pa.bool_())])
    return bind(situ.query(f"FROM t ORDER BY t DEFINE A AS a {within}"), spark_schema(schema))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tiess": "last"}, "unknown option tiess for a table in process\nHint: did you mean ties?"),
        ({"wattermark": 1}, "unknown option wattermark"),
        ({"colour": 1}, "Hint: the options are ansi, forget_after, join"),
        (
            {"watermark": 5},
            "option watermark does not apply to a table in process\nHint: watermark, late_rows, "
            "max_ahead and timeouts",
        ),
        ({"late_rows": True}, "option late_rows does not apply"),
        ({"strategy": "shuffle"}, "option strategy does not apply"),
        ({"until": 5}, "until does nothing here: no result of this query falls between events"),
        ({"ties": "first"}, "ties='first' is not one of 'warn', 'last', 'error'"),
        ({"join": "hash"}, "join='hash' is not one of 'auto', 'range', 'pair'"),
        ({"on_bad_rows": None}, "on_bad_rows=None is not one of 'error', 'drop'"),
        ({"threads": 0}, 'threads=0 must be a whole number from 1 on, or "auto"'),
        ({"threads": True}, "threads=True must be"),
        ({"threads": "many"}, "threads='many' must be"),
        ({"match_id": "yes"}, "match_id='yes' must be True or False"),
        ({"ansi": 1}, "ansi=1 must be True or False"),
        ({"ties": ["last"]}, "is not one of"),
        ({"time": 5}, "time=5 must be"),
        ({"time_zone": "Mars/Olympus"}, "time_zone='Mars/Olympus'"),
    ],
)
def test_a_wrong_option_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        situ.match(TABLE, QUERY, **options)
    assert message in str(caught.value)


def test_an_operator_takes_what_a_table_does_not() -> None:
    operator = QUERY.operator(SCHEMA, watermark=3, late_rows=True)
    assert operator.late_rows.num_rows == 0
    with pytest.raises(OptionError, match=r"option strategy does not apply to an operator"):
        QUERY.operator(SCHEMA, strategy="shuffle")


def test_late_rows_must_be_asked_for() -> None:
    with pytest.raises(
        OptionError, match="counted but not kept\nHint: make the operator with late_rows=True"
    ):
        _ = QUERY.operator(SCHEMA).late_rows


@pytest.mark.parametrize("value", ["5 minutes", "300s", "INTERVAL '5' MINUTE", timedelta(minutes=5)])
def test_durations_are_text_or_timedeltas(value: Any) -> None:
    assert ticks(value, bound().time, "watermark") == 300_000_000


def test_durations_of_an_integer_column_are_plain_numbers() -> None:
    of_integers = bound(kind=pa.int64()).time
    assert ticks(5, of_integers, "watermark") == 5
    assert ticks("5", of_integers, "watermark") == 5
    assert ticks(0, of_integers, "watermark") == 0
    assert ticks(None, of_integers, "watermark") is None


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (5, pa.timestamp("us"), 'Hint: give a duration such as "5 minutes" or a timedelta'),
        ("5 minutes", pa.int64(), "Hint: give a whole number of ticks"),
        (timedelta(seconds=1), pa.int32(), "does not fit time column t of type int"),
        (-5, pa.int64(), "watermark=-5 is not a whole number of ticks"),
        (timedelta(seconds=-1), pa.timestamp("us"), "watermark="),
        ("soon", pa.timestamp("us"), "watermark='soon' is not a duration"),
        (1.5, pa.int64(), "watermark=1.5 is not a whole number of ticks"),
        (True, pa.int64(), "watermark=True is not a whole number of ticks"),
        (float("nan"), pa.int64(), "watermark=nan is not"),
        ("5 fortnights", pa.timestamp("us"), "watermark='5 fortnights' is not a duration"),
    ],
)
def test_a_wrong_duration_is_refused(value: Any, kind: pa.DataType, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        ticks(value, bound(kind=kind).time, "watermark")
    assert message in str(caught.value)


def forget_after(value: Any, of: BoundQuery) -> int | None:
    return check_forget_after(value, of.time, of.within)


def test_forget_after_is_no_shorter_than_the_window() -> None:
    assert forget_after("10 s", bound("WITHIN 10 s")) == 10_000_000
    assert forget_after(None, bound()) is None
    with pytest.raises(OptionError, match="forget_after='9 s' is shorter than the window"):
        forget_after("9 s", bound("WITHIN 10 s"))
    with pytest.raises(OptionError, match="needs a window"):
        forget_after("9 s", bound())


def test_the_option_that_begins_so_is_meant() -> None:
    query = situ.query("FROM t ORDER BY t DEFINE A AS x > 1")
    with pytest.raises(OptionError, match=r"did you mean ties\?"):
        situ.match(pa.table({"t": [1], "x": [1]}), query, tie="error")
