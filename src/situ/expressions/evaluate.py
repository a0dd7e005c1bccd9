"""Evaluating operands in Spark's order, only on the rows where Spark evaluates them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from situ.expressions import types as t
from situ.expressions.node import Node, Run, operation, rows_of
from situ.expressions.vectors import Frame, Mask, Positions, Values, Vector, both, nulls, spread

# (left values, right values, rows where both are valid) -> (values, valid)
Kernel: TypeAlias = Callable[[Values, Values, Mask | None], Vector]


def assemble(type_: pa.DataType, n: int, pieces: Sequence[tuple[Positions, Vector]]) -> Vector:
    """One vector of `n` rows from vectors of disjoint rows; rows in no piece are null."""
    pieces = [(rows, spread(vector, len(rows))) for rows, vector in pieces]
    valid = np.zeros(n, np.bool_)
    for rows, (_, piece_valid) in pieces:
        valid[rows] = True if piece_valid is None else piece_valid
    if type_ in (t.STRING, t.BINARY):
        order = np.full(n, -1, np.int64)
        start = 0
        for rows, _ in pieces:
            order[rows] = np.arange(start, start + len(rows))
            start += len(rows)
        joined = pa.concat_arrays([pa.array([], type_), *(values.cast(type_) for _, (values, _) in pieces)])
        return joined.take(pa.array(order, mask=order < 0)), valid
    out, _ = nulls(type_, n)
    for rows, (values, _) in pieces:
        if values.dtype == np.object_ and out.dtype != np.object_:
            out = out.astype(np.object_)
        out[rows] = values
    return out, None if valid.all() else valid


def on_rows(node: Node, frame: Frame, wanted: Mask | None) -> Vector:
    """The node evaluated on the wanted rows only; null elsewhere."""
    if wanted is None or wanted.all():
        return node.run(frame)
    rows = np.flatnonzero(wanted)
    return assemble(node.type, frame.n, [(rows, node.run(frame.only(rows)))])


def operands(left: Node, right: Node) -> tuple[Run, Run]:
    """Runs of two operands of which at least one gives an array."""
    return (rows_of(left) if right.constant else left.run), right.run


def null_in_null_out(
    type_: pa.DataType, left: Node, right: Node, kernel: Kernel, *, raises: bool = False
) -> Node:
    """A binary operator that is null where an operand is; like Spark's, it leaves its right operand
    unevaluated where the left one is null."""
    run_left, run_right = operands(left, right)

    def run(frame: Frame) -> Vector:
        left_values, left_valid = run_left(frame)
        right_values, right_valid = run_right(frame)
        return kernel(left_values, right_values, both(left_valid, right_valid))

    def run_guarded(frame: Frame) -> Vector:
        left_values, left_valid = run_left(frame)
        right_values, right_valid = on_rows(right, frame, left_valid)
        return kernel(left_values, right_values, both(left_valid, right_valid))

    return operation(type_, run_guarded if right.raises else run, left, right, raises=raises)


def unary(
    type_: pa.DataType, child: Node, kernel: Callable[[Values, Mask | None], Vector], *, raises: bool = False
) -> Node:
    """An operator of one operand, null where it is null."""
    run_child = rows_of(child)
    return operation(type_, lambda frame: kernel(*run_child(frame)), child, raises=raises)
