"""Three-valued logic; AND and OR evaluate their right side only where the left one does not decide."""

from __future__ import annotations

import numpy as np

from situ.expressions import types as t
from situ.expressions.evaluate import on_rows, operands, unary
from situ.expressions.node import Node, constant, operation, rows_of
from situ.expressions.vectors import Frame, Mask, Values, Vector, both


def truth(vector: Vector) -> Values:
    """Where a boolean vector is true, not false or null."""
    values, valid = vector
    return values if valid is None else values & valid


def conjunction(left: Node, right: Node) -> Node:
    return _connective(left, right, decides=False)


def disjunction(left: Node, right: Node) -> Node:
    return _connective(left, right, decides=True)


def negation(child: Node) -> Node:
    if child.is_null:
        return constant(t.BOOLEAN, None)
    return unary(t.BOOLEAN, child, lambda values, valid: (~values, valid))


def _connective(left: Node, right: Node, *, decides: bool) -> Node:
    """AND (false decides) or OR (true decides)."""
    combine = np.bitwise_or if decides else np.bitwise_and
    run_left, run_right = operands(left, right)
    lazy = right.raises
    if lazy:
        run_left = rows_of(left)

    def run(frame: Frame) -> Vector:
        left_values, left_valid = run_left(frame)
        if lazy:
            undecided = left_values != decides
            if left_valid is not None:
                undecided |= ~left_valid
            right_values, right_valid = on_rows(right, frame, undecided)
        else:
            right_values, right_valid = run_right(frame)
        if left_valid is None and right_valid is None:
            return combine(left_values, right_values), None
        # A null must not look like an answer that decides.
        left_settles = _where(left_values == decides, left_valid)
        right_settles = _where(right_values == decides, right_valid)
        settled = left_settles | right_settles
        valid = both(left_valid, right_valid)
        assert valid is not None
        return settled == decides, valid | settled

    return operation(t.BOOLEAN, run, left, right)


def _where(values: Values, valid: Mask | None) -> Values:
    return values if valid is None else values & valid


def is_null(child: Node) -> Node:
    run_child = child.run

    def run(frame: Frame) -> Vector:
        _, valid = run_child(frame)
        return (np.zeros(frame.n, np.bool_) if valid is None else ~valid), None

    return operation(t.BOOLEAN, run, child)


def is_truth(child: Node, wanted: bool) -> Node:
    """`child IS TRUE` or `child IS FALSE`: never null."""
    run_child = rows_of(child)

    def run(frame: Frame) -> Vector:
        values, valid = run_child(frame)
        return _where(values if wanted else ~values, valid), None

    return operation(t.BOOLEAN, run, child)
