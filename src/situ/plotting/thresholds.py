"""The numbers a condition compares columns with, read from its tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import sqlglot.expressions as exp

from situ.language.text.nodes import Expression

_SIGNS: dict[type[Any], tuple[str, str]] = {  # as written, and with its sides exchanged
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.EQ: ("=", "="),
    exp.NEQ: ("!=", "!="),
}


class Comparison(NamedTuple):
    """`column sign value`."""

    column: str
    sign: str
    value: float


def comparisons(condition: Expression) -> list[Comparison]:
    """Every comparison of a bare column with a number in a condition, wherever it stands in it.

    >>> from situ.language import query
    >>> comparisons(query("FROM t DEFINE A AS 3 < accel AND speed BETWEEN 10 AND -x").symbols[0].condition)
    [Comparison(column='accel', sign='>', value=3.0), Comparison(column='speed', sign='>=', value=10.0)]
    """
    found = []
    for node in _nodes(condition):
        if isinstance(node, exp.Between):
            bounds = ((">=", node.args["low"]), ("<=", node.args["high"]))
            found += [c for sign, bound in bounds if (c := _comparison(node.this, sign, bound))]
        elif type(node) in _SIGNS:
            sign, exchanged = _SIGNS[type(node)]
            one = _comparison(node.left, sign, node.right) or _comparison(node.right, exchanged, node.left)
            found += [one] if one else []
    return found


def _nodes(condition: Expression) -> Iterator[Any]:
    yield from condition.tree.walk(bfs=False)


def _comparison(column: Any, sign: str, number: Any) -> Comparison | None:
    column, value = column.unnest(), _number(number.unnest())
    if not isinstance(column, exp.Column) or value is None:
        return None
    return Comparison(column.name, sign, value)


def _number(node: Any) -> float | None:
    if isinstance(node, exp.Neg):
        value = _number(node.this.unnest())
        return None if value is None else -value
    if isinstance(node, exp.Literal) and not node.is_string:
        return float(node.this)
    return None
