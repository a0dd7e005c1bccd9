"""Aggregates of the rows of a candidate, by depth: entered and left with each row (WIN 5.5)."""

import math

import numpy as np

from situ.compiled.jit import inlined, kernel
from situ.operators.rowpattern.kernels.exact import add, clear, rounded
from situ.operators.rowpattern.kernels.layout import FAILED, NULL, VALID

# Functions. Those of ints hold sums as two numbers, of the low 32 bits of values and of the others.
ROWS, COUNT, SUM_INT, AVERAGE_INT, SUM_FLOAT, AVERAGE_FLOAT, VARIANCE, DEVIATION = 0, 1, 2, 3, 4, 5, 6, 7
LEAST_INT, GREATEST_INT, LEAST_FLOAT, GREATEST_FLOAT = 8, 9, 10, 11

# Fields of an aggregate: its function; its group; the column, of `ints` or `floats`; where it counts values
# and where it holds what it has of them, among the slots; its exact sum. A variance has a second one.
FUNCTION, GROUP, COLUMN, IS_FLOAT, COUNTED, HELD, EXACT = 0, 1, 2, 3, 4, 5, 6
N_FIELDS = 7

_RAISED = 1 << 40  # added to the count of values by one that raised
_LOW = 0xFFFFFFFF


@kernel
def state_at(aggregate, k, rows, row):
    """The state of the value that a row has for an aggregate."""
    column = aggregate[k, COLUMN]
    return rows.float_state[column, row] if aggregate[k, IS_FLOAT] else rows.int_state[column, row]


@kernel
def float_at(aggregate, k, rows, row):
    """That value as a float."""
    column = aggregate[k, COLUMN]
    return rows.floats[column, row] if aggregate[k, IS_FLOAT] else np.float64(rows.ints[column, row])


@inlined
def enter(programs, rows, path, depth):
    """Take the row at this depth into what is known of the rows before it."""
    member, count = programs.member, path.count
    variable = path.variable[depth]
    for group in range(member.shape[0]):
        before = count[group, depth - 1] if depth > 0 else 0
        count[group, depth] = before + member[group, variable]
    if programs.aggregate.shape[0] > 0:
        _enter_aggregates(programs, rows, path, depth)


@inlined
def leave(programs, rows, path, depth):
    """Take back the row at this depth, the last one."""
    if path.exact.shape[0] > 0:
        _leave_sums(programs, rows, path, depth)


@kernel
def _enter_aggregates(programs, rows, path, depth):
    variable, row = path.variable[depth], path.row[depth]
    aggregate = programs.aggregate
    for k in range(aggregate.shape[0]):
        function = aggregate[k, FUNCTION]
        if function == ROWS:
            continue
        found = NULL
        if programs.member[aggregate[k, GROUP], variable]:
            found = state_at(aggregate, k, rows, row)
        counted = aggregate[k, COUNTED]
        n = path.whole[counted, depth - 1] if depth > 0 else 0
        path.whole[counted, depth] = n + 1 if found == VALID else n + _RAISED if found == FAILED else n
        if SUM_INT <= function <= AVERAGE_INT:
            _sum(aggregate, k, rows, path, depth, found == VALID)
        elif function >= LEAST_INT:
            _extreme(aggregate, k, rows, path, depth, found == VALID, n % _RAISED > 0)
        elif function != COUNT and found == VALID:
            add(path.exact[aggregate[k, EXACT]], float_at(aggregate, k, rows, row), 1)


@kernel
def _leave_sums(programs, rows, path, depth):
    variable, row = path.variable[depth], path.row[depth]
    aggregate = programs.aggregate
    for k in range(aggregate.shape[0]):
        if SUM_FLOAT <= aggregate[k, FUNCTION] <= DEVIATION:
            is_there = programs.member[aggregate[k, GROUP], variable]
            if is_there and state_at(aggregate, k, rows, row) == VALID:
                add(path.exact[aggregate[k, EXACT]], float_at(aggregate, k, rows, row), -1)


