"""Filters of a DataFrame's plan as text that situ evaluates: only what means the same to both.

Understood are comparisons, IN, null tests and logic over columns and constants, and casts that lose nothing.
None of these can fail or depend on a setting, so that it does not matter when and with which settings the
DataFrame was made.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from math import isfinite
from typing import Any

from situ.language.text.dialect import parse
from situ.language.text.words import quote

_COMPARISONS = {
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
}
_CONNECTIVES = {"And": "AND", "Or": "OR"}
_CONSTANTS = ("Literal", "Cast", "UnaryMinus")
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_INTEGERS = tuple(_DIGITS)
_INT = 2**31
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class NotPlainError(Exception):
    """A DataFrame is not known to be a plain scan of files; the text says why, for `explain`."""


def condition_text(condition: Any, names: Mapping[int, str]) -> str:
    """A condition as text of the query language; `names` are the columns' names by Spark's number of them."""
    return _Text(names).of(condition)


class _Text:
    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self._shared: dict[str, str] = {}  # what Spark computes once and refers to

    def of(self, node: Any) -> str:
        kind = node.getClass().getSimpleName()
        if kind == "AttributeReference":
            return quote(self._names[node.exprId().id()])
        if _is_constant(node):
            return _constant(node)
        children = [node.children().apply(i) for i in range(node.children().size())]
        if kind in _COMPARISONS:
            return f"({self.of(children[0])} {_COMPARISONS[kind]} {self.of(children[1])})"
        if kind in _CONNECTIVES:
            return f"({self.of(children[0])} {_CONNECTIVES[kind]} {self.of(children[1])})"
        if kind == "Not":
            return f"(NOT {self.of(children[0])})"
        if kind in ("IsNull", "IsNotNull"):
            return f"({self.of(children[0])} IS {'NOT ' if kind == 'IsNotNull' else ''}NULL)"
        if kind == "In" and all(map(_is_constant, children[1:])):
            return f"({self.of(children[0])} IN ({', '.join(map(self.of, children[1:]))}))"
        if kind == "Cast":
            return self._widened(node, children[0])
        if kind == "Between":
            return self.of(children[0])
        if kind == "With":
            return self._with(node)
        if kind == "CommonExpressionRef":
            return self._shared[node.id().toString()]
        raise NotPlainError(f"a filter calls {node.prettyName()}")

    def _widened(self, cast: Any, child: Any) -> str:
        source, target = child.dataType().simpleString(), cast.dataType().simpleString()
        if source == target:
            return self.of(child)
        if not loses_nothing(source, target):
            raise NotPlainError(f"a filter casts {source} to {target}")
        return f"CAST({self.of(child)} AS {target.upper()})"

    def _with(self, node: Any) -> str:
        """BETWEEN, to Spark two comparisons with one operand."""
        defined = node.defs()
        for i in range(defined.size()):
            one = defined.apply(i)
            self._shared[one.id().toString()] = self.of(one.child())
        return self.of(node.child())


def loses_nothing(source: str, target: str) -> bool:
    """Is a cast between these types exact for every value, whatever the settings?

    >>> loses_nothing("int", "bigint"), loses_nothing("bigint", "int"), loses_nothing("int", "decimal(11,1)")
    (True, False, True)
    """
    if source in _INTEGERS and target in _INTEGERS:
        return _DIGITS[source] < _DIGITS[target]
    if target == "double":
        return source in ("tinyint", "smallint", "int", "float")
    if target.startswith("decimal("):
        precision, scale = _decimal(target)
        if source in _INTEGERS:
            return precision - scale >= _DIGITS[source]
        if source.startswith("decimal("):
            own, own_scale = _decimal(source)
            return scale >= own_scale and precision - scale >= own - own_scale
    return False


def _decimal(kind: str) -> tuple[int, int]:
    precision, scale = kind.removeprefix("decimal(").removesuffix(")").split(",")
    return int(precision), int(scale)


def _is_constant(node: Any) -> bool:
    if node.getClass().getSimpleName() not in _CONSTANTS:
        return False
    return all(_is_constant(node.children().apply(i)) for i in range(node.children().size()))


def _constant(node: Any) -> str:
    """What Spark makes of a constant, as a literal."""
    kind, value = node.dataType().simpleString(), node.eval(None)
    text = None if value is None else literal_text(value if _is_plain(value) else value.toString(), kind)
    if text is None:
        raise NotPlainError(f"a filter has a constant of type {kind}")
    return text


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str)


def literal_text(value: Any, kind: str) -> str | None:
    """A value as Spark holds it, of this type, as a literal; None where there is none that is sure.

    >>> literal_text(19723, "date"), literal_text(-5, "bigint"), literal_text("it's", "string")
    ("DATE '2024-01-01'", '-5', "'it\\\\'s'")
    """
    if kind == "boolean":
        return "TRUE" if value else "FALSE"
    if kind in _INTEGERS:
        return str(value) if -_INT < value < _INT else f"CAST({value} AS BIGINT)"
    if kind == "double":
        return f"{value!r}{'' if 'e' in repr(value) else 'e0'}" if isfinite(value) else None
    if kind.startswith("decimal("):
        return f"CAST({value} AS {kind.upper()})" if "E" not in str(value) else None
    if kind == "string":
        return _string_text(value)
    return _time_text(value, kind)


def _string_text(value: str) -> str | None:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    text = f"'{escaped}'"
    return text if parse(text).name == value else None


def _time_text(value: int, kind: str) -> str | None:
    try:
        if kind == "date":
            return f"DATE '{date(1970, 1, 1) + timedelta(days=value)}'"
        if kind in ("timestamp", "timestamp_ntz"):
            time = (_EPOCH + timedelta(microseconds=value)).replace(tzinfo=None).isoformat(sep=" ")
            zone = "Z" if kind == "timestamp" else ""
            return f"{kind.upper()} '{time}{zone}'"
    except OverflowError:  # before the year 1 or after 9999
        pass
    return None
