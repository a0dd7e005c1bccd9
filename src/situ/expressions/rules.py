"""Spark's coercions: what the operands of an operator are brought to before it computes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from situ.errors import UnsupportedExpressionError
from situ.expressions import arithmetic, decimal_arithmetic
from situ.expressions import types as t
from situ.expressions.casts import cast
from situ.expressions.coercion import common_type, literal_decimal, wider_number, wider_temporal
from situ.expressions.node import Node, constant, untyped_as
from situ.expressions.spans import time_arithmetic


@dataclass(frozen=True)
class Rules:
    """Coercion and arithmetic under one pair of settings."""

    ansi: bool
    time_zone: str

    def comparable(self, left: Node, right: Node) -> tuple[Node, Node]:
        """Both sides of a comparison, brought to what `compare` takes."""
        left, right = untyped_as(left, right.type), untyped_as(right, left.type)
        if left.type == right.type:
            return _ordered(left), _ordered(right)
        if t.STRING in (left.type, right.type):
            return self._string_beside(left, right)
        if t.is_number(left.type) and t.is_number(right.type):
            if t.is_exact(left.type) and t.is_exact(right.type):
                if t.is_decimal(left.type) or t.is_decimal(right.type):
                    wider_number(literal_decimal(left), literal_decimal(right), ansi=self.ansi)
                return left, right
            return self._both_as(wider_number(left.type, right.type, ansi=self.ansi), left, right)
        if t.is_temporal(left.type) and t.is_temporal(right.type):
            return self._both_as(wider_temporal(left.type, right.type), left, right)
        if t.is_day_time(left.type) and t.is_day_time(right.type):
            return self._both_as(t.INTERVAL, left, right)
        raise UnsupportedExpressionError(f"comparing {t.name_of(left.type)} with {t.name_of(right.type)}")

    def _string_beside(self, left: Node, right: Node) -> tuple[Node, Node]:
        """A string literal beside another type is cast to it, as Spark does."""
        other = right.type if left.type == t.STRING else left.type
        if t.is_float(other) or t.is_decimal(other):
            other = t.DOUBLE
        elif t.is_integral(other) and self.ansi:
            other = t.BIGINT
        return self._both_as(other, left, right)

    def _both_as(self, type_: pa.DataType, left: Node, right: Node) -> tuple[Node, Node]:
        return self.cast(left, type_), self.cast(right, type_)

    def cast(self, node: Node, type_: pa.DataType) -> Node:
        """The node as another type."""
        return cast(node, type_, ansi=self.ansi, time_zone=self.time_zone)

    def arithmetic(self, op: str, left: Node, right: Node) -> Node:
        """`left op right`, with Spark's result type."""
        if op == "/" and left.type == t.NULL and t.is_decimal(right.type):
            return constant(t.DOUBLE, None)  # the other way round it is a decimal
        left, right = untyped_as(left, right.type), untyped_as(right, left.type)
        if t.is_number(left.type) and t.is_number(right.type):
            return self._number_arithmetic(op, left, right)
        special = None
        if op in ("+", "-", "*", "/"):
            special = time_arithmetic(op, left, right, self.cast, self.time_zone)
        if special is None:
            raise UnsupportedExpressionError(f"{t.name_of(left.type)} {op} {t.name_of(right.type)}")
        return special

    def _number_arithmetic(self, op: str, left: Node, right: Node) -> Node:
        ansi = self.ansi
        floating = t.is_float(left.type) or t.is_float(right.type)
        if not floating and (t.is_decimal(left.type) or t.is_decimal(right.type)):
            return self._decimal_arithmetic(op, left, right)
        if op == "/":
            return arithmetic.divide(*self._both_as(t.DOUBLE, left, right), ansi=ansi)
        if op == "div":
            if floating:
                raise UnsupportedExpressionError("div of floating numbers")
            return arithmetic.integral_divide(*self._both_as(t.BIGINT, left, right), ansi=ansi)
        left, right = self._both_as(wider_number(left.type, right.type, ansi=ansi), left, right)
        if op == "%":
            return arithmetic.remainder(left, right, ansi=ansi)
        if op == "pmod":
            return arithmetic.positive_remainder(left, right, ansi=ansi)
        return arithmetic.add_subtract_multiply(op, left, right, ansi=ansi)

    def _decimal_arithmetic(self, op: str, left: Node, right: Node) -> Node:
        ansi = self.ansi
        left_type, right_type = literal_decimal(left), literal_decimal(right)
        left, right = self.cast(left, left_type), self.cast(right, right_type)
        if op in ("+", "-"):
            return decimal_arithmetic.add_subtract(op, left, right, ansi=ansi)
        if op == "*":
            return decimal_arithmetic.multiply(left, right, ansi=ansi)
        if op == "/":
            return decimal_arithmetic.divide(left, right, ansi=ansi)
        if op == "%":
            return decimal_arithmetic.remainder(left, right, ansi=ansi)
        raise UnsupportedExpressionError(f"{op} of decimals")

    def same_type(self, nodes: list[Node], where: str) -> tuple[pa.DataType, list[Node]]:
        """The nodes brought to one type, as in CASE, COALESCE, IN, LEAST and GREATEST."""
        type_ = common_type([node.type for node in nodes], ansi=self.ansi, where=where)
        if type_ == t.NULL or type_ == t.BINARY:
            raise UnsupportedExpressionError(f"{where} over {t.name_of(type_)}")
        return type_, [self.cast(node, type_) for node in nodes]


def _ordered(node: Node) -> Node:
    if node.type == t.NULL:
        return constant(t.BOOLEAN, None)
    if node.type == t.BINARY:
        raise UnsupportedExpressionError("comparing binary")
    return node
