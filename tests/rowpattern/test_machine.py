"""The machine against `situ.expressions`: what reads a row and its neighbours, both must say the same of."""

from __future__ import annotations

import datetime as dt
import decimal
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rowpattern.asking import expression, ordered
from situ.carry.contract import Setting
from situ.errors import UnsupportedExpressionError
from situ.language.text.nodes import Expression
from situ.operators.rowpattern.assemble import assemble
from situ.operators.rowpattern.kernels import machine
from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.kernels.exact import WORDS
from situ.operators.rowpattern.kernels.layout import Path, Rows
from situ.operators.rowpattern.kernels.operate import whole
from situ.operators.rowpattern.lines import LineReader
from situ.operators.rowpattern.nulls import replaced
from situ.operators.rowpattern.programs import Writer
from situ.operators.rowpattern.reads import OfRow
from situ.operators.rowpattern.vectors import Bounds, VectorTest

TYPES = {
    "b": pa.bool_(),
    "i8": pa.int8(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    "dec": pa.decimal128(7, 2),
    "s": pa.string(),
    "d": pa.date32(),
    "ts": pa.timestamp("us", tz="UTC"),
}
SCHEMA = pa.schema(list(TYPES.items()))
READS = {
    f"_read_{2 * k + (shift > 0)}": OfRow(expression(name), shift)
    for k, name in enumerate(TYPES)
    for shift in (-1, 1)
}
INTS = [0, 1, -1, 2, 7, 100, 127, -128]
VALUES = {
    "b": [True, False],
    "i8": INTS,
    "i32": [*INTS, 2**31 - 1, -(2**31)],
    "i64": [*INTS, 2**63 - 1, -(2**63), 2**53 + 1],
    "f32": [0.0, -0.0, 1.5, -2.0, math.nan, math.inf, 3.0e38],
    "f64": [0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf, 1e300, 127.9, 2.0**63],
    "dec": [decimal.Decimal(text) for text in ("0.00", "1.50", "-99999.99", "2.00")],
    "s": ["", "a", "b", "B", "\u00e9"],
    "d": [dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(1969, 12, 31)],
    "ts": [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 1), dt.datetime(1969, 12, 31, 23)],
}


def _names(*kinds: str) -> list[str]:
    """Columns of these types, of the row and of the rows before and behind it."""
    reads = [name for kind in kinds for name, read in READS.items() if read.expression.sql == kind]
    return [*kinds, *reads]


integers = st.sampled_from(
    [*_names("i8", "i32", "i64"), "1", "0", "-1", "100", "9223372036854775807", "NULL"]
)
floats = st.sampled_from([*_names("f32", "f64"), "1.5E0", "0E0", "CAST('NaN' AS DOUBLE)", "CAST(2 AS FLOAT)"])
decimals = st.sampled_from([*_names("dec"), "0.5", "1.00", "-99999.99"])
strings = st.sampled_from([*_names("s"), "'a'", "'zz'", "''", "NULL", "upper(s)", "upper(_read_14)"])
dates = st.sampled_from([*_names("d"), "DATE '2020-01-01'"])
stamps = st.sampled_from([*_names("ts"), "TIMESTAMP '2020-01-01 00:00:00'"])
spans = st.one_of(
    st.tuples(stamps, stamps).map(lambda two: f"({two[0]} - {two[1]})"),
    st.tuples(dates, dates).map(lambda two: f"({two[0]} - {two[1]})"),
    st.sampled_from(["INTERVAL '1' SECOND", "INTERVAL '1' DAY"]),
)


def _numbers(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "%", "DIV"]), inner).map(
            lambda o: f"({o[0]} {o[1]} {o[2]})"
        ),
        inner.map(lambda one: f"(-({one}))"),
        inner.map(lambda one: f"abs({one})"),
        two.map(lambda o: f"coalesce({o[0]}, {o[1]})"),
        two.map(lambda o: f"greatest({o[0]}, {o[1]})"),
        two.map(lambda o: f"least({o[0]}, {o[1]})"),
        two.map(lambda o: f"nullif({o[0]}, {o[1]})"),
        st.tuples(inner, st.sampled_from(["TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE"])).map(
            lambda o: f"CAST({o[0]} AS {o[1]})"
        ),
        st.tuples(simple, inner, inner).map(lambda o: f"CASE WHEN {o[0]} THEN {o[1]} ELSE {o[2]} END"),
        st.tuples(simple, inner, inner).map(lambda o: f"IF({o[0]}, {o[1]}, {o[2]})"),
    )


def _compared(kind: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    op = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"])
    return st.one_of(
        st.tuples(kind, op, kind).map(lambda o: f"{o[0]} {o[1]} {o[2]}"),
        st.tuples(kind, kind, kind).map(lambda o: f"{o[0]} BETWEEN {o[1]} AND {o[2]}"),
        st.tuples(kind, st.lists(kind, min_size=1, max_size=3)).map(
            lambda o: f"{o[0]} IN ({', '.join(o[1])})"
        ),
        kind.map(lambda one: f"{one} IS NULL"),
        kind.map(lambda one: f"{one} IS NOT NULL"),
    )


simple = st.one_of(st.sampled_from([*_names("b"), "TRUE"]), _compared(integers), _compared(strings))
numbers = st.recursive(st.one_of(integers, floats, decimals), _numbers, max_leaves=5)
atoms = st.one_of(simple, *map(_compared, (numbers, strings, dates, stamps, spans)))


def _connected(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda o: f"({o[0]}) {o[1]} ({o[2]})"),
        inner.map(lambda one: f"NOT ({one})"),
        inner.map(lambda one: f"({one}) IS TRUE"),
        inner.map(lambda one: f"({one}) IS NOT FALSE"),
    )


