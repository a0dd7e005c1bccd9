"""What the commands share: the query argument, numbers and times from text, errors and exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from situ.cli.parameters import add_set_argument, parameters_of
from situ.cli.secrets import redacted
from situ.cli.spark_errors import is_from_spark, text_of
from situ.errors import OptionError, QueryError, UnsupportedExpressionError

if TYPE_CHECKING:
    from rich.console import Console

    from situ.language.situations.ast import Query

OK, FAILURE, USAGE = 0, 1, 2


def exit_code(error: Exception) -> int:
    """Return 2 where the call or the query is at fault, 1 where data, state or the machine is."""
    at_fault = OptionError | QueryError | UnsupportedExpressionError
    return USAGE if isinstance(error, at_fault) else FAILURE


def print_error(error: Exception) -> None:
    """Print what went wrong to standard error: message and hint, no traceback."""
    text = f"Spark: {text_of(error)}" if is_from_spark(error) else str(error)
    console = _stderr()
    console.print("error:", style="bold red", end=" ")
    console.print(redacted(text), markup=False)


def note(text: str) -> None:
    """Print a line that is not a result to standard error."""
    _stderr().print(text, markup=False)


def _stderr() -> Console:
    from rich.console import Console  # only where there is something to say

    # No wrapping: a caret line must stay under the word it points at.
    return Console(stderr=True, soft_wrap=True, highlight=False)


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number and the word for that many.

    >>> counted(1, "match", "matches"), counted(2000, "row")
    ('1 match', '2,000 rows')
    """
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def print_warning(message: Warning | str) -> None:
    """Print what a user should know to standard error."""
    console = _stderr()
    console.print("warning:", style="bold yellow", end=" ")
    console.print(str(message), markup=False)


def add_query_argument(parser: argparse.ArgumentParser) -> None:
    """Add QUERY: the text itself, a file that holds it, or `-` for standard input; and its parameters."""
    parser.add_argument("query", metavar="QUERY", help="the query text, a file that holds it, or - for stdin")
    add_set_argument(parser)


def read_query(args: argparse.Namespace) -> str:
    """Return the query text that the QUERY argument stands for."""
    text: str = args.query
    if text == "-":
        try:
            return sys.stdin.read()
        except (OSError, UnicodeDecodeError) as error:
            raise OptionError(
                f"no query can be read from standard input ({error}).", hint="give it in quotes."
            ) from None
    if len(text.split()) > 1:  # every query has at least two words, and is then never taken for a file
        return text
    try:
        return Path(text).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise OptionError(
            f"{text!r} is neither a query nor a file that can be read ({said}).",
            hint="quote the whole query, give the path of a file that holds one, or - to read it from stdin.",
        ) from None


def parsed_query(args: argparse.Namespace) -> Query:
    """The query that the QUERY argument stands for, with the values of its parameters."""
    from situ.language import query

    parsed: Query = query(read_query(args), **parameters_of(args))
    return parsed


def positive(kind: type[int] | type[float]) -> Callable[[str], int | float]:
    """Return an argparse type for numbers above zero; `5_000_000` and `5e6` are both read."""

    def parse(text: str) -> int | float:
        try:
            number = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not 0 < number < float("inf"):
            raise argparse.ArgumentTypeError(f"{text!r} is not above zero")
        if kind is int and not number.is_integer():
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
        return kind(number)

    return parse


def time_value(text: str) -> int | datetime:
    """Read a value of a time column for argparse: a whole number, or what `instant` reads."""
    try:
        return int(text)
    except ValueError:
        return instant(text)


def instant(text: str) -> datetime:
    """Read an ISO 8601 date or time for argparse, UTC where the text names no zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2024-01-01T06:00:00") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
