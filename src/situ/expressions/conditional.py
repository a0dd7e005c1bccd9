"""CASE, COALESCE, LEAST and GREATEST."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.expressions import types as t
from situ.expressions.comparison import smaller
from situ.expressions.decimals import matched
from situ.expressions.evaluate import assemble, on_rows
from situ.expressions.logic import truth
from situ.expressions.node import Node, operation, rows_of
from situ.expressions.vectors import Frame, Mask, Positions, Vector, spread


def case(type_: pa.DataType, branches: Sequence[tuple[Node, Node]], otherwise: Node) -> Node:
    """The value of the first branch whose condition is true; values are of `type_` already."""
    inputs = [node for branch in branches for node in branch] + [otherwise]
    # The first condition is evaluated on every row anyway; all else only where Spark gets that far.
    lazy = any(node.raises for node in inputs[1:])

    def run_all(frame: Frame) -> Vector:
        result = spread(otherwise.run(frame), frame.n)
        for condition, value in reversed(branches):
            chosen = spread((truth(condition.run(frame)), None), frame.n)[0]
            result = choose(type_, chosen, value.run(frame), result, frame.n)
        return result

    def run_needed(frame: Frame) -> Vector:
        pieces: list[tuple[Positions, Vector]] = []
        rows = np.arange(frame.n, dtype=np.int64)
        for condition, value in branches:
            rest = frame.only(rows)
            chosen = spread((truth(condition.run(rest)), None), rest.n)[0]
            hit = rows[chosen]
            pieces.append((hit, value.run(frame.only(hit))))
            rows = rows[~chosen]
        pieces.append((rows, otherwise.run(frame.only(rows))))
        return assemble(type_, frame.n, pieces)

    return operation(type_, run_needed if lazy else run_all, *inputs)


def coalesce(type_: pa.DataType, choices: Sequence[Node]) -> Node:
    """The first choice that is not null."""
    lazy = any(node.raises for node in choices[1:])
    runs = [rows_of(node) for node in choices]

    def run(frame: Frame) -> Vector:
        result = runs[0](frame)
        for choice, run_choice in zip(choices[1:], runs[1:], strict=True):
            valid = result[1]
            if valid is None or valid.all():
                break
            other = on_rows(choice, frame, ~valid) if lazy else run_choice(frame)
            result = choose(type_, valid, result, other, frame.n)
        return result

    return operation(type_, run, *choices)


def choose(type_: pa.DataType, first: Mask, a: Vector, b: Vector, n: int) -> Vector:
    """`a` where `first`, else `b`."""
    (a_values, a_valid), (b_values, b_valid) = a, b
    if type_ in (t.STRING, t.BINARY):
        values = pc.if_else(pa.array(first), a_values, b_values)
    else:
        if t.is_decimal(type_):
            a_values, b_values = matched(a_values, b_values)
        values = np.where(first, a_values, b_values)
    if a_valid is None and b_valid is None:
        return values, None
    a_known = True if a_valid is None else a_valid
    b_known = True if b_valid is None else b_valid
    return values, np.where(first, a_known, b_known)


def extreme(type_: pa.DataType, choices: Sequence[Node], *, greatest: bool) -> Node:
    """LEAST or GREATEST: nulls are skipped, of equal values the first is kept."""
    before = smaller(type_)
    runs = [rows_of(node) for node in choices]

    def run(frame: Frame) -> Vector:
        best = runs[0](frame)
        for run_choice in runs[1:]:
            other = run_choice(frame)
            a, b = (best[0], other[0]) if greatest else (other[0], best[0])
            better = before(*matched(a, b)) if t.is_decimal(type_) else before(a, b)
            if other[1] is not None:
                better = better & other[1]
            if best[1] is not None:
                better = better | ~best[1]
            best = choose(type_, better, other, best, frame.n)
        return best

    return operation(type_, run, *choices)
