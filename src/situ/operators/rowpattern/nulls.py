"""Conditions made smaller by what is known to be null, constant or true of a position."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import sqlglot.expressions as exp

from situ.language.text.dialect import SparkExpressions, parse
from situ.language.text.nodes import Expression
from situ.language.text.sql import columns_of
from situ.language.text.tokens import Kind, tokenize

# Null where an operand is null.
_STRICT: Final = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Like),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs),
)


def replaced(expression: Expression, texts: Mapping[str, str]) -> Expression:
    """The expression with other texts, each an operand, for columns of these names."""
    parts, at = [], 0
    for token in tokenize(expression.sql):
        if token.kind is Kind.WORD and token.value in texts:
            parts += [expression.sql[at : token.start], texts[token.value]]
            at = token.end
    sql = "".join([*parts, expression.sql[at:]])
    return Expression(sql, columns_of(parse(sql)))


def simplified(expression: Expression) -> Expression | bool:
    """The same condition without what nulls decide; True or False where they decide it all.

    A condition that is null does not hold (ROW 2.4), so it is False here.
    """
    tree: exp.Expr = expression.tree.copy()
    for node in reversed(list(tree.walk())):
        other = _smaller(node)
        if other is not node:
            if node is tree:
                tree = other
            else:
                node.replace(other)
    tree = _asked(tree)
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    return written(tree) or expression  # what the user wrote is safe


def written(tree: exp.Expr) -> Expression | None:
    """A tree as text; None where that would be read as something else."""
    sql = tree.sql(dialect=SparkExpressions)
    read = parse(sql)
    return Expression(sql, columns_of(read)) if read == tree.transform(_as_read) else None


def _as_read(node: exp.Expr) -> exp.Expr:
    """DATE '2020-01-01' is a cast of its own kind, but written as any cast."""
    return exp.TryCast(**node.args) if type(node) is exp.Cast else node


def _asked(tree: exp.Expr) -> exp.Expr:
    """What decides whether a condition is true, where null is as good as false."""
    tree = tree.unnest()
    if _is_null(tree):
        return exp.Boolean(this=False)
    if not isinstance(tree, exp.And | exp.Or):
        return tree
    for name in ("this", "expression"):
        side = _asked(tree.args[name])
        tree.set(name, exp.Paren(this=side) if isinstance(side, exp.Connector) else side)
    return _connected(tree)


def _is_null(node: exp.Expr | None) -> bool:
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    return isinstance(node, exp.Null)


def _is_truth(node: exp.Expr, value: bool) -> bool:
    node = node.unnest()
    return isinstance(node, exp.Boolean) and bool(node.this) == value


def _smaller(node: exp.Expr) -> exp.Expr:
    """The node, or what it comes to where operands are null, true or false."""
    match node:
        case exp.And() | exp.Or():
            return _connected(node)
        case exp.Not():
            if isinstance(node.this.unnest(), exp.Boolean):
                return exp.Boolean(this=_is_truth(node.this, False))
            return exp.Null() if _is_null(node.this) else node
        case exp.Is() if _is_null(node.this) and isinstance(node.expression, exp.Null):
            return exp.Boolean(this=True)
        case exp.Is() if _is_null(node.this) and isinstance(node.expression, exp.Boolean):
            return exp.Boolean(this=False)
        case exp.Between() | exp.In() if _is_null(node.this):
            return exp.Null()
        case exp.If() if node.parent is None or not isinstance(node.parent, exp.Case):
            return _branched(node)
        case _ if isinstance(node, _STRICT):
            is_null = _is_null(node.this) or _is_null(node.args.get("expression"))
            return exp.Null() if is_null else node
        case _:
            return node


def _connected(node: exp.And | exp.Or) -> exp.Expr:
    decides = isinstance(node, exp.Or)
    left: exp.Expr = node.this
    right: exp.Expr = node.expression
    if _is_truth(left, decides) or _is_truth(right, decides):
        return exp.Boolean(this=decides)
    if _is_truth(left, not decides):
        return right
    if _is_truth(right, not decides):
        return left
    return exp.Null() if _is_null(left) and _is_null(right) else node


def _branched(node: exp.If) -> exp.Expr:
    if _is_null(node.this) or _is_truth(node.this, False):
        otherwise: exp.Expr = node.args.get("false") or exp.Null()
        return otherwise
    then: exp.Expr = node.args["true"]
    return then if _is_truth(node.this, True) else node
