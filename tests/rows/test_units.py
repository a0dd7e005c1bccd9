"""Numbers of a unit as microseconds (SEM 1.1): the nearest one, if it reads back as the number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import situ
from situ.errors import DataError, OptionError, SituError, TimeColumnError
from situ.language.text.types import MICROSECONDS
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.units import from_unit, to_unit

TEXT = "FROM e ORDER BY t DEFINE A AS a WITHIN 5 minutes RETURN A.ts AS s, A.te AS e"
QUERY = situ.query(TEXT)


def events(times: object, kind: pa.DataType | None = None) -> pa.Table:
    column = pa.array(times, kind)
    return pa.table({"t": column, "a": [i % 2 == 0 for i in range(len(column))]})


@given(st.sampled_from(sorted(MICROSECONDS)), st.integers(-(2**52), 2**52))
def test_whole_microseconds_are_taken_and_given_back(unit: str, ticks: int) -> None:
    """Every double that is nearest to a whole number of microseconds."""
    value = ticks / MICROSECONDS[unit]  # of integers: rounded once
    column = pa.array([value])
    assert from_unit(column, "t", unit).tolist() == [ticks]
    assert to_unit(np.array([ticks]), column.type, unit).tolist() == [value]


@given(
    st.sampled_from(sorted(MICROSECONDS)),
    st.one_of(
        st.floats().map(lambda value: (value, pa.float64())),
        st.floats(width=32).map(lambda value: (value, pa.float32())),
    ),
)
def test_any_number_is_the_nearest_microsecond_or_refused(
    unit: str, number: tuple[float, pa.DataType]
) -> None:
    value, kind = number
    column = pa.array([value], kind)
    nearest = round(Fraction(value) * MICROSECONDS[unit]) if math.isfinite(value) else 2**63
    if abs(nearest) < 2**53:  # where products of doubles are near enough to tell
        back = float(to_unit(np.array([nearest]), kind, unit)[0])
        if back == value:
            assert from_unit(column, "t", unit).tolist() == [nearest]
            return
    elif abs(nearest) < 2**63 - 2**12:
        (ticks,) = from_unit(column, "t", unit, rounded=True).tolist()
        assert abs(ticks - nearest) <= abs(nearest) / 2**50
        return
    elif abs(nearest) < 2**63 + 2**12:  # the product of doubles decides whether it fits
        return
    with pytest.raises(DataError, match="no whole number of microseconds"):
        from_unit(column, "t", unit)


@pytest.mark.parametrize(
    ("times", "unit", "found"),
    [
        ([0.5, math.nan], "seconds", "for example nan"),
        ([-math.inf], "seconds", "holds 1 value that as seconds is no whole number"),
        ([0.1, 0.1234567, 0.12345678], "seconds", "holds 2 values that as seconds are no whole number"),
        ([1e-7], "seconds", "for example 1e-07"),
        ([1e14], "seconds", "in 64 bits"),
        ([2**60], "seconds", f"for example {2**60}"),
        ([-(2**60)], "days", f"for example -{2**60}"),
    ],
)
def test_what_is_no_time_is_named(times: list[float], unit: str, found: str) -> None:
    for run in (situ.match, lambda table, query, **how: query.operator(table.schema, **how).push(table)):
        with pytest.raises(DataError, match=found):
            run(events(times), QUERY, time_unit=unit)


def test_rows_that_where_removes_need_no_time() -> None:
    query = situ.query(TEXT.replace("FROM e", "FROM e WHERE t < 10"))
    operator = query.operator(events([0.5]).schema, time_unit="seconds", watermark="1 second")
    assert operator.push(events([0.5, 1.5, math.nan, math.inf, 20.00000001])).num_rows == 0
    assert operator.push(events([])).to_pylist() == [{"s": 0.5, "e": None, "match_time": 0.5}]
    rounded = from_unit(pa.array([math.nan, 1e-7, 1e300]), "t", "seconds", rounded=True)
    assert rounded.tolist() == [LONG_AGO, 0, LONG_AGO]


@pytest.mark.parametrize(
    ("kind", "options", "error", "found"),
    [
        (pa.float64(), {}, TimeColumnError, 'time_unit="seconds"'),
        (pa.float64(), {"time_unit": "second"}, OptionError, "did you mean 'seconds'"),
        (pa.float64(), {"time_unit": 5}, OptionError, "time_unit=5 is not one of 'days'"),
        (pa.timestamp("us"), {"time_unit": "seconds"}, OptionError, "leave it out"),
        (pa.date32(), {"time_unit": "days"}, OptionError, "leave it out"),
        (pa.string(), {"time_unit": "days"}, OptionError, "convert the column to a timestamp"),
        (pa.decimal128(9, 2), {"time_unit": "days"}, OptionError, "t is a decimal"),
        (pa.int64(), {}, SituError, 'time_unit="seconds"'),
    ],
)
def test_what_does_not_fit_is_said(
    kind: pa.DataType, options: dict[str, object], error: type[SituError], found: str
) -> None:
    table = pa.table({"t": pa.array([], kind), "a": pa.array([], pa.bool_())})
    for run in (situ.match, situ.situations, situ.why, situ.explain):
        with pytest.raises(error, match=found):
            run(table, QUERY, **options)
    with pytest.raises(error, match=found):
        QUERY.operator(table.schema, **options)


def test_an_operator_advances_and_is_restored_in_its_unit() -> None:
    table = events([0.1, 0.2])
    operator = QUERY.operator(table.schema, time_unit="seconds", watermark="1 second")
    operator.push(table)
    state = operator.state()
    assert operator.advance(0.2).to_pylist() == [{"s": 0.1, "e": None, "match_time": 0.1}]
    with pytest.raises(SituError, match="another"):
        QUERY.operator(table.schema, time_unit="minutes", watermark="1 second", state=state)


def test_small_batches_of_integers_are_read_in_their_unit() -> None:
    """They have a quick way of their own, for values that are ticks already."""
    table = events(range(0, 20, 2))
    operator = QUERY.operator(table.schema, time_unit="minutes")
    for batch in table.to_batches(max_chunksize=1):
        found = operator.push(batch)
        assert found.num_rows == (1 if batch["a"][0].as_py() else 0)
    assert situ.match(table, QUERY, time_unit="minutes")["s"].to_pylist() == [0, 4, 8, 12, 16]


def test_pictures_and_widened_points_are_refused() -> None:
    with pytest.raises(OptionError, match="no axis"):
        situ.plot(events([0.5]), QUERY, time_unit="seconds")
    given_query = situ.query(
        "FROM INTERVALS i SYMBOL BY k STARTING s ENDING e PATTERN A before B WITHIN 1 hour"
    )
    table = pa.table({"k": ["A"], "s": [1.0], "e": [1.0]})
    with pytest.raises(OptionError, match="one microsecond"):
        situ.match(table, given_query, time_unit="seconds", points="widen")
