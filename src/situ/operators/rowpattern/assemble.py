"""Conditions as programs of the machine: types and coercions are those of `situ.expressions`.

What an operator cannot do across rows, it may do within one: a part that reads one row only becomes a
column, computed of every row beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import sqlglot.expressions as exp

from situ.errors import ExpressionError, UnsupportedConditionError, UnsupportedExpressionError
from situ.expressions import compile_expression
from situ.expressions import types as t
from situ.expressions.bind import Binder
from situ.expressions.coercion import literal_decimal, wider_number
from situ.expressions.comparison import FLIPPED
from situ.expressions.node import Node
from situ.expressions.temporal import zone_for
from situ.expressions.vectors import loader
from situ.language.text.nodes import Expression
from situ.language.text.words import quote
from situ.operators.rowpattern.arithmetic import (
    cast,
    compared,
    compared_with,
    of_decimals,
    of_numbers,
    of_times,
    signed,
)
from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.nulls import replaced, written
from situ.operators.rowpattern.programs import HERE, Operand, Place, Writer
from situ.operators.rowpattern.reads import (
    Number,
    OfFirst,
    OfPath,
    OfRow,
    Read,
    Running,
    Taken,
    is_classifier,
)
from situ.operators.rowpattern.running import aggregated

_COMPARISONS: Final[dict[type[exp.Expr], str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_ARITHMETIC: Final[dict[type[exp.Expr], str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
}


def read_type(writer: Writer, read: Read) -> pa.DataType:
    """The type of a value that a condition reads."""
    if isinstance(read, Number | Taken):
        return t.BIGINT
    if is_classifier(read):
        return t.STRING
    if isinstance(read, Running):
        mark = writer.mark()
        type_ = aggregated(writer, read).type
        writer.take_back(mark)
        return type_
    return compile_expression(
        read.expression, writer.schema, ansi=writer.ansi, time_zone=writer.time_zone
    ).type


def assemble(writer: Writer, condition: Expression, reads: Sequence[Read], *, lifts: bool) -> Operand:
    """Write the instructions of a condition, and say where its value is.

    `lifts`: it is run often, so all that can be is computed beforehand.
    """
    mark = writer.mark()
    try:
        assembler = _Assembler(writer, reads, lifts)
        result = assembler.value(condition.tree)
        for operand in assembler.eager:
            result = writer.write(do.AFTER, result.type, operand.register, result.register)
        return result
    except UnsupportedExpressionError:
        writer.take_back(mark)
        raise


class _Assembler:
    """Writes one program."""

    def __init__(self, writer: Writer, reads: Sequence[Read], lifts: bool) -> None:
        self.writer = writer
        self.eager: list[Operand] = []
        self._reads = {f"_read_{i}": read for i, read in enumerate(reads)}
        self._lifts = lifts
        self._in_branch = False
        types = [(name, read_type(writer, read)) for name, read in self._reads.items()]
        self._seen = pa.schema([*writer.schema, *(pa.field(*one) for one in types)])
        self._binder = Binder(self._seen, ansi=writer.ansi, time_zone=writer.time_zone)

    def value(self, tree: exp.Expr) -> Operand:
        """The instructions for a tree."""
        tree = tree.unnest()
        node = self._binder.bind(tree)  # type: ignore[arg-type]
        if node.is_null:
            return self.writer.nothing(node.type)
        if node.folded:
            return self.writer.constant(node.type, node.value)
        if isinstance(tree, exp.Column):
            return self._column(tree.name)
        place = self._one_place(tree)
        if place is None:
            return self._operation(tree, node)
        lifts = self._lifts and not node.raises
        mark = self.writer.mark()
        try:
            return self._lifted(tree, place) if lifts else self._operation(tree, node)
        except UnsupportedExpressionError:
            self.writer.take_back(mark)
            return self._operation(tree, node) if lifts else self._lifted(tree, place)

    def value_as(self, tree: exp.Expr, type_: pa.DataType) -> Operand:
        """The same, cast to a type as Spark does by itself."""
        node = self._binder.rules.cast(self._binder.bind(tree.unnest()), type_)  # type: ignore[arg-type]
        if node.is_null:
            return self.writer.nothing(type_)
        if node.folded:
            return self.writer.constant(type_, node.value)
        mark = self.writer.mark()
        try:
            return cast(self.writer, self.value(tree), type_)
        except UnsupportedExpressionError:
            place = self._one_place(tree)
            if place is None:
                raise
            self.writer.take_back(mark)
            return self._lifted(_cast_of(tree, type_), place)

    # Leaves, and what is computed beforehand

    def _column(self, name: str) -> Operand:
        read = self._reads.get(name)
        if read is None:
            return self.writer.column(Expression(quote(name), (name,)), HERE)
        if isinstance(read, Number | Taken):
            return self.writer.write(do.NUMBER if isinstance(read, Number) else do.TAKEN, t.BIGINT)
        if isinstance(read, Running):
            return aggregated(self.writer, read)
        place = self.writer.place_of(read)
        if is_classifier(read):
            return self.writer.classifier(place)
        return self.writer.column(read.expression, place)

    def _one_place(self, tree: exp.Expr) -> Place | None:
        """The row that a tree reads, if it is a single one."""
        places = set()
        for column in tree.find_all(exp.Column):
            read = self._reads.get(column.name)
            if read is None:
                places.add(HERE)
            elif isinstance(read, OfRow | OfFirst | OfPath) and not is_classifier(read):
                places.add(self.writer.place_of(read))
            else:
                return None
        return places.pop() if len(places) == 1 else None

    def _lifted(self, tree: exp.Expr, place: Place) -> Operand:
        """A part that reads one row, as a column."""
        outer = written(tree)
        if outer is None:
            raise UnsupportedConditionError(tree.sql(dialect="spark"))
        texts = {
            name: f"({read.expression.sql})"
            for name, read in self._reads.items()
            if isinstance(read, OfRow | OfFirst | OfPath)
        }
        there = self.writer.column(replaced(outer, texts), place)
        return there if place == HERE else self._or_without_row(outer, there, place)

    def _or_without_row(self, outer: Expression, there: Operand, place: Place) -> Operand:
        """The same where there is such a row; else what it comes to of nulls, which need not be null."""
        compiled = compile_expression(
            outer, self._seen, ansi=self.writer.ansi, time_zone=self.writer.time_zone
        )
        nulls = {name: pa.nulls(1, self._seen.field(name).type) for name in compiled.columns}
        try:
            otherwise = compiled(nulls, 1)
        except ExpressionError:
            raise UnsupportedConditionError(f"{outer.sql}, which fails of nulls,") from None
        if otherwise.null_count:
            return there
        vector = self._constant_of(otherwise, there.type)
        is_row = self.writer.write(do.IS_ROW, t.BOOLEAN, 0, *place)
        return self.writer.write(do.CHOOSE, there.type, is_row.register, there.register, vector.register)

    def _constant_of(self, array: pa.Array, type_: pa.DataType) -> Operand:
        if type_ == t.STRING:
            return self.writer.constant(type_, array[0].as_py())
        values, _ = loader(array.type)(array)
        return self.writer.constant(type_, values[0])

    # Operators

    def _operation(self, tree: exp.Expr, node: Node) -> Operand:
        if type(tree) in _COMPARISONS:
            return self._comparison(_COMPARISONS[type(tree)], tree.this, tree.expression)
        if type(tree) in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[type(tree)], tree, node)
        match tree:
            case exp.And() | exp.Or():
                sides = self.value(tree.this), self.value(tree.expression)
                return self._connected(*sides, decides=isinstance(tree, exp.Or))
            case exp.Not():
                return self._write(do.NOT, t.BOOLEAN, self.value(tree.this))
            case exp.Is():
                return self._is(tree)
            case exp.NullSafeEQ() | exp.NullSafeNEQ():
                return self._null_safe(tree)
            case exp.Between():
                return self._between(tree)
            case exp.In() if tree.expressions:
                return self._in(tree)
            case exp.Neg():
                return signed(self.writer, self.value(tree.this), is_absolute=False)
            case exp.Abs():
                return signed(self.writer, self.value(tree.this), is_absolute=True)
            case exp.Cast():
                return cast(self.writer, self.value(tree.this), node.type)
            case exp.Case() | exp.If():
                return self._case(tree, node.type)
            case exp.Coalesce():
                return self._coalesce(tree, node.type)
            case exp.Nullif():
                return self._nullif(tree, node.type)
            case exp.Greatest() | exp.Least():
                return self._extreme(tree, node.type)
            case exp.Anonymous() if str(tree.this).lower() in ("isnull", "isnotnull"):
                null = self._write(do.IS_NULL, t.BOOLEAN, self.value(tree.expressions[0]))
                is_null = str(tree.this).lower() == "isnull"
                return null if is_null else self._write(do.NOT, t.BOOLEAN, null)
        raise UnsupportedConditionError(
            f"{tree.sql(dialect='spark')}, which reads several rows,",
            hint="only arithmetic, comparisons, logic, CASE, COALESCE, IN and BETWEEN can; "
            "compute the rest as a column first",
        )

    def _write(self, op: int, type_: pa.DataType, *operands: Operand, c: int = 0, d: int = 0) -> Operand:
        a, b = (operands[0].register, operands[-1].register)
        return self.writer.write(op, type_, a, b, c, d)

    def _comparison(self, op: str, left_tree: exp.Expr, right_tree: exp.Expr) -> Operand:
        left, right = self._bound(left_tree), self._bound(right_tree)
        left, right = self._binder.rules.comparable(left, right)
        if left.is_null or right.is_null:
            return self.writer.nothing(t.BOOLEAN)
        if t.is_exact(left.type) and t.is_exact(right.type) and (left.folded or right.folded):
            if left.folded:
                left, right, left_tree, op = right, left, right_tree, FLIPPED[op]
            column = self.value_as(left_tree, left.type)
            found = compared_with(self.writer, op, column, int(right.value), right.type)
            if found is None:
                raise UnsupportedConditionError(f"comparing with {right_tree.sql(dialect='spark')}")
            return found
        sides = self.value_as(left_tree, left.type), self.value_as(right_tree, right.type)
        return compared(self.writer, op, *sides)

    def _bound(self, tree: exp.Expr) -> Node:
        return self._binder.bind(tree.unnest())  # type: ignore[arg-type]

    def _arithmetic(self, op: str, tree: exp.Expr, node: Node) -> Operand:
        writer = self.writer
        left, right = self._bound(tree.this), self._bound(tree.expression)
        if not (t.is_number(left.type) and t.is_number(right.type)):
            are_instants = left.type == right.type == t.TIMESTAMP and op == "-"
            if are_instants and not zone_for(t.TIMESTAMP, writer.time_zone).is_fixed:
                shown = [self.value(_cast_of(side, t.TIMESTAMP_NTZ)) for side in (tree.this, tree.expression)]
                return of_times(writer, op, shown[0], shown[1], node.type)  # of what clocks show
            return of_times(writer, op, self.value(tree.this), self.value(tree.expression), node.type)
        floating = t.is_float(left.type) or t.is_float(right.type)
        if not floating and (t.is_decimal(left.type) or t.is_decimal(right.type)):
            types = literal_decimal(left), literal_decimal(right)
            sides = self.value_as(tree.this, types[0]), self.value_as(tree.expression, types[1])
            return of_decimals(writer, op, *sides, node.type)
        type_ = {"/": t.DOUBLE, "div": t.BIGINT}.get(op)
        if type_ is None:
            type_ = wider_number(left.type, right.type, ansi=writer.ansi)
        return of_numbers(writer, op, self.value_as(tree.this, type_), self.value_as(tree.expression, type_))

    def _connected(self, left: Operand, right: Operand, *, decides: bool) -> Operand:
        return self._write(do.CONNECT, t.BOOLEAN, left, right, c=int(decides))

    def _is(self, tree: exp.Is) -> Operand:
        if isinstance(tree.expression, exp.Null):
            return self._write(do.IS_NULL, t.BOOLEAN, self.value(tree.this))
        return self._write(do.IS_TRUTH, t.BOOLEAN, self.value(tree.this), c=int(bool(tree.expression.this)))

    def _null_safe(self, tree: exp.Binary) -> Operand:
        left, right = self._binder.rules.comparable(self._bound(tree.this), self._bound(tree.expression))
        if left.type != right.type and not (t.is_integral(left.type) and t.is_integral(right.type)):
            raise UnsupportedConditionError(f"{t.name_of(left.type)} <=> {t.name_of(right.type)}")
        sides = self.value_as(tree.this, left.type), self.value_as(tree.expression, right.type)
        same = self._write(do.SAME_FLOAT if t.is_float(left.type) else do.SAME_INT, t.BOOLEAN, *sides)
        return self._write(do.NOT, t.BOOLEAN, same) if isinstance(tree, exp.NullSafeNEQ) else same

    def _common(self, tree: exp.Expr) -> None:
        """Spark computes the operand of BETWEEN and NULLIF before all else, except in a branch."""
        node = self._bound(tree)
        if node.raises and not node.constant and not self._in_branch:
            self.eager.append(self.value(tree))

    def _between(self, tree: exp.Between) -> Operand:
        self._common(tree.this)
        low = self._comparison(">=", tree.this, tree.args["low"])
        return self._connected(low, self._comparison("<=", tree.this, tree.args["high"]), decides=False)

    def _in(self, tree: exp.In) -> Operand:
        trees = [tree.this, *tree.expressions]
        type_ = self._binder.rules.same_type([self._bound(one) for one in trees], "IN")[0]
        value, *items = [self.value_as(one, type_) for one in trees]
        found = compared(self.writer, "=", value, items[0])
        for item in items[1:]:
            found = self._connected(found, compared(self.writer, "=", value, item), decides=True)
        return found

    def _branch(self, tree: exp.Expr, type_: pa.DataType) -> Operand:
        before, self._in_branch = self._in_branch, True
        try:
            return self.value_as(tree, type_)
        finally:
            self._in_branch = before

    def _case(self, tree: exp.Case | exp.If, type_: pa.DataType) -> Operand:
        branches = tree.args["ifs"] if isinstance(tree, exp.Case) else [tree]
        otherwise = tree.args.get("default" if isinstance(tree, exp.Case) else "false") or exp.Null()
        base = tree.this if isinstance(tree, exp.Case) else None
        conditions, values = [], []
        for k, branch in enumerate(branches):
            before, self._in_branch = self._in_branch, self._in_branch or k > 0
            is_met = self.value(branch.this) if base is None else self._comparison("=", base, branch.this)
            self._in_branch = before
            conditions.append(is_met)
            values.append(self._branch(branch.args["true"], type_))
        result = self._branch(otherwise, type_)
        for condition, value in zip(reversed(conditions), reversed(values), strict=True):
            result = self._write(do.CHOOSE, type_, condition, value, c=result.register)
        return result

    def _coalesce(self, tree: exp.Coalesce, type_: pa.DataType) -> Operand:
        result = self.value_as(tree.this, type_)
        for other in tree.expressions:
            result = self._write(do.COALESCE, type_, result, self._branch(other, type_))
        return result

    def _nullif(self, tree: exp.Nullif, type_: pa.DataType) -> Operand:
        self._common(tree.this)
        equal = self._comparison("=", tree.this, tree.expression)
        nothing, value = self.writer.nothing(type_), self.value(tree.this)
        return self._write(do.CHOOSE, type_, equal, nothing, c=value.register)

    def _extreme(self, tree: exp.Greatest | exp.Least, type_: pa.DataType) -> Operand:
        op = do.EXTREME_FLOAT if t.is_float(type_) else do.EXTREME_INT
        result = self.value_as(tree.this, type_)
        for other in tree.expressions:
            greatest = int(isinstance(tree, exp.Greatest))
            result = self._write(op, type_, result, self.value_as(other, type_), c=greatest)
        return result


def _cast_of(tree: exp.Expr, type_: pa.DataType) -> exp.Expr:
    to = exp.DataType.build(t.name_of(type_), dialect="spark")
    return exp.TryCast(this=exp.Paren(this=tree.copy()), to=to)
