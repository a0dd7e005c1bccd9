"""Sorted rows of a piece of the input, condensed without loss for one query.

Most rows change nothing: no condition begins or ends at them. Running the engine on what is left, the
condensed pieces of a partition one after the other, gives exactly the matches and values that all rows
would give. Situations are one or two orders of magnitude fewer than events, so this is what travels
between machines. A state of aggregates is a sum over events, and so can stand for a whole segment.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.aggregate import States
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.kernels.condense import common_step, segments
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.known import Positions
from situ.rows.kernels.numbers import UNBOUNDED

_ZERO = np.zeros(1, np.int64)


class Condensed(NamedTuple):
    """Rows, and for each symbol the states of only those rows at which it holds."""

    rows: Rows
    states: tuple[States, ...]


def condense(engine: Engine, given: Input) -> Condensed:
    """The rows at which something can happen, and one row for those in between where values need it."""
    spec = engine.spec
    # with a maximum a situation can be used from its end on, whose row is there anyway
    waits = np.where(spec.at_most == UNBOUNDED, spec.at_least, 0)
    aggregated = np.uint64(sum(1 << i for i, own in enumerate(engine.aggregates) if own))
    first, last, offset = segments(given.rows, waits, aggregated, spec.forget_after)
    mask = given.rows.mask[last]
    states = tuple(
        _folded(engine, symbol, given.states[symbol], first, last, mask) for symbol in range(engine.n_symbols)
    )
    return Condensed(Rows(given.rows.time[last], mask, offset), states)


def _folded(
    engine: Engine,
    symbol: int,
    states: States,
    first: Positions,
    last: Positions,
    mask: npt.NDArray[np.unsignedinteger],
) -> States:
    spec = engine.aggregates[symbol]
    if not spec:
        return spec.empty()
    own = holds(mask, symbol)
    first, last = first[own], last[own]
    return spec.fold(states, spec.empty(), first, last, np.full(len(first), -1, np.int64))


def holds(mask: npt.NDArray[np.unsignedinteger], symbol: int) -> Positions:
    """The rows at which a symbol's condition is true."""
    return np.flatnonzero(mask >> mask.dtype.type(symbol) & mask.dtype.type(1))


def expand(engine: Engine, condensed: Condensed) -> Input:
    """Condensed rows as the engine takes them: a state for every row."""
    n_rows = len(condensed.rows.time)
    states = []
    for symbol, spec in enumerate(engine.aggregates):
        own = condensed.states[symbol]
        if not spec:
            states.append(States((), (), n_rows))
            continue
        nothing = spec.fold(own, spec.empty(), _ZERO, _ZERO - 1, _ZERO - 1)  # a request for no rows at all
        place = np.full(n_rows, len(own), np.int64)
        place[holds(condensed.rows.mask, symbol)] = np.arange(len(own))
        states.append(States.concat([own, nothing]).take(place))
    return Input(condensed.rows, tuple(states))


def narrowed(time: npt.NDArray[np.int64]) -> tuple[int, int, npt.NDArray[np.unsignedinteger]]:
    """`low`, `step` and the multiples of step above low, in as few bytes as they need; see `widened`."""
    if not len(time):
        return 0, 1, np.empty(0, np.uint8)
    low, high, step = common_step(time)
    step = max(1, int(step))
    reach = (int(high) - int(low)) // step
    width = next(kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if reach <= np.iinfo(kind).max)
    above = time.view(np.uint64) - np.uint64(int(low) % 2**64)
    return int(low), step, (above // np.uint64(step) if step > 1 else above).astype(width)


def widened(low: int, step: int, multiples: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.int64]:
    """What `narrowed` was given."""
    above = multiples.astype(np.uint64) * np.uint64(step)
    return (above + np.uint64(low % 2**64)).view(np.int64)