conditions = st.recursive(atoms, _connected, max_leaves=4)
rows = st.lists(
    st.fixed_dictionaries(
        {name: st.one_of(st.none(), st.sampled_from(values)) for name, values in VALUES.items()}
    ),
    min_size=1,
    max_size=6,
)


def _truths(sql: str, table: pa.Table, setting: Setting, *, lifts: bool) -> list[int] | None:
    """By the machine; None for a condition that is not for it."""
    condition, reads = _read(sql)
    writer = Writer(SCHEMA, setting, ("A",))
    try:
        out = assemble(writer, condition, reads, lifts=lifts).register
    except UnsupportedExpressionError:
        return None
    writer.finish()
    n = table.num_rows
    lines = LineReader(writer.ints, writer.floats, writer.texts)(ordered(table).columns, n)
    found = np.empty((1, n), np.uint8)
    rows = Rows(np.arange(n), found, *lines)
    low, high = np.array([0]), np.array([n])
    with np.errstate(all="ignore"):
        machine.test_rows(
            writer.programs(), 0, np.array([out]), rows, _registers(writer.n_registers), low, high, found
        )
    verdicts: list[int] = found[0].tolist()
    return verdicts


def _registers(n: int) -> Path:
    """A path of nothing else."""
    row, none = np.empty(1, np.int64), np.empty((0, 1), np.int64)
    registers = (np.zeros((n, machine.BLOCK), kind) for kind in (np.int64, np.float64, np.uint8))
    return Path(row, row.copy(), none, none, np.empty((0, 1)), np.zeros((0, WORDS), np.int64), *registers)


def _read(sql: str) -> tuple[Expression, list[OfRow]]:
    """The condition over `_read_<i>` that are numbered as they come."""
    written = expression(sql)
    used = [name for name in written.columns if name in READS]
    texts = {name: f"_read_{i}" for i, name in enumerate(used)}
    return replaced(written, texts), [READS[name] for name in used]


@settings(max_examples=400)
@given(conditions, rows, st.booleans(), st.sampled_from(["UTC", "Europe/Berlin"]), st.booleans())
@example("i64 % -1 = 0", [dict.fromkeys(TYPES) | {"i64": -(2**63)}], True, "UTC", False)
@example("i64 DIV -1 = 0", [dict.fromkeys(TYPES) | {"i64": -(2**63)}], True, "UTC", False)
@example("i64 * -1 > 0", [dict.fromkeys(TYPES) | {"i64": -(2**63)}], True, "UTC", False)
def test_the_machine_says_what_expressions_say(sql, drawn, ansi, zone, lifts):
    setting = Setting(ansi=ansi, time_zone=zone)
    table = pa.Table.from_pylist(drawn, SCHEMA)
    condition, reads = _read(sql)
    try:
        vector = VectorTest(condition, reads, SCHEMA, "the condition of A", setting)
    except UnsupportedExpressionError:
        return
    n = table.num_rows
    found = _truths(sql, table, setting, lifts=lifts)
    if found is not None:
        bounds = Bounds(np.array([0]), np.array([n]))
        assert found == vector(ordered(table).columns, bounds).tolist(), sql


@pytest.mark.parametrize(
    "sql",
    [
        "f64 < _read_10",
        "i32 + _read_4 > 3 AND s = _read_14",
        "ts - _read_18 > INTERVAL '1' SECOND",
        "dec - _read_12 > 0.5",
        "d - _read_16 < INTERVAL '1' DAY",
        "upper(s) = upper(_read_14)",
        "f64 / _read_10 > 1",
        "coalesce(_read_14, 'a') < s",
        "i64 IN (_read_6, _read_7, 3)",
        "CASE WHEN b THEN f64 ELSE _read_10 END BETWEEN 0 AND i32",
        "CAST(dec AS DOUBLE) > _read_10",
        "length(coalesce(_read_14, 'abc')) > i32",
    ],
)
@pytest.mark.parametrize("lifts", [True, False])
def test_what_the_machine_can_do(sql, lifts):
    table = pa.Table.from_pylist([dict.fromkeys(TYPES)], SCHEMA)
    assert _truths(sql, table, Setting(), lifts=lifts) is not None


def test_functions_across_rows_are_refused():
    table = pa.Table.from_pylist([dict.fromkeys(TYPES)], SCHEMA)
    assert _truths("concat(s, _read_14) = 'a'", table, Setting(), lifts=True) is None


EDGES = [0, 1, 2, 3, 95, 2**31, 2**32 - 1, 3037000499, 3037000500, 2**60, 2**62, 2**63 - 1]


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_results_beyond_64_bits_raise_compiled_too(op):
    """Compiled code may take for granted that signed results do not wrap around, also in a look at them."""
    sides = sorted({sign * edge + off for edge in EDGES for sign in (1, -1) for off in (-1, 0, 1)})
    sides = [side for side in sides if -(2**63) <= side < 2**63]
    code = {"+": do.ADD_INT, "-": do.SUBTRACT_INT, "*": do.MULTIPLY_INT}[op]
    for x in sides:
        for y in sides:
            exact = {"+": x + y, "-": x - y, "*": x * y}[op]
            result, is_beyond = whole(code, np.int64(x), np.int64(y), np.int64(64))
            assert is_beyond == (not -(2**63) <= exact < 2**63), (x, y)
            assert is_beyond or result == exact, (x, y)
