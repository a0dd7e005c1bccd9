"""The tests of a pattern, compiled for columns of certain types: what kernels are given of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.contract import Setting
from situ.errors import ExpressionError, SituError, UnsupportedExpressionError
from situ.expressions import compile_condition
from situ.operators.rowpattern.assemble import assemble, read_type
from situ.operators.rowpattern.failed import failure
from situ.operators.rowpattern.found import Ordered
from situ.operators.rowpattern.kernels.edges import edges
from situ.operators.rowpattern.kernels.exact import WORDS
from situ.operators.rowpattern.kernels.layout import FAILED, UNKNOWN, Bytes, Path, Rows
from situ.operators.rowpattern.kernels.machine import BLOCK, test_rows
from situ.operators.rowpattern.lines import LineReader
from situ.operators.rowpattern.programs import Writer
from situ.operators.rowpattern.reads import OfRow
from situ.operators.rowpattern.registers import registers_of
from situ.operators.rowpattern.vectors import Bounds, VectorTest
from situ.rows.prepared import Positions

if TYPE_CHECKING:
    from situ.operators.rowpattern.conditions import ConditionPlan, Test

_REGISTERS = (np.int64, np.float64, np.uint8)  # ints, floats, states


class Conditions:
    """Tests 0..n_truth - 1 have truth in `Rows`; the others are programs, number test - n_truth."""

    def __init__(self, plan: ConditionPlan, schema: pa.Schema, setting: Setting) -> None:
        self.plan = plan
        self.n_truth = sum(kind in ("row", "neighbour") for kind in plan.reads)
        self._schema, self._setting = schema, setting
        self._lag = [(number, lag) for number, lag in enumerate(plan.lag[: self.n_truth]) if lag]
        self._bits = [(number, bit) for number, bit in enumerate(plan.bit) if bit >= 0]
        writer = Writer(schema, setting, plan.automaton.variables)
        for test in plan.tests[self.n_truth :]:
            _check(test, writer)
            result = assemble(writer, test.condition, test.reads, lifts=True)
            writer.end_with(result)
        self._vectors: dict[int, VectorTest] = {}  # tests with functions that no program has
        writer.has_wide = False
        outs = [self._prepared(number, writer) for number in range(self.n_truth)]
        writer.finish()
        self._has_wide = writer.has_wide
        self._run = [number for number, out in enumerate(outs) if out >= 0]
        self._outs = np.array([out for out in outs if out >= 0], np.int64)
        self.programs = writer.programs()
        self.n_groups, self.n_slots, self.n_exact = len(writer.groups), writer.n_slots, writer.n_exact
        self._n_registers = writer.n_registers
        reads = [read for test in plan.tests[self.n_truth :] for read in test.reads]
        self.registers = registers_of(reads, writer.groups, self.programs.aggregate)
        self._lines = LineReader(writer.ints, writer.floats, writer.texts)
        self._plain_programs, self._no_path = tuple(self.programs), tuple(self.path(0))[: -len(_REGISTERS)]

    def _prepared(self, number: int, writer: Writer) -> int:
        """The register of a test of a row and its neighbours; -1 for one that is evaluated elsewhere."""
        test = self.plan.tests[number]
        if self.plan.bit[number] >= 0:
            return -1
        _check(test, writer)
        try:
            return assemble(writer, test.condition, test.reads, lifts=False).register
        except UnsupportedExpressionError:
            self._vectors[number] = self._vector(test)
            return -1

    def _vector(self, test: Test) -> VectorTest:
        around = [read for read in test.reads if isinstance(read, OfRow)]
        return VectorTest(test.condition, around, self._schema, test.name, self._setting)

    @property
    def programmed(self) -> tuple[tuple[int, ...], ...]:
        """The tests of each program: one of its own for each that reads the path, one for all others."""
        alone = [(number,) for number in range(self.n_truth, len(self.plan.tests))]
        return (*alone, tuple(self._run)) if self._run else tuple(alone)

    def path(self, size: int) -> Path:
        """Room for a candidate of so many rows."""
        return Path(
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty((self.n_groups, size), np.int64),
            np.empty((self.n_slots, size), np.int64),
            np.empty((self.n_slots, size)),
            np.zeros((self.n_exact, WORDS), np.int64),
            *self._registers(1),
        )

    def _registers(self, block: int) -> list[npt.NDArray[Any]]:
        """Those of a machine that runs on so many rows at once; each call has its own, for threads."""
        return [np.empty((self._n_registers, block), kind) for kind in _REGISTERS]

    def rows(
        self,
        ordered: Ordered,
        mask: npt.NDArray[np.unsignedinteger],
        low: Positions,
        high: Positions,
        *,
        at_end: bool,
    ) -> Rows:
        """What kernels read of rows; history h begins at `low[h]` and ends before `high[h]`."""
        n = len(ordered.time)
        truth = np.empty((self.n_truth, n), np.uint8)
        rows = Rows(ordered.time, truth, *self._lines(ordered.columns, n))
        if self._run:
            self._run_program(rows, low, high, truth)
            if self._has_wide:
                self._with_all_digits(ordered, Bounds(low, high), truth)
        for number, vector in self._vectors.items():
            truth[number] = vector(ordered.columns, Bounds(low, high))
        for number, bit in self._bits:
            truth[number] = _bit(mask, bit)
        if not at_end:
            for number, lag in self._lag:
                truth[number, edges(low, high, 0, lag)] = UNKNOWN
        return rows

    def _run_program(self, rows: Rows, low: Positions, high: Positions, truth: Bytes) -> None:
        is_all = len(self._run) == self.n_truth
        found = truth if is_all else np.empty((len(self._run), len(rows.time)), np.uint8)
        number = len(self.plan.tests) - self.n_truth
        path = (*self._no_path, *self._registers(min(len(rows.time), BLOCK)))
        test_rows(self._plain_programs, number, self._outs, tuple(rows), path, low, high, found)
        if not is_all:
            truth[self._run] = found

    def _with_all_digits(self, ordered: Ordered, bounds: Bounds, truth: Bytes) -> None:
        """Ask once more, with all their digits, tests that only too many of these can have made raise."""
        for number in self._run:
            if (truth[number] == FAILED).any():
                vector = self._vector(self.plan.tests[number])
                if not vector.can_fail:
                    truth[number] = vector(ordered.columns, bounds)

    def error(self, test: int, ordered: Ordered, row: int, low: int, high: int, path: Path) -> SituError:
        """What a FAILED test of a row says; the row's history is from `low` to before `high`.

        `path` is the one that a test which reads it was asked of.
        """
        of = self.plan.tests[test]
        if test >= self.n_truth:
            return failure(self.programs, test - self.n_truth, path, of.name)
        try:
            self._vector(of).of_row(ordered.columns, Bounds(np.array([low]), np.array([high])), row)
        except ExpressionError as error:
            return ExpressionError(f"in {of.name}, {error.message}", hint=error.hint)
        return ExpressionError(
            f"in {of.name}, a number does not fit 64 bits", hint="make it a double: 0.5D for 0.5"
        )


def _check(test: Test, writer: Writer) -> None:
    """Refuse a condition that is none, or that nothing evaluates."""
    reads = [pa.field(f"_read_{i}", read_type(writer, read)) for i, read in enumerate(test.reads)]
    seen = pa.schema([*writer.schema, *reads])
    compile_condition(test.condition, seen, test.name, ansi=writer.ansi, time_zone=writer.time_zone)


def _bit(mask: npt.NDArray[np.unsignedinteger], bit: int) -> Bytes:
    found: Bytes = ((mask >> mask.dtype.type(bit)) & mask.dtype.type(1)).astype(np.uint8)
    return found
