"""Roots, powers and logarithms: doubles, and to the last bit what Java computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlglot.expressions as exp

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.evaluate import null_in_null_out, unary
from situ.expressions.kernels.exponentials import each_exp, each_expm1, each_power
from situ.expressions.kernels.logarithms import each_cbrt, each_log, each_log1p, each_log10
from situ.expressions.node import Node, constant
from situ.expressions.vectors import Mask, Values, Vector, both

if TYPE_CHECKING:
    from situ.expressions.bind import Binder

_Doubles = Callable[[Any], Any]


def _double(binder: Binder, tree: exp.Expression, name: str) -> Node:
    """An argument Spark would cast to a double."""
    node = binder.bind(tree)
    if not (t.is_number(node.type) or node.type in (t.NULL, t.STRING)):
        raise UnsupportedExpressionError(f"{name} of {t.name_of(node.type)}")
    return binder.rules.cast(node, t.DOUBLE)


def _own(values: Values) -> Any:
    """A copy of its own: columns are read-only, and for those the kernels would be compiled once more."""
    return np.array(values, np.float64)


def _everywhere(name: str, compute: _Doubles) -> Callable[[Binder, Any], Node]:
    """A function of every double."""

    def build(binder: Binder, tree: exp.Expression) -> Node:
        child = _double(binder, tree, name)
        if child.is_null:
            return constant(t.DOUBLE, None)
        return unary(t.DOUBLE, child, lambda values, valid: (compute(_own(values)), valid))

    return build


def _above(name: str, least: float, compute: _Doubles) -> Callable[[Binder, Any], Node]:
    """A logarithm: null, not NaN, where there is none."""

    def build(binder: Binder, tree: exp.Expression) -> Node:
        child = _double(binder, tree, name)
        if child.is_null:
            return constant(t.DOUBLE, None)

        def kernel(values: Values, valid: Mask | None) -> Vector:
            return compute(_own(values)), both(valid, ~(values <= least))

        return unary(t.DOUBLE, child, kernel)

    return build


def _sign(values: Any) -> Any:
    return np.where(values == 0, values, np.sign(values))  # of -0.0 it is -0.0


def _log2(values: Any) -> Any:
    return each_log(values) / each_log(np.array([2.0]))


def _log(binder: Binder, tree: exp.Expression) -> Node:
    """LOG(base, x)."""

    def kernel(base: Values, x: Values, valid: Mask | None) -> Vector:
        base, x = np.broadcast_arrays(base, x)
        return each_log(_own(x)) / each_log(_own(base)), both(valid, ~((base <= 0) | (x <= 0)))

    return _of_two(binder, tree, "LOG", kernel)


def _pow(binder: Binder, tree: exp.Expression) -> Node:
    def kernel(x: Values, y: Values, valid: Mask | None) -> Vector:
        x, y = np.broadcast_arrays(x, y)
        return each_power(_own(x), _own(y)), valid

    return _of_two(binder, tree, "POW", kernel)


def _of_two(
    binder: Binder, tree: exp.Expression, name: str, kernel: Callable[[Values, Values, Mask | None], Vector]
) -> Node:
    left, right = _double(binder, tree.this, name), _double(binder, tree.expression, name)
    if left.is_null or right.is_null:
        return constant(t.DOUBLE, None)
    return null_in_null_out(t.DOUBLE, left, right, kernel)


def _pmod(binder: Binder, arguments: list[exp.Expression]) -> Node:
    return binder.rules.arithmetic("pmod", *(binder.bind(tree) for tree in arguments))


_Build = Callable[["Binder", Any], Node]


def _of_this(build: _Build) -> tuple[_Build, tuple[str, ...]]:
    return (lambda binder, tree: build(binder, tree.this)), ("this",)


def _of_first(build: _Build) -> tuple[_Build, tuple[int, ...]]:
    return (lambda binder, arguments: build(binder, arguments[0])), (1,)


_BOTH = ("this", "expression")

# Node class -> what binds it, and the arguments that is known to honour.
HANDLERS: Final[dict[type[exp.Expression], tuple[_Build, tuple[str, ...]]]] = {
    exp.Sqrt: _of_this(_everywhere("SQRT", np.sqrt)),
    exp.Cbrt: _of_this(_everywhere("CBRT", each_cbrt)),
    exp.Exp: _of_this(_everywhere("EXP", each_exp)),
    exp.Sign: _of_this(_everywhere("SIGN", _sign)),
    exp.Ln: _of_this(_above("LN", 0.0, each_log)),
    exp.Log: (_log, _BOTH),
    exp.Pow: (_pow, _BOTH),
}

# Functions sqlglot has no class for: name -> what binds the arguments, and how many there may be.
FUNCTIONS: Final[dict[str, tuple[_Build, tuple[int, ...]]]] = {
    "expm1": _of_first(_everywhere("EXPM1", each_expm1)),
    "log10": _of_first(_above("LOG10", 0.0, each_log10)),
    "log2": _of_first(_above("LOG2", 0.0, _log2)),
    "log1p": _of_first(_above("LOG1P", -1.0, each_log1p)),
    "pmod": (_pmod, (2,)),
}
