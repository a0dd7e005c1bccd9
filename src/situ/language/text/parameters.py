"""`:name` in a query text: a value takes its place as tokens of its type, never read again (SEM 16)."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from numbers import Integral
from typing import TypeAlias

from situ.errors import DurationError, ParameterError, QueryError, Span
from situ.language.text.tokens import Kind, Source, Token, did_you_mean

Parameter: TypeAlias = (
    bool | int | float | Decimal | str | datetime.date | datetime.datetime | datetime.timedelta | None
)

_MOST_DIGITS = 1_000  # Python does not print any number of them
_CONTROL = re.compile(r"[\x00-\x1f]")
_LENGTH = "give it a timedelta, or a whole number where the time column is an integer"
_TYPES = "None, a bool, int, float, Decimal, str, date, datetime or timedelta"


def filled(source: Source, values: Mapping[str, object]) -> Source:
    """The source with a value in place of every parameter; each must have one, and each value a parameter."""
    places = _places(source.tokens)
    names = dict.fromkeys(source.tokens[at + 1].value for at in places)
    for at in places:
        if source.tokens[at + 1].value not in values:
            raise _missing(source, at, values)
    for name in values:
        if name not in names:
            raise _superfluous(name, list(names))
    tokens: list[Token] = []
    position = 0
    for at in places:
        tokens += source.tokens[position:at]
        span = _span(source.tokens, at)
        name = source.tokens[at + 1].value
        if at and source.tokens[at - 1].is_sign("."):
            raise source.error(
                ParameterError,
                f"the parameter :{name} stands for a value, and a name is expected here",
                span,
                hint="write the name itself into the text; for one of several columns CASE chooses",
            )
        try:
            written = _written(values[name])
        except ParameterError as error:
            raise source.error(
                ParameterError, f"the parameter :{name} {error.message}", span, hint=error.hint
            ) from None
        tokens += [Token(kind, value, span.start, span.end) for kind, value in written]
        position = at + 2
    return Source(source.text, (*tokens, *source.tokens[position:]))


@contextmanager
def naming(source: Source) -> Iterator[None]:
    """While the filled tokens are read: an error about a value names the parameter that stands there."""
    names = {_span(source.tokens, at): source.tokens[at + 1].value for at in _places(source.tokens)}
    try:
        yield
    except QueryError as error:
        name = names.get(error.span) if error.span is not None and error.text == source.text else None
        if name is None:
            raise
        is_length = isinstance(error, DurationError) and "EVENTS" not in error.message
        raise source.error(
            type(error),
            f"{error.message} (the value of :{name})",
            error.span or Span(0, 0),
            hint=_LENGTH if is_length else error.hint,
        ) from None


def _places(tokens: Sequence[Token]) -> list[int]:
    """Where parameters begin: at a colon that a word touches, and no operand before it.

    `v:field` and `STRUCT<a:int>` are Spark's.
    """
    found = []
    for position, token in enumerate(tokens[:-1]):
        after, before = tokens[position + 1], tokens[position - 1] if position else None
        if not token.is_sign(":") or after.kind is not Kind.WORD or after.start != token.end:
            continue
        touches = before is not None and before.end == token.start
        is_behind_sign = before is not None and before.kind is Kind.SIGN and not before.is_sign(")", "]")
        if not touches or is_behind_sign:
            found.append(position)
    return found


def _span(tokens: Sequence[Token], at: int) -> Span:
    return Span(tokens[at].start, tokens[at + 1].end)


def _missing(source: Source, at: int, values: Mapping[str, object]) -> QueryError:
    name = source.tokens[at + 1].value
    return source.error(
        ParameterError,
        f"the parameter :{name} has no value",
        _span(source.tokens, at),
        hint=did_you_mean(name, values)
        or f"give it one: situ.query(text, {name}=5), on the command line --set {name}=5",
    )


def _superfluous(name: str, names: Sequence[str]) -> QueryError:
    known = ", ".join(f":{one}" for one in names)
    return ParameterError(
        f"the query has no parameter :{name}",
        hint=did_you_mean(name, names)
        or (f"its parameters are {known}" if names else f"write :{name} where its value is to stand"),
    )


def _written(value: object) -> list[tuple[Kind, str]]:
    """The tokens of a literal."""
    value = _plain(value)
    if value is None or isinstance(value, bool):
        return [(Kind.WORD, "NULL" if value is None else str(value).upper())]
    if isinstance(value, Integral):
        return _integer(int(value))
    if isinstance(value, float):
        return _signed(_double(value))
    if isinstance(value, Decimal):
        return _signed(_decimal(value))
    if isinstance(value, str):
        return [(Kind.STRING, _quoted(value))]
    if isinstance(value, datetime.datetime):
        return _instant(value)
    if isinstance(value, datetime.date):
        return [(Kind.WORD, "DATE"), (Kind.STRING, f"'{value.isoformat()}'")]
    if isinstance(value, datetime.timedelta):
        return _length(value)
    raise ParameterError(f"has a {type(value).__name__} as its value", hint=f"give it {_TYPES}")


def _plain(value: object) -> object:
    """What NumPy's and pandas' values stand for."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is not None and getattr(value, "shape", None) == ():
        # of nanoseconds item() would be a number
        value = value.astype(f"{kind}8[us]").item() if kind in "mM" else value.item()  # type: ignore[attr-defined]
        is_nothing = value is None
    else:
        is_nothing = value is not None and type(value).__name__ in ("NaTType", "NAType")
    if is_nothing:
        raise ParameterError("is no time" if kind else "is missing", hint="give it None for NULL")
    return value


