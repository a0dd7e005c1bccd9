"""What column statistics prove: that no row of a row group, or of a folder, makes a condition true.

Only what is certain is said. NaN is greater than every number to Spark and missing from statistics, so
nothing follows from the greatest float; whatever is not understood may be true.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlglot.expressions as exp

from situ.language.text.nodes import Expression


@dataclass(frozen=True)
class Range:
    """A column's least and greatest value that is not null (None: unknown), and what nulls there are."""

    low: Any = None
    high: Any = None
    may_be_null: bool = True
    all_null: bool = False


Ranges = Mapping[str, Range]
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")

_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.EQ: exp.EQ,
}


def may_be_true(expression: Expression, ranges: Ranges) -> bool:
    """Can the expression be true for a row whose columns lie in these ranges (by lower-case name)?"""
    return _may(expression.tree, ranges)


def _may(node: exp.Expr, ranges: Ranges) -> bool:
    match node:
        case exp.Paren():
            return _may(node.this, ranges)
        case exp.And():
            return _may(node.left, ranges) and _may(node.right, ranges)
        case exp.Or():
            return _may(node.left, ranges) or _may(node.right, ranges)
        case exp.Boolean():
            return bool(node.this)
        case exp.Null():
            return False
        case exp.GT() | exp.GTE() | exp.LT() | exp.LTE() | exp.EQ():
            return _may_compare(type(node), node.left, node.right, ranges)
        case exp.Between() if not node.args.get("symmetric"):
            low, high = node.args["low"], node.args["high"]
            return _may_compare(exp.GTE, node.this, low, ranges) and _may_compare(
                exp.LTE, node.this, high, ranges
            )
        case exp.In() if node.expressions and not node.args.get("query"):
            return any(_may_compare(exp.EQ, node.this, one, ranges) for one in node.expressions)
        case exp.Is() if isinstance(node.expression, exp.Null):
            found = _range(node.this, ranges)
            return found is None or found.may_be_null
        case exp.Not() if isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null):
            found = _range(node.this.this, ranges)
            return found is None or not found.all_null
    return True


def _may_compare(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr, ranges: Ranges) -> bool:
    if _range(left, ranges) is None:
        if _range(right, ranges) is None:
            return True
        left, right, kind = right, left, _FLIPPED[kind]
    found, value = _range(left, ranges), _literal(right)
    assert found is not None
    if found.all_null:
        return False
    if value is None:
        return True
    if kind in (exp.GT, exp.GTE):
        return _holds(operator.gt if kind is exp.GT else operator.ge, found.high, value)
    if kind in (exp.LT, exp.LTE):
        return _holds(operator.lt if kind is exp.LT else operator.le, found.low, value)
    return _holds(operator.le, found.low, value) and _holds(operator.ge, found.high, value)


def _holds(compare: Callable[[Any, Any], bool], bound: Any, value: Any) -> bool:
    """Compare where both are numbers or both are text; what cannot be compared may hold."""
    numbers = (int, float, Decimal)
    if bound is None or isinstance(bound, bool) or isinstance(value, bool):
        return True
    if isinstance(bound, float) and compare in (operator.gt, operator.ge):
        return True  # NaN
    if isinstance(bound, numbers) and isinstance(value, numbers):
        return compare(bound, float(value) if isinstance(bound, float) else value)
    if isinstance(bound, date) and not isinstance(bound, datetime):
        # text is a date to Spark in many spellings, of which one sorts as dates do
        bound, value = bound.isoformat(), value if _ISO_DATE.fullmatch(str(value)) else None
    return compare(bound, value) if isinstance(bound, str) and isinstance(value, str) else True


def _range(node: exp.Expr, ranges: Ranges) -> Range | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Column) or len(node.parts) != 1:
        return None
    return ranges.get(node.name.lower())


def _literal(node: exp.Expr) -> Any:
    if isinstance(node, exp.Neg):
        value = _literal(node.this)
        return None if value is None or isinstance(value, str) else -value
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return node.name
    return Decimal(node.name) if node.is_number else None


def row_group_ranges(row_group: Any, names: Mapping[str, int]) -> dict[str, Range]:
    """The ranges of a row group's columns; `names` are lower-case names and positions."""
    found = {}
    for name, position in names.items():
        statistics = row_group.column(position).statistics
        if statistics is None:
            continue
        n_nulls = statistics.null_count if statistics.has_null_count else None
        low, high = (statistics.min, statistics.max) if statistics.has_min_max else (None, None)
        found[name] = Range(low, high, n_nulls != 0, n_nulls == row_group.num_rows)
    return found
