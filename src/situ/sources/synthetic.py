"""Random situation streams: one boolean column per symbol, true while its situation lasts.

The defaults are the generator of the TPStream evaluation (EDBT 2018, section 6.1): one event per second,
situations of 10 to 100 events, gaps of 10 to 50 events, both uniform.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa

from situ.errors import OptionError
from situ.sources.clock import DEFAULT_START, TIMESTAMP, timestamps, to_microseconds

_DRAWN_AT_ONCE = 4096  # situations; fixed, so that the chunk size has no influence on the data


def synthetic_chunks(
    symbols: int | Sequence[str],
    events: int,
    *,
    seed: int = 0,
    duration: tuple[int, int] = (10, 100),
    gap: tuple[int, int] = (10, 50),
    rate_hz: float = 1.0,
    start: datetime = DEFAULT_START,
    chunk_events: int = 1 << 20,
) -> Iterator[pa.Table]:
    """Yield `events` rows in time order, in tables of `chunk_events` rows: ts and one boolean per symbol.

    `symbols` is a number (columns s0, s1, ...) or the column names. `duration` and `gap` are the least and
    greatest length of a situation and of the gap before it, in events. A column depends on the seed and its
    position alone: not on the other columns, the number of events or the chunk size.
    """
    names = [f"s{i}" for i in range(symbols)] if isinstance(symbols, int) else list(symbols)
    _check(names, events, seed, duration, gap, rate_hz, chunk_events)
    streams = [_SituationStream(seed, position, duration, gap) for position in range(len(names))]
    schema = pa.schema([("ts", TIMESTAMP), *((name, pa.bool_()) for name in names)])
    start_us = to_microseconds(start)
    for first in range(0, max(events, 1), chunk_events):  # no events are one empty table
        rows = min(chunk_events, events - first)
        index = np.arange(first, first + rows, dtype=np.int64)
        ts = start_us + np.rint(index * (1_000_000 / rate_hz)).astype(np.int64)
        yield pa.table([timestamps(ts), *(pa.array(stream.take(rows)) for stream in streams)], schema=schema)


def synthetic_table(symbols: int | Sequence[str], events: int, **options: object) -> pa.Table:
    """Return what `synthetic_chunks` yields as one table.

    >>> synthetic_table(2, 1000, seed=7).column_names
    ['ts', 's0', 's1']
    """
    return pa.concat_tables(synthetic_chunks(symbols, events, **options))  # type: ignore[arg-type]


class _SituationStream:
    """One symbol's endless sequence of gap, situation, gap, ... as flags, taken piece by piece."""

    def __init__(self, seed: int, position: int, duration: tuple[int, int], gap: tuple[int, int]) -> None:
        self._rng = np.random.Generator(np.random.Philox(key=np.array([seed, position], dtype=np.uint64)))
        self._least = np.array([gap[0], duration[0]], dtype=np.int64)
        self._greatest = np.array([gap[1], duration[1]], dtype=np.int64)
        self._waiting = np.empty(0, dtype=bool)

    def take(self, count: int) -> np.ndarray:
        pieces, missing = [self._waiting], count - len(self._waiting)
        while missing > 0:
            lengths = self._rng.integers(self._least, self._greatest + 1, size=(_DRAWN_AT_ONCE, 2))
            pieces.append(np.repeat(np.tile([False, True], _DRAWN_AT_ONCE), lengths.ravel()))
            missing -= len(pieces[-1])
        flags = np.concatenate(pieces)
        self._waiting = flags[count:].copy()  # a view would keep the whole piece alive
        return flags[:count]


def _check(
    names: list[str],
    events: int,
    seed: int,
    duration: tuple[int, int],
    gap: tuple[int, int],
    rate_hz: float,
    chunk_events: int,
) -> None:
    if not names or len({name.lower() for name in [*names, "ts"]}) <= len(names):
        raise OptionError(f"symbols must be one or more different names other than ts, not {names}.")
    if events < 0 or chunk_events < 1 or not 0 < rate_hz <= 1_000_000:
        raise OptionError(
            f"events={events}, chunk_events={chunk_events}, rate_hz={rate_hz}: expected events >= 0, "
            "chunk_events >= 1 and a rate above 0 and at most 1,000,000 events per second."
        )
    if seed < 0:
        raise OptionError(f"seed must be 0 or more, not {seed}.")
    for option, (least, greatest) in {"duration": duration, "gap": gap}.items():
        if not 1 <= least <= greatest:
            raise OptionError(
                f"{option}={(least, greatest)}: expected the least and the greatest length, both 1 or more."
            )