def _signed(text: str) -> list[tuple[Kind, str]]:
    if text.startswith("-"):
        return [(Kind.SIGN, "-"), (Kind.NUMBER, text[1:])]
    return [(Kind.NUMBER, text)]


def _integer(value: int) -> list[tuple[Kind, str]]:
    if abs(value) >= 10**_MOST_DIGITS:
        raise ParameterError(f"has more than {_MOST_DIGITS} digits")
    return _signed(str(value))


def _double(value: float) -> str:
    """With an exponent, which makes it a double; without one it would be a decimal."""
    if not math.isfinite(value):
        raise _no_number(value)
    text = repr(float(value))
    return text if "e" in text else f"{text}E0"


def _decimal(value: Decimal) -> str:
    """Without an exponent and with a point, which make it a decimal."""
    if not value.is_finite():
        raise _no_number(value)
    if abs(value.adjusted()) > _MOST_DIGITS:
        raise ParameterError(f"has more than {_MOST_DIGITS} digits")
    text = f"{value:f}"
    return text if "." in text else f"{text}."


def _no_number(value: object) -> ParameterError:
    return ParameterError(f"is {value}, which is no number", hint="give it a number that is finite")


def _quoted(value: str) -> str:
    """As a string literal that stands for this very text."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", escaped) + "'"


def _instant(value: datetime.datetime) -> list[tuple[Kind, str]]:
    """With a zone an instant, told in UTC; without one a time on some clock."""
    if value.tzinfo is None:
        return [(Kind.WORD, "TIMESTAMP_NTZ"), (Kind.STRING, f"'{value.isoformat(sep=' ')}'")]
    told = value.astimezone(datetime.UTC).replace(tzinfo=None).isoformat(sep=" ")
    return [(Kind.WORD, "TIMESTAMP"), (Kind.STRING, f"'{told}Z'")]


def _length(value: datetime.timedelta) -> list[tuple[Kind, str]]:
    """INTERVAL '1.5' SECOND, which is a duration and a value."""
    return [(Kind.WORD, "INTERVAL"), (Kind.STRING, f"'{seconds_text(value)}'"), (Kind.WORD, "SECOND")]


def seconds_text(value: datetime.timedelta) -> str:
    """In seconds, as exactly as it is."""
    microseconds = value // datetime.timedelta(microseconds=1)
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    return f"{'-' * (microseconds < 0)}{seconds}" + (f".{rest:06d}".rstrip("0") if rest else "")
