"""A typed, compiled piece of an expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from situ.errors import ExpressionError
from situ.expressions import types as t
from situ.expressions.vectors import Frame, Values, Vector, nulls, spread, to_arrow

Run: TypeAlias = Callable[[Frame], Vector]


@dataclass(frozen=True)
class Node:
    """`run` computes the rows of a frame. `raises`: some values make it fail, so it must not be run on
    rows Spark would not evaluate. `constant`: it reads no column. `literal`: it was written as a literal,
    which Spark types more tightly beside decimals. `value`: the value of a folded constant."""

    type: pa.DataType
    run: Run
    raises: bool = False
    constant: bool = False
    literal: bool = False
    value: Values = None

    @property
    def is_null(self) -> bool:
        """A constant known to be null."""
        return self.constant and self.value is None and not self.raises

    @property
    def folded(self) -> bool:
        """A constant whose value is known and not null."""
        return self.constant and self.value is not None


def constant(type_: pa.DataType, value: Values, *, literal: bool = False) -> Node:
    """A constant; numbers as numpy scalars, decimals as Python integers (unscaled), strings as text."""
    if value is None:
        return Node(type_, lambda frame: nulls(type_, frame.n), constant=True, literal=literal)
    scalar: Values
    if type_ == t.STRING:
        scalar = pa.scalar(value, t.STRING)
    elif t.is_decimal(type_):
        scalar = value = int(value)
    else:
        scalar = value = t.dtype_of(type_).type(value)
    vector = (scalar, None)
    return Node(type_, lambda frame: vector, constant=True, literal=literal, value=value)


def operation(type_: pa.DataType, run: Run, *inputs: Node, raises: bool = False) -> Node:
    """A node computed from others; computed here and now when all of them are constants."""
    is_constant = all(node.constant for node in inputs)
    node = Node(type_, run, raises or any(node.raises for node in inputs), is_constant)
    return fold(node) if is_constant else node


def fold(node: Node) -> Node:
    """A constant node with its value; as it was where computing it fails, for it may never be evaluated."""
    try:
        with np.errstate(all="ignore"):
            vector = spread(node.run(Frame((), (), 1)), 1)
    except ExpressionError:
        return node
    values, valid = vector
    if valid is not None and not valid[0]:
        return constant(node.type, None)
    if node.type == t.STRING:
        return constant(node.type, to_arrow(vector, node.type, 1)[0].as_py())
    return constant(node.type, values[0])


def rows_of(node: Node) -> Run:
    """The node's run with constants spread over the rows, for code that needs real arrays."""
    run = node.run
    return (lambda frame: spread(run(frame), frame.n)) if node.constant else run


def untyped_as(node: Node, type_: pa.DataType) -> Node:
    """A literal NULL as a null of the type; any other node unchanged."""
    return constant(type_, None) if node.type == t.NULL else node
