"""`--set name=value`: the values of a query's parameters, typed by how they are written (SEM 16)."""

from __future__ import annotations

import argparse
import re
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from situ.errors import OptionError, QueryError

if TYPE_CHECKING:
    from situ.language.text.parameters import Parameter

_NAME = re.compile(r"[^\W\d]\w*")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_INTEGER = re.compile(r"[+-]?[0-9]{1,1000}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+)")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+")
_QUOTED = re.compile(r"'(?:[^']|'')*'", re.DOTALL)
_DURATION = re.compile(r"[0-9.].*[a-z\u00b5\u03bc]", re.DOTALL | re.IGNORECASE)


def add_set_argument(parser: argparse.ArgumentParser) -> None:
    """Add --set."""
    parser.add_argument(
        "--set",
        dest="parameters",
        action="append",
        default=[],
        type=assignment,
        metavar="NAME=VALUE",
        help="the value of :NAME in the query: a number, true, false, null, 5 minutes, or text",
    )


def assignment(text: str) -> tuple[str, Parameter]:
    """A parameter's name and value for argparse."""
    name, sign, value = text.partition("=")
    if not sign or not _NAME.fullmatch(name.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, as in --set limit=70")
    return name.strip(), typed(value)


def typed(text: str) -> Parameter:
    """A value by its form; what has none of a number, word or duration is text.

    >>> typed("70"), typed("7.5"), typed("5 minutes"), typed("'70'"), typed("A 70")
    (70, Decimal('7.5'), datetime.timedelta(seconds=300), '70', 'A 70')
    """
    bare = text.strip()
    if bare.lower() in _WORDS:
        value: Parameter = _WORDS[bare.lower()]
        return value
    if _QUOTED.fullmatch(bare):
        return bare[1:-1].replace("''", "'")
    if _INTEGER.fullmatch(bare):
        return int(bare)
    if _DECIMAL.fullmatch(bare):
        return Decimal(bare)
    if _DOUBLE.fullmatch(bare):
        return float(bare)
    length = _length(bare) if _DURATION.fullmatch(bare) else None
    return text if length is None else length


def _length(text: str) -> timedelta | None:
    """The duration that a text writes, if it writes one."""
    from situ.language.text.durations import parse_duration

    try:
        return timedelta(microseconds=parse_duration(text).value)
    except (QueryError, OverflowError):
        return None


def parameters_of(args: argparse.Namespace) -> dict[str, Parameter]:
    """The values of all parameters by name."""
    values: dict[str, Parameter] = {}
    for name, value in args.parameters:
        if name in values:
            raise OptionError(f"--set gives {name} two values.", hint="give it once.")
        values[name] = value
    return values
