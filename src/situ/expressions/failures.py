"""The errors ANSI rules ask for, each with the first values that caused it."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
import pyarrow as pa

from situ.errors import ExpressionError
from situ.expressions import types as t
from situ.expressions.vectors import Mask, Values, both

_HINT = "ansi=False gives null or a wrapped value instead, as Spark does with spark.sql.ansi.enabled=false."


def offending(bad: Values, valid: Mask | None, n: int) -> int | None:
    """The first valid row among the bad ones."""
    at_fault: Values = both(bad, valid)
    rows = np.flatnonzero(np.broadcast_to(at_fault, n))
    return int(rows[0]) if len(rows) else None


def show(values: Values, row: int, type_: pa.DataType) -> str:
    """One value as the user would write it."""
    value = values[row] if isinstance(values, np.ndarray) else values
    if t.is_decimal(type_):
        scale = type_.scale
        digits = str(abs(int(value))).rjust(scale + 1, "0")
        sign = "-" if value < 0 else ""
        return (
            f"{sign}{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}" if scale else f"{value}"
        )
    return str(value)


def overflow(what: str, type_: pa.DataType) -> NoReturn:
    raise ExpressionError(
        f"{what} does not fit {t.name_of(type_)}", hint=f"Cast to a wider type first; {_HINT}"
    )


def divided_by_zero(what: str) -> NoReturn:
    raise ExpressionError(
        f"{what} divides by zero", hint=f"Guard it, as in CASE WHEN b <> 0 THEN a / b END; {_HINT}"
    )


def bad_cast(what: str, type_: pa.DataType) -> NoReturn:
    raise ExpressionError(f"{what} cannot be cast to {t.name_of(type_)}", hint=_HINT)
