"""Durations: `5 seconds`, `5s`, `250 ms`, `1.5 hours`, `INTERVAL '5' SECOND`, or plain ticks (SEM 1.1, 7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from situ.errors import DurationError, QueryError, QuerySyntaxError, Span, UnknownDurationUnitError
from situ.language.text.nodes import Duration
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean, span_of, tokenize

MAX_TICKS = 2**63 - 1

# Microseconds of each unit; the first name is the one printed.
_UNITS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (86_400_000_000, ("day", "days", "d")),
    (3_600_000_000, ("hour", "hours", "h", "hr", "hrs")),
    (60_000_000, ("minute", "minutes", "min", "mins", "m")),
    (1_000_000, ("second", "seconds", "s", "sec", "secs")),
    (1_000, ("millisecond", "milliseconds", "ms", "msec", "millis")),
    (1, ("microsecond", "microseconds", "us", "\u00b5s", "\u03bcs", "usec", "micros")),
)
_MICROSECONDS = {name: size for size, names in _UNITS for name in names} | {
    "week": 7 * 86_400_000_000,
    "weeks": 7 * 86_400_000_000,
    "w": 7 * 86_400_000_000,
}
_COUNTED = {
    word: f"{word.removesuffix('s')}s" for word in ("time", "times", "row", "rows", "event", "events")
}
_RUN_TOGETHER = re.compile(r"([a-z]+)([0-9]+[a-z]*)")
_MOST_DIGITS = 40  # no duration in ticks has as many, before the point or behind it
_OTHER_LENGTHS = ("month", "months", "mon", "year", "years", "y", "quarter", "quarters")


def is_unit(word: str) -> bool:
    """Whether the word is a unit of time that durations can have."""
    return word.lower() in _MICROSECONDS


def duration(source: Source, tokens: Sequence[Token], *, after: Token) -> Duration:
    """The duration that all these tokens together write; `after` is the word that asks for it."""
    value, used = leading_duration(source, tokens, after=after)
    if used < len(tokens):
        raise source.error(
            DurationError,
            f"the duration ends before {describe(tokens[used])}",
            tokens[used],
            hint="WITHIN takes a duration and nothing else, as in WITHIN 5 minutes"
            if after.is_word("WITHIN")
            else "a duration ends its definition: put further conditions before it, and a "
            "comma before the next symbol",
        )
    return value


def leading_duration(source: Source, tokens: Sequence[Token], *, after: Token) -> tuple[Duration, int]:
    """The duration at the head of the tokens and how many tokens it takes."""
    if not tokens:
        raise _missing(source, after, None)
    if tokens[0].is_word("INTERVAL"):
        return _interval(source, tokens)
    if tokens[0].is_sign("-", "+"):
        raise source.error(
            DurationError, "a duration cannot have a sign", tokens[0], hint="write how long, as in 5 seconds"
        )
    if tokens[0].kind is not Kind.NUMBER:
        raise _missing(source, after, tokens[0])
    if len(tokens) == 1 or not _may_be_unit(tokens[1]):
        return _made(source, _number(tokens[0]), tokens[0].span, has_unit=False), 1
    return _with_units(source, tokens)


def _with_units(source: Source, tokens: Sequence[Token]) -> tuple[Duration, int]:
    """One or more of number and unit: `1 hour 30 minutes`."""
    total, used = Fraction(0), 0
    while used + 1 < len(tokens) and tokens[used].kind is Kind.NUMBER and _may_be_unit(tokens[used + 1]):
        total += _number(tokens[used]) * _unit(source, tokens[used + 1])
        used += 2
    if used < len(tokens) and tokens[used].kind is Kind.NUMBER:
        raise source.error(
            DurationError,
            "this number has no unit",
            tokens[used],
            hint="say of what, as in 1 hour 30 minutes",
        )
    return _made(source, total, span_of(tokens[:used]), has_unit=True), used


def _may_be_unit(token: Token) -> bool:
    return token.is_name and not token.is_word("AND", "OR", "AT", "BETWEEN", "AS")


def _interval(source: Source, tokens: Sequence[Token]) -> tuple[Duration, int]:
    """INTERVAL '5' SECOND, INTERVAL 5 SECONDS, INTERVAL '5 seconds'."""
    if len(tokens) > 1 and tokens[1].kind is Kind.NUMBER:
        value, used = _with_units(source, tokens[1:]) if len(tokens) > 2 else (None, 0)
        if value is not None and used:
            return value, used + 1
    if len(tokens) < 2 or tokens[1].kind is not Kind.STRING:
        raise source.error(
            DurationError, "INTERVAL needs a value and a unit", tokens[0], hint="write INTERVAL '5' SECOND"
        )
    inside = tokens[1].value[1:-1].strip()
    if len(tokens) > 2 and tokens[2].is_name:
        inside, used = f"{inside} {tokens[2].value}", 3
        if len(tokens) > 3 and tokens[3].is_word("TO"):
            raise source.error(
                DurationError,
                "intervals over several fields are not read here",
                span_of(tokens[:4]),
                hint="write them out, as in 1 hour 30 minutes",
            )
    else:
        used = 2
    whole = span_of(tokens[:used])
    try:
        written = Source.of(inside)
        value, n_tokens = leading_duration(written, written.tokens[:-1], after=tokens[0])
    except QueryError as error:
        raise source.error(type(error), error.message, whole, hint=error.hint) from None
    if n_tokens < len(written.tokens) - 1 or not value.has_unit:
        raise source.error(
            DurationError,
            "INTERVAL needs a number and a unit of time",
            whole,
            hint="write INTERVAL '5' SECOND",
        )
    return value, used


def _number(token: Token) -> Fraction:
    """The number written; what no duration can be is not computed, as its digits may be thousands."""
    written, _, exponent = token.value.lower().partition("e")
    whole, _, decimals = written.partition(".")
    digits = (whole + decimals).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return Fraction(0)
    power = _bounded(exponent) - len(decimals) + len(digits) - len(significant)
    if len(significant) + power > _MOST_DIGITS:
        return Fraction(MAX_TICKS + 1)
    if power < -_MOST_DIGITS:
        return Fraction(1, 10**_MOST_DIGITS)
    return int(significant) * Fraction(10) ** power


def _bounded(exponent: str) -> int:
    digits = exponent.lstrip("+-0")
    size = int(digits or 0) if len(digits) < 10 else 10**9
    return -size if exponent.startswith("-") else size


def _unit(source: Source, token: Token) -> int:
    name = token.value.lower()
    if name in _MICROSECONDS:
        return _MICROSECONDS[name]
    if name in _COUNTED:
        raise source.error(
            UnknownDurationUnitError,
            f"the length of a situation is a time, not a number of {_COUNTED[name]}",
            token,
            hint="write a unit of time, as in 5 seconds; how many rows a situation has is count(A) in RETURN",
        )
    if (parts := _RUN_TOGETHER.fullmatch(name)) and parts[1] in _MICROSECONDS:
        raise source.error(
            UnknownDurationUnitError,
            f"{describe(token)} is not a unit of time",
            token,
            hint=f"write {parts[1]} and {parts[2]} apart, each with its unit, as in 1 hour 30 minutes",
        )
    if name in _OTHER_LENGTHS:
        raise source.error(
            UnknownDurationUnitError,
            f"{token.value} are not always equally long, so they are not a unit of durations",
            token,
            hint="say it in days, of 24 hours each: 30 days",
        )
    raise source.error(
        UnknownDurationUnitError,
        f"{describe(token)} is not a unit of time",
        token,
        hint=did_you_mean(name, [names[1] for _, names in _UNITS])
        or "units are microseconds, milliseconds, seconds, minutes, hours, days, weeks and their short forms "
        "us, ms, s, min, h, d",
    )


def _made(source: Source, ticks: Fraction, span: Span, *, has_unit: bool) -> Duration:
    if ticks > MAX_TICKS:
        raise source.error(DurationError, "this duration is longer than time can be counted", span)
    if ticks.denominator != 1:
        smallest = "microseconds" if has_unit else "ticks"
        raise source.error(DurationError, f"a duration must be a whole number of {smallest}", span)
    return Duration(int(ticks), has_unit)


def _missing(source: Source, after: Token, found: Token | None) -> QueryError:
    what = "" if found is None else f", found {describe(found)}"
    at = "AT " if after.is_word("LEAST", "MOST") else ""
    return source.error(
        DurationError if found is not None else QuerySyntaxError,
        f"{at}{after.value.upper() if after.end else after.value} needs a duration{what}",
        found or after,
        hint="write a number and a unit, as in 5 seconds; for an integer time column a "
        "number of ticks, as in 300",
    )


def duration_text(value: Duration) -> str:
    """The canonical way to write a duration.

    >>> duration_text(Duration(90_000_000, True)), duration_text(Duration(300, False))
    ('90 seconds', '300')
    """
    if not value.has_unit:
        return str(value.value)
    if value.value == 0:
        return "0 seconds"
    size, names = next((size, names) for size, names in _UNITS if value.value % size == 0)
    count = value.value // size
    return f"{count} {names[0] if count == 1 else names[1]}"


def parse_duration(text: str) -> Duration:
    """The duration a text writes.

    >>> parse_duration("1.5 hours")
    Duration(value=5400000000, has_unit=True)
    """
    source = Source(text, tuple(tokenize(text)))
    return duration(source, source.tokens[:-1], after=Token(Kind.WORD, "this", 0, 0))
