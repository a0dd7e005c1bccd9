"""How far time has come at the end of a batch, for results that fall between events (SEM 11.9)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from situ.errors import OptionError
from situ.options import Options
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.needs import Needs
from situ.rows.schema import time_text, to_ticks


def tick_of(value: Any, kind: pa.DataType, needs: Needs) -> int | None:
    """A value of the time column as ticks; None if it is none."""
    is_cut_off = isinstance(value, float) and not pa.types.is_floating(kind)  # Arrow would do it
    is_number = isinstance(value, int) and pa.types.is_temporal(kind)  # and would count microseconds
    if value is None or is_cut_off or is_number:
        return None
    try:
        return int(to_ticks(pa.array([value], kind), needs.time.name, unit=needs.time.unit)[0])
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return None


def until_of(options: Options, needs: Needs, schema: pa.Schema) -> int | None:
    """The option `until` in ticks."""
    if options.until is None:
        return None
    if not needs.ticks:
        raise OptionError(
            "until does nothing here: no result of this query falls between events",
            hint="leave it out; it says how long silence lasted after the last event, for queries that ask",
        )
    kind = schema.field(needs.time.name).type
    until = tick_of(options.until, kind, needs)
    if until is None or not LONG_AGO < until < OPEN:
        raise OptionError(
            f"until={options.until!r} is no time here: the time column is {kind}",
            hint="give a value such as those of the time column",
        )
    return until


def complete_at_end(until: int | None, latest: int, needs: Needs) -> int | None:
    """What is complete once all of an input is read, whose largest time is `latest`; None if it has none."""
    if until is None:
        return None if latest == LONG_AGO else latest + 1
    check_until(until, latest, needs)
    return until + 1


def check_until(until: int, latest: int, needs: Needs) -> None:
    """Time cannot end before the last row."""
    if latest > until:
        said, found = (time_text(ticks, needs.time.told) for ticks in (until, latest))
        raise OptionError(
            f"until is {said}, but the input has a row at {found}",
            hint="give a time that is not earlier than any row, or leave out until",
        )
