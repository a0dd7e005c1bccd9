"""Spark SQL expressions evaluated in process: exactly Spark's answers, or refused by name (SEM 1.5)."""

from situ.expressions.compile import Compiled, compile_condition, compile_expression

__all__ = ["Compiled", "compile_condition", "compile_expression"]
