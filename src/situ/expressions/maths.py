"""Roots, powers and logarithms: doubles, and to the last bit what Java computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import sqlglot.expressions as exp

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.evaluate import Kernel, null_in_null_out, unary
from situ.expressions.kernels.exponentials import each_exp, each_expm1, each_power
from situ.expressions.kernels.logarithms import each_cbrt, each_log, each_log1p, each_log10
from situ.expressions.node import Node, constant
from situ.expressions.rules import Rules
from situ.expressions.vectors import Mask, Values, Vector, both

if TYPE_CHECKING:
    from situ.expressions.bind import Binder

_Doubles = Callable[[Any], Any]
_Build = Callable[..., Node]  # of the rules, and the arguments


def _double(rules: Rules, node: Node, name: str) -> Node:
    """An argument Spark would cast to a double."""
    if not (t.is_number(node.type) or node.type in (t.NULL, t.STRING)):
        raise UnsupportedExpressionError(f"{name} of {t.name_of(node.type)}")
    return rules.cast(node, t.DOUBLE)


def _own(values: Values) -> Any:
    """A copy of its own: columns are read-only, and for those the kernels would be compiled once more."""
    return np.array(values, np.float64)


def _everywhere(name: str, compute: _Doubles) -> _Build:
    """A function of every double."""

    def build(rules: Rules, node: Node) -> Node:
        child = _double(rules, node, name)
        if child.is_null:
            return constant(t.DOUBLE, None)
        return unary(t.DOUBLE, child, lambda values, valid: (compute(_own(values)), valid))

    return build


def _above(name: str, least: float, compute: _Doubles) -> _Build:
    """A logarithm: null, not NaN, where there is none."""

    def build(rules: Rules, node: Node) -> Node:
        child = _double(rules, node, name)
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


def _log(rules: Rules, base: Node, x: Node) -> Node:
    """LOG(base, x)."""

    def kernel(base: Values, x: Values, valid: Mask | None) -> Vector:
        base, x = np.broadcast_arrays(base, x)
        return each_log(_own(x)) / each_log(_own(base)), both(valid, ~((base <= 0) | (x <= 0)))

    return _of_two(kernel, _double(rules, base, "LOG"), _double(rules, x, "LOG"))


def _pow(rules: Rules, x: Node, y: Node) -> Node:
    def kernel(x: Values, y: Values, valid: Mask | None) -> Vector:
        x, y = np.broadcast_arrays(x, y)
        return each_power(_own(x), _own(y)), valid

    return _of_two(kernel, _double(rules, x, "POW"), _double(rules, y, "POW"))


def _of_two(kernel: Kernel, left: Node, right: Node) -> Node:
    if left.is_null or right.is_null:
        return constant(t.DOUBLE, None)
    return null_in_null_out(t.DOUBLE, left, right, kernel)


def _pmod(rules: Rules, left: Node, right: Node) -> Node:
    return rules.arithmetic("pmod", left, right)


def _bound(build: _Build, *names: str) -> tuple[Callable[[Binder, Any], Node], tuple[str, ...]]:
    """What binds these arguments of a tree and gives them to `build`."""
    return (lambda binder, tree: build(binder.rules, *(binder.bind(tree.args[n]) for n in names))), names


# Node class -> what binds it, and the arguments that is known to honour.
HANDLERS: Final[dict[type[exp.Expression], tuple[Callable[[Binder, Any], Node], tuple[str, ...]]]] = {
    exp.Sqrt: _bound(_everywhere("SQRT", np.sqrt), "this"),
    exp.Cbrt: _bound(_everywhere("CBRT", each_cbrt), "this"),
    exp.Exp: _bound(_everywhere("EXP", each_exp), "this"),
    exp.Sign: _bound(_everywhere("SIGN", _sign), "this"),
    exp.Ln: _bound(_above("LN", 0.0, each_log), "this"),
    exp.Log: _bound(_log, "this", "expression"),
    exp.Pow: _bound(_pow, "this", "expression"),
}

# Functions sqlglot has no class for: name -> what builds them of their arguments, and how many there may be.
FUNCTIONS: Final[dict[str, tuple[_Build, tuple[int, ...]]]] = {
    "expm1": (_everywhere("EXPM1", each_expm1), (1,)),
    "log10": (_above("LOG10", 0.0, each_log10), (1,)),
    "log2": (_above("LOG2", 0.0, _log2), (1,)),
    "log1p": (_above("LOG1P", -1.0, each_log1p), (1,)),
    "pmod": (_pmod, (2,)),
}
