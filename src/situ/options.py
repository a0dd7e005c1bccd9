"""Options: the same everywhere, checked once, with "did you mean"."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from situ.errors import OptionError, SituError
from situ.language.text.durations import parse_duration
from situ.language.text.types import MICROSECONDS, Column

_CHOICES: dict[str, tuple[Any, ...]] = {
    "ties": ("warn", "last", "error"),
    "on_bad_rows": ("error", "drop"),
    "join": ("auto", "range", "pair"),
    "points": ("error", "widen"),
    "strategy": ("auto", "shuffle", "map-side", "direct"),
    "time_unit": tuple(MICROSECONDS),
}


@dataclass(frozen=True)
class Options:
    """What a user can ask for beside the query."""

    time: str | None = None
    time_unit: str | None = None  # what the numbers of the time column count
    ties: str = "warn"  # the last row counts, and what is left out is told
    on_bad_rows: str = "error"
    strategy: str = "auto"
    join: str = "auto"
    threads: int | str = 1
    watermark: Any = None
    late_rows: bool = False
    max_ahead: Any = None
    forget_after: Any = None
    match_id: bool = False
    match_span: bool = False
    match_time: bool = False
    max_steps: int = 10_000_000
    max_matches: int = 1_000_000
    timeouts: bool = False
    points: str = "error"
    until: Any = None  # the clock of a batch, where results fall between events (SEM 11.9)
    ansi: bool = True
    time_zone: str = "UTC"


NAMES = tuple(field.name for field in fields(Options))


def read_options(
    passed: Mapping[str, Any], allowed: frozenset[str], where: str, elsewhere: str = ""
) -> Options:
    """Check names and values; `where` names the call in messages."""
    from situ.expressions.zones import zone_of  # brings Arrow, which `import situ` can do without

    for name, value in passed.items():
        if name not in allowed:
            raise _unknown(name, allowed, where, elsewhere)
        choices = _CHOICES.get(name)
        if choices is not None and value not in choices and value != getattr(Options, name):
            close = difflib.get_close_matches(
                str(value), [one for one in choices if isinstance(one, str)], n=1
            )
            raise OptionError(
                f"{name}={value!r} is not one of {', '.join(map(repr, choices))}",
                hint=f"did you mean {close[0]!r}?" if close else None,
            )
    options = Options(**passed)
    threads = options.threads
    if threads != "auto" and not (
        isinstance(threads, int) and not isinstance(threads, bool) and threads >= 1
    ):
        raise OptionError(f'threads={threads!r} must be a whole number from 1 on, or "auto"')
    for name in ("max_steps", "max_matches"):
        value = getattr(options, name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise OptionError(f"{name}={value!r} must be a whole number from 1 on")
    for name in ("late_rows", "match_id", "match_span", "match_time", "timeouts", "ansi"):
        if not isinstance(getattr(options, name), bool):
            raise OptionError(f"{name}={getattr(options, name)!r} must be True or False")
    if not isinstance(options.time, str | None):
        raise OptionError(f"time={options.time!r} must be the name of a column")
    if not isinstance(options.time_zone, str):
        raise OptionError(f"time_zone={options.time_zone!r} must be the name of a time zone")
    zone_of(options.time_zone)  # wrong ones are refused here, not only where an expression needs them
    return options


def _unknown(name: str, allowed: frozenset[str], where: str, elsewhere: str) -> OptionError:
    if name in NAMES:
        return OptionError(f"option {name} does not apply to {where}", hint=elsewhere or None)
    begun = [option for option in sorted(allowed) if option.startswith(name)]  # ties for tie, not time
    close = begun or difflib.get_close_matches(name, allowed, n=1)
    hint = f"did you mean {close[0]}?" if close else f"the options are {', '.join(sorted(allowed))}"
    return OptionError(f"unknown option {name} for {where}", hint=hint)


def ticks(value: Any, time: Column, name: str) -> int | None:
    """A duration option in ticks of the time column: text, a timedelta, or a plain number of ticks."""
    if value is None:
        return None
    integers = time.counts_ticks
    wanted = "a whole number of ticks" if integers else 'a duration such as "5 minutes" or a timedelta'
    if isinstance(value, timedelta):
        value = f"{value // timedelta(microseconds=1)} us"
    if isinstance(value, int) and abs(value) >= 2**63:  # it may have more digits than Python prints
        raise OptionError(f"{name} is longer than time can be counted", hint=f"give {wanted}")
    try:
        duration = parse_duration(str(value))
    except SituError as error:
        raise OptionError(f"{name}={value!r} is not {wanted}: {error.message}") from error
    if duration.has_unit == integers:
        raise OptionError(
            f"{name}={value!r} does not fit time column {time.name} of type {time.type}",
            hint=f"give {wanted}",
        )
    return duration.value


def check_forget_after(value: Any, time: Column, within: int | None) -> int | None:
    """`forget_after` in ticks; it may not be shorter than the window (SEM 8.5)."""
    forget_after = ticks(value, time, "forget_after")
    if forget_after is None:
        return None
    if within is None:
        raise OptionError("forget_after needs a window to be longer than", hint="add WITHIN to the query")
    if forget_after < within:
        raise OptionError(
            f"forget_after={value!r} is shorter than the window",
            hint="matches would be lost: make it at least as long as WITHIN",
        )
    return forget_after
