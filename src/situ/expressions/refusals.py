"""What is refused for its form: names it, and says how to write it instead where that is known."""

from __future__ import annotations

from typing import Final

import sqlglot.expressions as exp

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.sql_types import target_type

_PREDICATES: Final = (
    exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.Not, exp.And, exp.Or
)  # fmt: skip
_COMPARISONS: Final = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ
)  # fmt: skip


def described(tree: exp.Expression) -> str:
    """What to call something refused."""
    if isinstance(tree, exp.Anonymous):
        return f"the function {str(tree.this).upper()}"
    if isinstance(tree, exp.Func):
        return f"the function {tree.sql_name()}"
    return f"{type(tree).__name__} in {tree.sql(dialect='spark')!r}"


def refuse_unknown(tree: exp.Expression, known: tuple[str, ...]) -> None:
    """sqlglot keeps variants of an operation in extra arguments: whatever is not understood is refused."""
    extra = [
        name for name, value in tree.args.items() if value not in (None, False, []) and name not in known
    ]
    if extra:
        raise UnsupportedExpressionError(f"{tree.sql(dialect='spark')!r} ({', '.join(extra)})")


def refuse_suffixed(tree: exp.Expression) -> None:
    """`1L` and `CAST(1 AS BIGINT)` are one tree, yet Spark types the two differently beside a decimal."""
    if isinstance(tree, exp.Cast):
        operand = tree.this.this if isinstance(tree.this, exp.Neg) else tree.this
        if isinstance(operand, exp.Literal) and t.is_integral(target_type(tree.args["to"])):
            raise UnsupportedExpressionError(
                f"the typed literal {tree.sql(dialect='spark')} beside a decimal",
                hint="Write the plain number.",
            )


def refuse_ungrouped(tree: exp.Expression) -> None:
    """Where Spark's grammar groups otherwise than the tree does."""
    refuse_predicates(tree)
    if isinstance(tree.expression, _COMPARISONS):
        raise UnsupportedExpressionError(
            f"{tree.sql(dialect='spark')!r}, comparisons in a row,", hint="Write parentheses."
        )


def refuse_predicates(tree: exp.Expression) -> None:
    if isinstance(tree.this, _PREDICATES) or isinstance(tree.expression, _PREDICATES):
        raise UnsupportedExpressionError(
            f"{tree.sql(dialect='spark')!r}, a predicate as operand without parentheses,",
            hint="Write parentheses.",
        )
