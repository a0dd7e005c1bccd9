"""Spark SQL expressions through sqlglot, made safe for any input: bounded nesting, linear time, no crash."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, ClassVar, TypeVar

import sqlglot
import sqlglot.expressions as exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

MAX_NESTING = 200
_FRAMES_PER_LEVEL = 60  # sqlglot takes about 25 a level
_STACK_BYTES = 256 * 1024 * 1024  # address space of a short-lived thread, touched only as far as needed

T = TypeVar("T")
_one_parser = threading.RLock()


class NotAnExpression(Exception):
    """sqlglot does not understand the text; `offset` is where it stopped, if it said so.

    `bad_arguments`: it knows the function and not these arguments.
    """

    def __init__(self, offset: int | None, *, bad_arguments: bool) -> None:
        super().__init__()
        self.offset = offset
        self.bad_arguments = bad_arguments


class TooDeep(Exception):
    """The expression is nested deeper than we follow."""


def _by_unit(args: list[Any], name: str) -> exp.Anonymous:
    """In `datediff(HOUR, a, b)` the first argument is a word, not a column."""
    if len(args) == 3 and isinstance(args[0], exp.Column):
        args = [exp.Var(this=args[0].name), *args[1:]]
    return exp.Anonymous(this=name, expressions=args)


# sqlglot rewrites calls of these to what other dialects have too: `date_trunc(day, ts)` and
# `date_trunc('day', ts)` become one tree, casts come in, log10(x) becomes log(10, x), which Spark computes
# otherwise, and starts_with, which Spark has not, startswith. Here they stay the calls they are.
_KEPT_AS_CALLS = frozenset({
    "ADD_MONTHS", "CONVERT_TIMEZONE", "DATE_FORMAT", "DATE_FROM_UNIX_DATE", "DATE_SUB",
    "DATE_TO_DATE_STR", "DATE_TRUNC", "DAY", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "DAY_OF_MONTH",
    "DAY_OF_WEEK", "DAY_OF_YEAR", "ENDS_WITH", "FROM_UNIXTIME", "FROM_UTC_TIMESTAMP", "HOUR", "IIF",
    "LAST_DAY", "LOG10", "LOG2", "MAKE_TIMESTAMP", "MINUTE", "MONTH", "MONTHS_BETWEEN", "NEXT_DAY",
    "QUARTER", "SECOND", "STARTS_WITH", "TIME_TO_TIME_STR", "TO_DATE", "TO_TIMESTAMP",
    "TO_UNIX_TIMESTAMP", "TO_UTC_TIMESTAMP", "TRUNC", "TS_OR_DS_TO_DATE_STR", "UNIX_DATE",
    "UNIX_MICROS", "UNIX_MILLIS", "UNIX_SECONDS", "UNIX_TIMESTAMP", "WEEKOFYEAR", "WEEK_OF_YEAR",
    "YEAR",
})  # fmt: skip
_TAKING_UNITS = ("DATEADD", "DATE_ADD", "DATEDIFF", "DATE_DIFF", "TIMESTAMPADD", "TIMESTAMPDIFF")


class _Parser(SparkParser):
    FUNCTIONS: ClassVar = {
        **{name: build for name, build in SparkParser.FUNCTIONS.items() if name not in _KEPT_AS_CALLS},
        **{name: partial(_by_unit, name=name.lower()) for name in _TAKING_UNITS},
    }

    def _parse_types(self, check_func: bool = False, *args: Any, **kwargs: Any) -> exp.Expr | None:
        # In an expression `date(x)` or `struct(x)` is a call, never a type. Asking first whether it is
        # a type parses the arguments twice per level: time exponential in the nesting.
        if check_func and self._curr and self._next and self._next.token_type is TokenType.L_PAREN:
            return None
        parsed: exp.Expr | None = super()._parse_types(check_func, *args, **kwargs)
        return parsed


class SparkExpressions(Spark):
    """sqlglot's Spark dialect without its exponential corner."""

    Parser = _Parser


@lru_cache(maxsize=1024)
def parse(sql: str) -> exp.Expression:
    """The tree of a Spark SQL expression; shared, so never change it.

    One at a time: while one thread has the recursion limit raised, another would overrun its own stack.
    """
    with _one_parser:
        try:
            return _parse(sql)
        except RecursionError:  # deep nesting, or called from deep within somebody's own recursion
            return _with_deep_stack(lambda: _parse(sql))


def _parse(sql: str) -> exp.Expression:
    try:
        tree = sqlglot.parse_one(sql, read=SparkExpressions, into=exp.Condition)
    except SqlglotError as error:
        reasons = " ".join(str(one.get("description")) for one in getattr(error, "errors", ()))
        missing = "number of provided arguments" in reasons or "Required keyword" in reasons
        raise NotAnExpression(_offset(error, sql), bad_arguments=missing) from None
    except RecursionError:
        raise
    except (
        Exception
    ) as error:  # sqlglot's builders of functions raise anything on arguments they do not expect
        raise NotAnExpression(None, bad_arguments=True) from error
    assert isinstance(tree, exp.Expression)
    return tree


def _offset(error: SqlglotError, sql: str) -> int | None:
    details = getattr(error, "errors", None)
    if not details or details[0].get("line") is None or details[0].get("col") is None:
        return None
    lines = sql.split("\n")[: details[0]["line"] - 1]
    end = sum(len(line) + 1 for line in lines) + int(details[0]["col"])
    return max(0, end - len(details[0].get("highlight") or ""))


def _with_deep_stack(work: Callable[[], T]) -> T:
    """Run `work` on a stack with room for MAX_NESTING levels of sqlglot's recursion."""
    result: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except RecursionError:
            failure.append(TooDeep())
        except BaseException as error:
            failure.append(error)

    # The recursion limit and the stack size of new threads are settings of the whole process.
    limit, stack = sys.getrecursionlimit(), threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(max(limit, MAX_NESTING * _FRAMES_PER_LEVEL))
    try:
        thread = threading.Thread(target=run, name="situ-parse")
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(stack)
    if failure:
        raise failure[0]
    return result[0]