@kernel
def _sum(aggregate, k, rows, path, depth, is_there):
    held = aggregate[k, HELD]
    low = path.whole[held, depth - 1] if depth > 0 else 0
    high = path.whole[held + 1, depth - 1] if depth > 0 else 0
    if is_there:
        value = rows.ints[aggregate[k, COLUMN], path.row[depth]]
        low += value & _LOW
        high += (value >> 32) + (low >> 32)
        low &= _LOW
    path.whole[held, depth] = low
    path.whole[held + 1, depth] = high


@kernel
def _extreme(aggregate, k, rows, path, depth, is_there, has_one):
    """The least or greatest so far; of nothing it is anything."""
    held, function, column = aggregate[k, HELD], aggregate[k, FUNCTION], aggregate[k, COLUMN]
    row = path.row[depth]
    if function <= GREATEST_INT:
        best = path.whole[held, depth - 1] if depth > 0 else 0
        if is_there:
            value = rows.ints[column, row]
            if not has_one or (value > best if function == GREATEST_INT else value < best):
                best = value
        path.whole[held, depth] = best
    else:
        real = path.real[held, depth - 1] if depth > 0 else 0.0
        if is_there:
            new = rows.floats[column, row]
            x, y = (real, new) if function == GREATEST_FLOAT else (new, real)
            if not has_one or (x < y) | ((y != y) & (x == x)):
                real = new
        path.real[held, depth] = real


@kernel
def whole_aggregate(programs, k, path, depth, raises):
    """State and value of an aggregate that is an int."""
    aggregate = programs.aggregate
    function = aggregate[k, FUNCTION]
    if function == ROWS:
        return VALID, path.count[aggregate[k, GROUP], depth]
    n = path.whole[aggregate[k, COUNTED], depth]
    if n >= _RAISED:
        return FAILED, np.int64(0)
    if function == COUNT:
        return VALID, n
    if n == 0:
        return NULL, np.int64(0)
    held = aggregate[k, HELD]
    if function != SUM_INT:
        return VALID, path.whole[held, depth]
    low, high = path.whole[held, depth], path.whole[held + 1, depth]
    if raises and not -(1 << 31) <= high < 1 << 31:
        return FAILED, np.int64(0)
    return VALID, (high << 32) + low


@kernel
def real_aggregate(programs, k, rows, path, depth):
    """State and value of an aggregate that is a float."""
    aggregate = programs.aggregate
    function = aggregate[k, FUNCTION]
    n = path.whole[aggregate[k, COUNTED], depth]
    if n >= _RAISED:
        return FAILED, 0.0
    if n == 0 or (n == 1 and VARIANCE <= function <= DEVIATION):
        return NULL, 0.0
    held = aggregate[k, HELD]
    if function == AVERAGE_INT:
        return VALID, (path.whole[held + 1, depth] * 4294967296.0 + path.whole[held, depth]) / n
    if function >= LEAST_FLOAT:
        return VALID, path.real[held, depth]
    total = rounded(path.exact[aggregate[k, EXACT]])
    if function == SUM_FLOAT:
        return VALID, total
    if function == AVERAGE_FLOAT:
        return VALID, total / n
    variance = _squares(programs, k, rows, path, depth, total / n) / (n - 1)
    return VALID, variance if function == VARIANCE else math.sqrt(variance)


@kernel
def _squares(programs, k, rows, path, depth, average):
    """The sum of the squares of how far values are from their average. O(depth)."""
    aggregate = programs.aggregate
    words = path.exact[aggregate[k, EXACT] + 1]
    clear(words)
    for at in range(depth + 1):
        if programs.member[aggregate[k, GROUP], path.variable[at]]:
            row = path.row[at]
            if state_at(aggregate, k, rows, row) == VALID:
                apart = float_at(aggregate, k, rows, row) - average
                add(words, apart * apart, 1)
    return rounded(words)
