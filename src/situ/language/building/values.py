"""Python expressions that write Spark SQL: `(col("speed") > 70) & col("city").isin("Rome", "Oslo")`."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any, NoReturn

from situ.errors import QueryError
from situ.language.text.parameters import seconds_text
from situ.language.text.words import quote

# How tightly operators bind in Spark SQL; an operand that binds less gets parentheses.
_MOST_DIGITS = 1_000
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(1, 9)


class Value:
    """A Spark SQL expression under construction; `&`, `|` and `~` are AND, OR and NOT."""

    __slots__ = ("_binds", "sql")

    def __init__(self, sql: str, binds: int = _ATOM) -> None:
        self.sql = sql
        self._binds = binds

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.sql}>"

    def __bool__(self) -> NoReturn:
        raise QueryError(
            "an expression has no truth value in Python",
            hint="join conditions with & and |, negate with ~, put each in parentheses, "
            "and write a < b < c as "
            "(a < b) & (b < c)",
        )

    def __and__(self, other: Any) -> Value:
        return _binary(self, "AND", other, _AND)

    def __or__(self, other: Any) -> Any:
        return _binary(self, "OR", other, _OR)

    def __invert__(self) -> Value:
        return Value(f"NOT {_wrapped(self, _NOT)}", _NOT)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return _binary(self, "=", other, _COMPARISON, strict=True)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _binary(self, "<>", other, _COMPARISON, strict=True)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Any) -> Any:
        return _binary(self, "<", other, _COMPARISON, strict=True)

    def __le__(self, other: Any) -> Any:
        return _binary(self, "<=", other, _COMPARISON, strict=True)

    def __gt__(self, other: Any) -> Any:
        return _binary(self, ">", other, _COMPARISON, strict=True)

    def __ge__(self, other: Any) -> Any:
        return _binary(self, ">=", other, _COMPARISON, strict=True)

    def __add__(self, other: Any) -> Value:
        return _binary(self, "+", other, _SUM)

    def __radd__(self, other: Any) -> Value:
        return _binary(other, "+", self, _SUM)

    def __sub__(self, other: Any) -> Value:
        return _binary(self, "-", other, _SUM)

    def __rsub__(self, other: Any) -> Value:
        return _binary(other, "-", self, _SUM)

    def __mul__(self, other: Any) -> Value:
        return _binary(self, "*", other, _PRODUCT)

    def __rmul__(self, other: Any) -> Value:
        return _binary(other, "*", self, _PRODUCT)

    def __truediv__(self, other: Any) -> Value:
        return _binary(self, "/", other, _PRODUCT)

    def __rtruediv__(self, other: Any) -> Value:
        return _binary(other, "/", self, _PRODUCT)

    def __mod__(self, other: Any) -> Value:
        return _binary(self, "%", other, _PRODUCT)

    def __rmod__(self, other: Any) -> Value:
        return _binary(other, "%", self, _PRODUCT)

    def __neg__(self) -> Value:
        return Value(f"-{_wrapped(self, _ATOM)}", _SIGN)

    def isin(self, *values: Any) -> Value:
        """`x IN (a, b)`."""
        listed = ", ".join(value(one).sql for one in values)
        return Value(f"{_wrapped(self, _SUM)} IN ({listed})", _COMPARISON)

    def between(self, low: Any, high: Any) -> Value:
        """`x BETWEEN low AND high`, both included."""
        bounds = f"{_wrapped(value(low), _SUM)} AND {_wrapped(value(high), _SUM)}"
        return Value(f"{_wrapped(self, _SUM)} BETWEEN {bounds}", _COMPARISON)

    def like(self, pattern: str) -> Value:
        """`x LIKE pattern`, where % stands for any characters and _ for one."""
        return Value(f"{_wrapped(self, _SUM)} LIKE {value(pattern).sql}", _COMPARISON)

    def rlike(self, pattern: str) -> Value:
        """`x RLIKE pattern`: a regular expression."""
        return Value(f"{_wrapped(self, _SUM)} RLIKE {value(pattern).sql}", _COMPARISON)

    def is_null(self) -> Value:
        """`x IS NULL`."""
        return Value(f"{_wrapped(self, _SUM)} IS NULL", _COMPARISON)

    def is_not_null(self) -> Value:
        """`x IS NOT NULL`."""
        return Value(f"{_wrapped(self, _SUM)} IS NOT NULL", _COMPARISON)

    def __getitem__(self, key: Any) -> Value:
        return Value(f"{_wrapped(self, _ATOM)}[{value(key).sql}]")


def col(name: str) -> Value:
    """A column, by its exact name.

    >>> (col("max speed") > 70) & ~col("braking")
    <Value `max speed` > 70 AND NOT braking>
    """
    return Value(quote(check_name(name)))


def check_name(given: str) -> str:
    """A name of something is a string."""
    if not isinstance(given, str):
        raise QueryError(
            f"a {type(given).__name__} is not a name", hint='write the name as a string, "speed"'
        )
    return given


def sql(text: str) -> Value:
    """A piece of Spark SQL as it stands, to be combined with other values."""
    return Value(text, 0)


def call(function: str, *arguments: Any) -> Value:
    """A call of any Spark function: `call("abs", col("x"))`."""
    return Value(f"{function.upper()}({', '.join(value(one).sql for one in arguments)})")


def prev(of: Any, n: int = 1) -> Value:
    """What an expression was at the n-th instant before (SEM 15): `col("speed") > prev(col("speed"))`."""
    arguments = [value(of).sql, *([value(n).sql] if n != 1 else [])]
    return Value(f"prev({', '.join(arguments)})")


def value(given: Any) -> Value:
    """A Python value as a Spark SQL literal; values under construction pass through."""
    if isinstance(given, Value):
        return given
    if given is None or isinstance(given, bool):
        return Value("NULL" if given is None else str(given).upper())
    if isinstance(given, int | float | Decimal):
        return _number(given)
    if isinstance(given, str):
        escaped = given.replace("\\", "\\\\").replace("'", "\\'")
        return Value(f"'{escaped}'")
    if isinstance(given, datetime.datetime):
        return Value(f"TIMESTAMP '{given.isoformat(sep=' ')}'")
    if isinstance(given, datetime.date):
        return Value(f"DATE '{given.isoformat()}'")
    if isinstance(given, datetime.timedelta):
        return Value(f"INTERVAL '{seconds_text(given)}' SECOND")
    raise QueryError(
        f"a {type(given).__name__} cannot be written as a Spark SQL value",
        hint="use a number, a string, True, False, None, a date, datetime or timedelta, or "
        "sql('...') for anything else",
    )


def _number(given: int | float | Decimal) -> Value:
    if isinstance(given, float | Decimal) and not math.isfinite(given):
        raise QueryError(
            f"{given} cannot be written as a number", hint="write call('double', 'NaN') or the like"
        )
    if (
        isinstance(given, int) and abs(given) >= 10**_MOST_DIGITS
    ):  # Python does not print any number of digits
        raise QueryError(f"a number cannot have more than {_MOST_DIGITS} digits")
    text = str(given)
    return Value(text, _SIGN if text.startswith("-") else _ATOM)


def _binary(left: Any, operator: str, right: Any, binds: int, *, strict: bool = False) -> Value:
    # Comparisons do not chain, the others lean to the left.
    left_text = _wrapped(value(left), binds + strict)
    return Value(f"{left_text} {operator} {_wrapped(value(right), binds + 1)}", binds)


def _wrapped(part: Value, binds: int) -> str:
    return part.sql if part._binds >= binds else f"({part.sql})"
