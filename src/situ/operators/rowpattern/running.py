"""Aggregates of conditions: their types, and how the machine computes them."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from situ.errors import UnsupportedConditionError
from situ.expressions import types as t
from situ.operators.rowpattern.kernels import aggregates as of
from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.programs import Operand, Writer
from situ.operators.rowpattern.reads import Running

_SAME: Final = {
    "stddev_samp": "stddev",
    "var_samp": "variance",
    **dict.fromkeys(("any", "some", "bool_or"), "max"),
    **dict.fromkeys(("every", "bool_and"), "min"),
}
_TRUTHS: Final = ("any", "some", "bool_or", "every", "bool_and")
_MOST_DIGITS: Final = 38


def aggregated(writer: Writer, running: Running) -> Operand:
    """An aggregate's value at the tested row."""
    aggregate = running.aggregate
    group = writer.group(running.group)
    if aggregate.is_distinct or aggregate.where is not None or aggregate.more:
        raise UnsupportedConditionError(f"{aggregate.function} with DISTINCT, FILTER or options")
    if aggregate.argument is None:
        return writer.write(do.AGGREGATE_INT, t.BIGINT, writer.aggregate(of.ROWS, group, 0, is_float=False))
    line, source = writer.line_of(aggregate.argument)
    function, type_ = _function(aggregate.function, source)
    number = writer.aggregate(function, group, line, is_float=t.is_float(source))
    op = do.AGGREGATE_FLOAT if t.is_float(type_) else do.AGGREGATE_INT
    # What holds more than 64 bits is a decimal of many digits; of a bigint it overflows (SEM 1.5).
    return writer.write(op, type_, number, 0, 0, int(writer.ansi or t.is_decimal(type_)))


def _function(name: str, source: pa.DataType) -> tuple[int, pa.DataType]:
    """The machine's function and the type of its result, which is Spark's."""
    is_float, is_integral = t.is_float(source), t.is_integral(source)
    match _SAME.get(name, name):
        case "count":
            return of.COUNT, t.BIGINT
        case "sum" if is_integral:
            return of.SUM_INT, t.BIGINT
        case "sum" if t.is_decimal(source):
            return of.SUM_INT, pa.decimal128(min(source.precision + 10, _MOST_DIGITS), source.scale)
        case "sum" if is_float:
            return of.SUM_FLOAT, t.DOUBLE
        case "avg" | "mean" if is_integral:
            return of.AVERAGE_INT, t.DOUBLE
        case "avg" | "mean" if is_float:
            return of.AVERAGE_FLOAT, t.DOUBLE
        case "stddev" if is_float or is_integral:
            return of.DEVIATION, t.DOUBLE
        case "variance" if is_float or is_integral:
            return of.VARIANCE, t.DOUBLE
        case "min" if name not in _TRUTHS or source == t.BOOLEAN:
            return (of.LEAST_FLOAT if is_float else of.LEAST_INT), source
        case "max" if name not in _TRUTHS or source == t.BOOLEAN:
            return (of.GREATEST_FLOAT if is_float else of.GREATEST_INT), source
        case _:
            raise UnsupportedConditionError(
                f"{name} of {t.name_of(source)}",
                hint="count, sum, avg, min, max, stddev, variance, any and every can",
            )
