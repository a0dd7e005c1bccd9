"""Spark's aggregates of a list of values in event order, by definition; None is null. Imports no situ."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

INTEGERS = ("tinyint", "smallint", "int", "bigint")
FLOATS = ("float", "double")


def aggregate(function: str, spark_type: str, values: Sequence[Any]) -> Any:
    """With ANSI off: bigint sums wrap, decimals too large are null."""
    if function in ("first", "last", "value"):
        return None if not values else values[0 if function == "first" else -1]
    present = [value for value in values if value is not None]
    if function == "count":
        return len(present)
    if function == "collect_list":
        return present
    if not present or (function in ("stddev", "variance") and len(present) < 2):
        return None
    if function in ("min", "max"):
        return (min if function == "min" else max)(present, key=_order)
    if function == "stddev":
        return deviation([float(value) for value in present])
    if function == "variance":
        return variance([float(value) for value in present])
    if function == "median" or function.startswith("percentile"):
        return percentile(present, float(function.partition(" ")[2] or 0.5))
    if "decimal" in spark_type:
        return _decimal(function, spark_type, present)
    if spark_type in FLOATS:
        total = float_sum(present)
        return total if function == "sum" else total / len(present)
    total = sum(present)
    return (total + 2**63) % 2**64 - 2**63 if function == "sum" else total / len(present)


def float_sum(values: Sequence[float]) -> float:
    return math.fsum(values) if all(map(math.isfinite, values)) else sum(values)


def deviation(values: Sequence[float]) -> float:
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    with decimal.localcontext(prec=60):
        square = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
        return float((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def variance(values: Sequence[float]) -> float:
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))


def percentile(values: Sequence[Any], fraction: float) -> float:
    """Spark's Percentile: between the two values next to the position, in doubles."""
    ordered = sorted(values, key=_order)
    position = (len(ordered) - 1) * fraction
    lower, higher = math.floor(position), math.ceil(position)
    low, high = ordered[lower], ordered[higher]
    if low == high:
        return float(low)
    return float(low) + (position - lower) * (float(high) - float(low))


def _order(value: Any) -> Any:
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    return value.encode() if isinstance(value, str) else value


def _decimal(function: str, spark_type: str, values: Sequence[Decimal]) -> Decimal | None:
    precision, scale = map(int, re.findall(r"\d+", spark_type))
    with decimal.localcontext(prec=200, rounding=ROUND_HALF_UP):
        total = sum(values)
        if function == "sum":
            return _fit(total, precision + 10, scale)
        if precision <= 11:  # Spark averages these in double arithmetic
            average = Decimal(repr(float(total.scaleb(scale)) / len(values) / 10.0**scale))
        elif _fit(total, precision + 10, scale) is None:
            return None
        else:
            average = total / len(values)
        return _fit(average, precision + 4, scale + 4)


def _fit(value: Decimal, precision: int, scale: int) -> Decimal | None:
    precision, scale = min(38, precision), min(38, scale)
    rounded = value.quantize(Decimal(1).scaleb(-scale))
    return rounded if abs(rounded.scaleb(scale)) < 10**precision else None
