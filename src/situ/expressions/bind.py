"""From a sqlglot tree to typed nodes: names, types and Spark's coercions."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import sqlglot.expressions as exp

from situ.errors import DataError, UnsupportedExpressionError
from situ.expressions import arithmetic, casing, conditional, dates, literals, logic, maths, rounding, text
from situ.expressions import types as t
from situ.expressions.calendar import extract
from situ.expressions.comparison import compare, null_safe_equal
from situ.expressions.membership import member
from situ.expressions.node import Node, Run, constant, untyped_as
from situ.expressions.refusals import (
    described,
    refuse_predicates,
    refuse_suffixed,
    refuse_ungrouped,
    refuse_unknown,
)
from situ.expressions.rules import Rules
from situ.expressions.spans import negated
from situ.expressions.sql_types import target_type
from situ.expressions.strings import like
from situ.expressions.vectors import Frame, Vector

_COMPARISONS: Final[dict[type[exp.Expression], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ARITHMETIC: Final[dict[type[exp.Expression], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
}


class Binder:
    """Compiles trees against one schema: `columns` are those they read, `eager` is to run before all else."""

    def __init__(self, schema: pa.Schema, *, ansi: bool, time_zone: str) -> None:
        self._schema = schema
        self._ansi = ansi
        self._rules = Rules(ansi, time_zone)
        self._in_branch = False
        self.columns: list[int] = []
        self.eager: list[Run] = []

    @property
    def rules(self) -> Rules:
        return self._rules

    def bind(self, tree: exp.Expression) -> Node:
        if type(tree) in _COMPARISONS:
            return self._comparison(_COMPARISONS[type(tree)], tree)
        if type(tree) in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[type(tree)], tree)
        handler = _HANDLERS.get(type(tree))
        if handler is None:
            raise UnsupportedExpressionError(described(tree))
        build, known = handler
        refuse_unknown(tree, known)
        return build(self, tree)

    # Leaves

    def _column(self, tree: exp.Expression) -> Node:
        name = tree.name
        index = self._find(name)
        type_ = t.canonical(self._schema.field(index).type)
        if type_ is None:
            raise UnsupportedExpressionError(
                f"the column {name!r} of Arrow type {self._schema.field(index).type}"
            )
        if index not in self.columns:
            self.columns.append(index)
        position = self.columns.index(index)
        return Node(type_, lambda frame: frame.column(position))

    def _find(self, name: str) -> int:
        names = self._schema.names
        found = [i for i, other in enumerate(names) if other.lower() == name.lower()]
        if len(found) == 1:
            return found[0]
        if found:
            raise DataError(f"the column {name!r} is ambiguous: there are {[names[i] for i in found]}")
        near = difflib.get_close_matches(name, names, n=1)
        raise DataError(
            f"there is no column {name!r}; there are {names}",
            hint=f"Did you mean {near[0]!r}?" if near else None,
        )

    def _literal(self, tree: exp.Expression) -> Node:
        if tree.is_string:
            return constant(t.STRING, tree.this, literal=True)
        return literals.number(tree.this)

    def _interval(self, tree: exp.Expression) -> Node:
        amount, unit = tree.this, tree.args.get("unit")
        negative = isinstance(amount, exp.Neg)
        if negative:
            amount = amount.this
        if not isinstance(amount, exp.Literal) or not isinstance(unit, exp.Var):
            raise UnsupportedExpressionError(tree.sql(dialect="spark"))
        return literals.interval(f"-{amount.this}" if negative else amount.this, unit.name)

    # Comparison and arithmetic

    def _comparison(self, op: str, tree: exp.Expression) -> Node:
        refuse_unknown(tree, ("this", "expression"))
        refuse_ungrouped(tree)
        left, right = self._rules.comparable(self.bind(tree.this), self.bind(tree.expression))
        return compare(op, left, right)

    def _null_safe(self, tree: exp.Expression) -> Node:
        refuse_ungrouped(tree)
        left, right = self._rules.comparable(self.bind(tree.this), self.bind(tree.expression))
        equal = null_safe_equal(left, right)
        return logic.negation(equal) if isinstance(tree, exp.NullSafeNEQ) else equal

    def _arithmetic(self, op: str, tree: exp.Expression) -> Node:
        refuse_unknown(tree, ("this", "expression", "typed", "safe"))
        refuse_predicates(tree)
        left, right = self.bind(tree.this), self.bind(tree.expression)
        if t.is_decimal(left.type) or t.is_decimal(right.type):
            refuse_suffixed(tree.this)
            refuse_suffixed(tree.expression)
        return self._rules.arithmetic(op, left, right)

    def _negate(self, tree: exp.Expression) -> Node:
        if isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal) and not tree.this.is_string:
            return literals.number(f"-{tree.this.this}")  # Spark reads the sign as part of the literal
        node = self.bind(tree.this)
        if node.type == t.MONTHS or t.is_day_time(node.type):
            return negated(node)
        return arithmetic.negate(_as_number(node, "unary minus"), ansi=self._ansi)

    def _number(self, tree: exp.Expression, where: str) -> Node:
        return _as_number(self.bind(tree), where)

    # Logic

    def _boolean(self, tree: exp.Expression, where: str) -> Node:
        return _as_boolean(self.bind(tree), where)

    def _connective(self, tree: exp.Expression) -> Node:
        conjunctive = isinstance(tree, exp.And)
        word = "AND" if conjunctive else "OR"
        left, right = self._boolean(tree.this, word), self._boolean(tree.expression, word)
        return logic.conjunction(left, right) if conjunctive else logic.disjunction(left, right)

    def _not(self, tree: exp.Expression) -> Node:
        return logic.negation(self._boolean(tree.this, "NOT"))

    def _is(self, tree: exp.Expression) -> Node:
        wanted = tree.expression
        if isinstance(wanted, exp.Null):
            return logic.is_null(self.bind(tree.this))
        if isinstance(wanted, exp.Boolean):
            return logic.is_truth(self._boolean(tree.this, "IS TRUE"), bool(wanted.this))
        raise UnsupportedExpressionError(tree.sql(dialect="spark"))

    def _common(self, tree: exp.Expression) -> Node:
        """The operand of BETWEEN or NULLIF, which Spark computes once, before the expression it stands in and
        on every row, even behind an AND that would have spared it; only in a branch it stays where it is."""
        node = self.bind(tree)
        if self._in_branch or not node.raises or node.constant:
            return node
        key, run = object(), node.run

        def run_shared(frame: Frame) -> Vector:
            return frame.shared(key, run)

        self.eager.append(run_shared)
        return replace(node, run=run_shared)

    def _branch(self, tree: exp.Expression) -> Node:
        """Something Spark may not evaluate at all."""
        before, self._in_branch = self._in_branch, True
        try:
            return self.bind(tree)
        finally:
            self._in_branch = before

    def _between(self, tree: exp.Expression) -> Node:
        value = self._common(tree.this)
        low, high = self.bind(tree.args["low"]), self.bind(tree.args["high"])
        return logic.conjunction(
            compare(">=", *self._rules.comparable(value, low)),
            compare("<=", *self._rules.comparable(value, high)),
        )

    def _in(self, tree: exp.Expression) -> Node:
        nodes = self._rules.same_type([self.bind(item) for item in (tree.this, *tree.expressions)], "IN")[1]
        return member(nodes[0], nodes[1:])

    def _like(self, tree: exp.Expression, escape: str = "\\") -> Node:
        child, pattern = self.bind(tree.this), self.bind(tree.expression)
        child, pattern = untyped_as(child, t.STRING), untyped_as(pattern, t.STRING)
        if child.type != t.STRING or pattern.type != t.STRING:
            raise UnsupportedExpressionError(f"{t.name_of(child.type)} LIKE {t.name_of(pattern.type)}")
        if isinstance(tree, exp.ILike):  # Spark's ILIKE is LIKE of both in lower case
            child, pattern = casing.lower(child), casing.lower(pattern)
        node = like(child, pattern, escape)
        return logic.negation(node) if tree.args.get("negate") else node

    def _escape(self, tree: exp.Expression) -> Node:
        character = tree.expression
        is_like = isinstance(tree.this, exp.Like | exp.ILike)
        if not is_like or not character.is_string or len(character.this) != 1:
            raise UnsupportedExpressionError(tree.sql(dialect="spark"))
        refuse_unknown(tree.this, ("this", "expression", "negate"))
        return self._like(tree.this, character.this)

    # Conditionals and functions

    def _case(self, tree: exp.Expression) -> Node:
        base, ifs, default = tree.this, tree.args["ifs"], tree.args.get("default") or exp.Null()
        for branch in ifs:
            refuse_unknown(branch, ("this", "true"))
        conditions = [self._when(base, branch.this, first=branch is ifs[0]) for branch in ifs]
        branches = [self._branch(value) for value in (*(branch.args["true"] for branch in ifs), default)]
        type_, values = self._rules.same_type(branches, "CASE")
        return conditional.case(type_, list(zip(conditions, values[:-1], strict=True)), values[-1])

    def _when(self, base: exp.Expression | None, condition: exp.Expression, *, first: bool) -> Node:
        bind = self.bind if first else self._branch
        if base is not None:
            return compare("=", *self._rules.comparable(bind(base), bind(condition)))
        if isinstance(condition, exp.Null):
            raise UnsupportedExpressionError("a condition that is the literal NULL")
        return _as_boolean(bind(condition), "a condition")

    def _if(self, tree: exp.Expression) -> Node:
        condition = self._when(None, tree.this, first=True)
        branches = [self._branch(tree.args["true"]), self._branch(tree.args.get("false") or exp.Null())]
        type_, (then, otherwise) = self._rules.same_type(branches, "IF")
        return conditional.case(type_, [(condition, then)], otherwise)

    def _coalesce(self, tree: exp.Expression) -> Node:
        choices = [self.bind(tree.this), *map(self._branch, tree.expressions)]
        return conditional.coalesce(*self._rules.same_type(choices, "COALESCE"))

    def _nullif(self, tree: exp.Expression) -> Node:
        value = self._common(tree.this)
        equal = compare("=", *self._rules.comparable(value, self.bind(tree.expression)))
        return conditional.case(value.type, [(equal, constant(value.type, None))], value)

    def _extreme(self, tree: exp.Expression) -> Node:
        greatest = isinstance(tree, exp.Greatest)
        where = "GREATEST" if greatest else "LEAST"
        if not tree.expressions:
            raise UnsupportedExpressionError(f"{where} of one value")
        type_, nodes = self._rules.same_type(
            [self.bind(item) for item in (tree.this, *tree.expressions)], where
        )
        return conditional.extreme(type_, nodes, greatest=greatest)

    def _abs(self, tree: exp.Expression) -> Node:
        return arithmetic.absolute(self._number(tree.this, "ABS"), ansi=self._ansi)

    def _round(self, tree: exp.Expression) -> Node:
        digits = self.bind(tree.args["decimals"]) if tree.args.get("decimals") else constant(t.INT, 0)
        if not digits.folded or digits.type != t.INT:
            raise UnsupportedExpressionError("ROUND to a number of digits that is not an integer literal")
        return rounding.round_half_up(self._number(tree.this, "ROUND"), int(digits.value), ansi=self._ansi)

    def _floor(self, tree: exp.Expression) -> Node:
        up = isinstance(tree, exp.Ceil)
        return rounding.floor_or_ceil(
            self._number(tree.this, "CEIL" if up else "FLOOR"), up=up, ansi=self._ansi
        )

    def _to(self, tree: exp.Expression) -> Node:
        return self._rules.cast(self.bind(tree.this), target_type(tree.args["to"]))

    def _anonymous(self, tree: exp.Expression) -> Node:
        name = str(tree.this).lower()
        if name in _FUNCTIONS:
            return self._call(name, tree)
        if name not in ("isnull", "isnotnull") or len(tree.expressions) != 1:
            raise UnsupportedExpressionError(described(tree))
        null = logic.is_null(self.bind(tree.expressions[0]))
        return null if name == "isnull" else logic.negation(null)

    def _call(self, name: str, tree: exp.Expression) -> Node:
        build, counts = _FUNCTIONS[name]
        if len(tree.expressions) not in counts:
            raise UnsupportedExpressionError(f"{described(tree)} of {len(tree.expressions)} arguments")
        # The words of units stay words.
        arguments = [one.name if isinstance(one, exp.Var) else self.bind(one) for one in tree.expressions]
        node: Node = build(self._rules, *arguments)
        return node

    def _extract(self, tree: exp.Expression) -> Node:
        return extract(self._rules, tree.this.name, self.bind(tree.expression))


def _as_number(node: Node, where: str) -> Node:
    if not t.is_number(node.type):
        raise UnsupportedExpressionError(f"{where} of {t.name_of(node.type)}")
    return node


def _as_boolean(node: Node, where: str) -> Node:
    node = untyped_as(node, t.BOOLEAN)
    if node.type != t.BOOLEAN:
        raise UnsupportedExpressionError(f"{where} over {t.name_of(node.type)} instead of a boolean")
    return node


_Handler = tuple[Callable[[Binder, Any], Node], tuple[str, ...]]
_BOTH = ("this", "expression")
_LIST = ("this", "expressions")

# Node class -> what binds it, and the arguments that is known to honour.
_HANDLERS: Final[dict[type[exp.Expression], _Handler]] = {
    exp.Paren: (lambda binder, tree: binder.bind(tree.this), ("this",)),
    exp.Column: (Binder._column, ("this",)),
    exp.Literal: (Binder._literal, ("this", "is_string")),
    exp.RawString: (lambda binder, tree: constant(t.STRING, tree.this, literal=True), ("this",)),
    exp.Boolean: (lambda binder, tree: constant(t.BOOLEAN, bool(tree.this), literal=True), ("this",)),
    exp.Null: (lambda binder, tree: constant(t.NULL, None, literal=True), ()),
    exp.Interval: (Binder._interval, ("this", "unit")),
    exp.NullSafeEQ: (Binder._null_safe, _BOTH),
    exp.NullSafeNEQ: (Binder._null_safe, _BOTH),
    exp.Neg: (Binder._negate, ("this",)),
    exp.And: (Binder._connective, _BOTH),
    exp.Or: (Binder._connective, _BOTH),
    exp.Not: (Binder._not, ("this",)),
    exp.Is: (Binder._is, _BOTH),
    exp.Between: (Binder._between, ("this", "low", "high")),
    exp.In: (Binder._in, _LIST),
    exp.Like: (Binder._like, (*_BOTH, "negate")),
    exp.ILike: (Binder._like, (*_BOTH, "negate")),
    exp.Escape: (Binder._escape, _BOTH),
    exp.Case: (Binder._case, ("this", "ifs", "default")),
    exp.If: (Binder._if, ("this", "true", "false")),
    exp.Coalesce: (Binder._coalesce, _LIST),
    exp.Nullif: (Binder._nullif, _BOTH),
    exp.Greatest: (Binder._extreme, (*_LIST, "ignore_nulls")),
    exp.Least: (Binder._extreme, (*_LIST, "ignore_nulls")),
    exp.Abs: (Binder._abs, ("this",)),
    exp.Round: (Binder._round, ("this", "decimals")),
    exp.Floor: (Binder._floor, ("this",)),
    exp.Ceil: (Binder._floor, ("this",)),
    exp.Cast: (Binder._to, ("this", "to")),
    exp.TryCast: (Binder._to, ("this", "to")),
    exp.Extract: (Binder._extract, _BOTH),
    exp.Anonymous: (Binder._anonymous, _LIST),
    **text.HANDLERS,
    **maths.HANDLERS,
}

# Functions sqlglot has no class for.
_FUNCTIONS: Final[dict[str, Any]] = text.FUNCTIONS | maths.FUNCTIONS | dates.FUNCTIONS
