"""Programs while they are written: registers, constants, columns, groups and aggregates that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from situ.carry.contract import Setting
from situ.errors import UnsupportedConditionError
from situ.expressions import Compiled, compile_expression
from situ.expressions import types as t
from situ.language.rows.ast import CLASSIFIER_COLUMN
from situ.language.text.nodes import Expression
from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.kernels.aggregates import DEVIATION, N_FIELDS, ROWS, SUM_FLOAT
from situ.operators.rowpattern.kernels.layout import Programs
from situ.operators.rowpattern.reads import OfFirst, OfPath, OfRow

_LARGEST = (1 << 63) - 1


class Place(NamedTuple):
    """Which row is read: operands b, c and d of a load."""

    base: int = do.HERE
    offset: int = 0
    shift: int = 0


HERE = Place()


class Operand(NamedTuple):
    """A register, and the type of what it holds."""

    register: int
    type: pa.DataType


class Column(NamedTuple):
    """What a line of the rows' `ints` or `floats` is computed of."""

    compiled: Compiled
    type: pa.DataType


class Mark(NamedTuple):
    """How much had been written."""

    code: int
    ints: int
    floats: int


class Writer:
    """Everything that the programs of one query share, and the program that is being written."""

    def __init__(self, schema: pa.Schema, setting: Setting, variables: Sequence[str]) -> None:
        self.schema = schema
        self.ansi, self.time_zone = setting.ansi, setting.time_zone
        self.variables = tuple(variables)
        self.ints: list[Column] = []
        self.floats: list[Column] = []
        self.texts = list(variables)  # what programs name; a variable's text has its number
        self.groups: list[tuple[str, ...]] = []
        self.aggregates: list[tuple[int, ...]] = []
        self.n_slots = self.n_exact = self.n_registers = 0
        self.has_wide = False  # are there numbers of more digits than 64 bits hold for sure
        self._columns: dict[str, tuple[int, pa.DataType]] = {}
        self._int_constants: list[int] = []
        self._float_constants: list[float] = []
        self._code: list[tuple[int, ...]] = []
        self._begin = [0]

    # One program

    def finish(self) -> None:
        """The program is whole; what follows is another one."""
        self._begin.append(len(self._code))

    def mark(self) -> Mark:
        """Where the program is now."""
        return Mark(len(self._code), len(self.ints), len(self.floats))

    def take_back(self, mark: Mark) -> None:
        """Forget what was written since, and the columns it needed."""
        del self._code[mark.code :], self.ints[mark.ints :], self.floats[mark.floats :]
        for sql, (line, type_) in list(self._columns.items()):
            if line >= (mark.floats if t.is_float(type_) else mark.ints):
                del self._columns[sql]

    def write(self, op: int, type_: pa.DataType, a: int = 0, b: int = 0, c: int = 0, d: int = 0) -> Operand:
        """An instruction, or the register that has its value already."""
        self.has_wide |= _is_wide(type_)
        for written in self._code[self._begin[-1] :]:
            if written[0] == op and written[2:] == (a, b, c, d):
                return Operand(written[1], type_)
        out = len(self._code) - self._begin[-1]
        self.n_registers = max(self.n_registers, out + 1)
        self._code.append((op, out, a, b, c, d))
        return Operand(out, type_)

    def end_with(self, result: Operand) -> None:
        """The program is whole, and comes to what its last instruction gives."""
        if self._code[-1][1] != result.register:
            self.write(do.COALESCE, result.type, result.register, result.register)
        self.finish()

    # Values

    def nothing(self, type_: pa.DataType) -> Operand:
        """A null."""
        return self.write(do.NOTHING, type_)

    def constant(self, type_: pa.DataType, value: Any) -> Operand:
        """A constant as nodes of expressions hold it."""
        if type_ == t.STRING:
            return self.write(do.TEXT, type_, _place_of(str(value), self.texts))
        if t.is_float(type_):
            self._float_constants.append(float(value))
            return self.write(do.CONSTANT_FLOAT, type_, len(self._float_constants) - 1)
        check_held(type_, "a constant")
        if not -_LARGEST <= int(value) <= _LARGEST:
            raise UnsupportedConditionError(f"the number {value} beside values of other rows")
        return self.write(do.CONSTANT_INT, type_, _place_of(int(value), self._int_constants))

    def column(self, expression: Expression, place: Place) -> Operand:
        """An expression of the columns of one row, computed of all rows beforehand."""
        line, type_ = self.line_of(expression)
        op = do.LOAD_FLOAT if t.is_float(type_) else do.LOAD_INT
        return self.write(op, type_, line, *place)

    def line_of(self, expression: Expression) -> tuple[int, pa.DataType]:
        """Where an expression stands among `ints` or `floats`, by its type."""
        known = self._columns.get(expression.sql)
        if known is None:
            if CLASSIFIER_COLUMN in expression.columns:
                raise UnsupportedConditionError(
                    "CLASSIFIER beside columns inside of a navigation or aggregate",
                    hint="compare CLASSIFIER(...) outside of it",
                )
            compiled = compile_expression(expression, self.schema, ansi=self.ansi, time_zone=self.time_zone)
            type_ = t.canonical(compiled.type)
            assert type_ is not None
            check_held(type_, expression.sql)
            lines = self.floats if t.is_float(type_) else self.ints
            lines.append(Column(compiled, type_))
            known = self._columns[expression.sql] = len(lines) - 1, type_
        return known

    def group(self, names: tuple[str, ...]) -> int:
        """The number of a set of variables."""
        return _place_of(names, self.groups)

    def place_of(self, read: OfRow | OfFirst | OfPath) -> Place:
        """Which row it is."""
        match read:
            case OfRow(_, shift):
                return Place(do.HERE, 0, shift)
            case OfFirst(_, offset, shift):
                return Place(do.START, offset, shift)
            case OfPath(_, group, is_first, offset, shift):
                return Place(self.group(group), offset if is_first else -1 - offset, shift)

    def classifier(self, place: Place) -> Operand:
        """The variable of a row."""
        return self.write(do.CLASSIFIER, t.STRING, 0, *place)

    def aggregate(self, function: int, group: int, line: int, *, is_float: bool) -> int:
        """The number of an aggregate, and room for what it holds."""
        for number, one in enumerate(self.aggregates):
            if one[:4] == (function, group, line, is_float):
                return number
        counted, held, exact = self.n_slots, self.n_slots + 1, self.n_exact
        if function != ROWS:
            self.n_slots += 3
        if SUM_FLOAT <= function <= DEVIATION:
            self.n_exact += 2
        self.aggregates.append((function, group, line, int(is_float), counted, held, exact))
        return len(self.aggregates) - 1

    def programs(self) -> Programs:
        """All that was written."""
        member = [[name in group for name in self.variables] for group in self.groups]
        return Programs(
            np.array(self._code, np.int64).reshape(len(self._code), 6),
            np.array(self._begin, np.int64),
            np.array(self._int_constants, np.int64),
            np.array(self._float_constants, np.float64),
            np.array(member, np.bool_).reshape(len(self.groups), len(self.variables)),
            np.array(self.aggregates, np.int64).reshape(len(self.aggregates), N_FIELDS),
        )


def check_held(type_: pa.DataType, what: str) -> None:
    """Refuse values that do not fit a register."""
    is_wide = _is_wide(type_)
    if is_wide or type_ in (t.BINARY, t.MONTHS, t.NULL):
        raise UnsupportedConditionError(
            f"{what} of type {t.name_of(type_)}, beside values of other rows,",
            hint="make it a double: 0.8D for a number 0.8, CAST(x AS DOUBLE) for a column"
            if is_wide
            else None,
        )


def _is_wide(type_: pa.DataType) -> bool:
    return t.is_decimal(type_) and bool(type_.precision > t.NARROW_DIGITS)


def _place_of(value: Any, among: list[Any]) -> int:
    if value not in among:
        among.append(value)
    return among.index(value)
