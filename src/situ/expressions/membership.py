"""IN: true at the first equal item, else null if the value or an item is null, else false."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.expressions import types as t
from situ.expressions.comparison import compare, equality
from situ.expressions.evaluate import on_rows
from situ.expressions.logic import truth
from situ.expressions.node import Node, constant, operation, rows_of
from situ.expressions.vectors import Frame, Values, Vector, read_boolean

_SEARCH_THRESHOLD = 16  # from here on one sorted search beats one comparison per item


def member(value: Node, items: Sequence[Node]) -> Node:
    """`value IN (items)`, all of one type."""
    if value.is_null or all(item.is_null for item in items):
        return constant(t.BOOLEAN, None)
    if all(item.folded or item.is_null for item in items):
        return _among_constants(value, [i for i in items if i.folded], any(i.is_null for i in items))
    return _among_expressions(value, items)


def _among_constants(value: Node, items: Sequence[Node], has_null: bool) -> Node:
    contains = _lookup(value, items)
    run_value = rows_of(value)

    def run(frame: Frame) -> Vector:
        values, valid = run_value(frame)
        found = contains(values)
        if has_null:
            return found, found if valid is None else found & valid
        return found, valid

    return operation(t.BOOLEAN, run, value)


def _lookup(value: Node, items: Sequence[Node]) -> Callable[[Values], Values]:
    if value.type == t.STRING:
        known = pa.array([item.value for item in items], t.STRING)
        return lambda values: read_boolean(pc.is_in(values, value_set=known))[0]
    if len(items) > _SEARCH_THRESHOLD and not t.is_float(value.type) and not t.is_decimal(value.type):
        numbers = np.array([item.value for item in items], t.dtype_of(value.type))
        return lambda values: np.isin(values, numbers)
    tests = [(equality(value, item), item.value) for item in items]

    def any_equal(values: Values) -> Values:
        found = np.zeros(len(values), np.bool_)
        for equal, number in tests:
            found |= equal(values, number)
        return found

    return any_equal


def _among_expressions(value: Node, items: Sequence[Node]) -> Node:
    """Items are evaluated in turn, each on the rows where no earlier one was equal."""
    run_value = rows_of(value)
    tests = [compare("=", value, item) for item in items]

    def run(frame: Frame) -> Vector:
        _, valid = run_value(frame)
        known = np.ones(frame.n, np.bool_) if valid is None else valid.copy()
        open_rows = known.copy()
        found = np.zeros(frame.n, np.bool_)
        for test in tests:
            vector = on_rows(test, frame, open_rows)
            hit = truth(vector) & open_rows
            found |= hit
            open_rows &= ~hit
            if vector[1] is not None:
                known &= vector[1] | ~open_rows
        return found, None if known.all() else known | found

    return operation(t.BOOLEAN, run, value, *items)
