"""The shapes kernels pass to each other: NamedTuples of arrays, so that signatures stay short.

Numba takes microseconds to recognise a named tuple that comes from Python, and a fraction of one for a
plain tuple. So kernels that single events go through take either, and give the names back inside. Each
array handed over costs as well: what is known of slots crosses as three, whose rows get names here.

K slots (partitions touched by this step), n symbols, N rows, E entries, P followed-by pairs of R symbols.
All instants are int64 ticks, all positions int64.
"""

from typing import NamedTuple

import numpy as np

from situ.compiled.jit import kernel


class Rows(NamedTuple):
    """The step's events, by slot, then time; times within a slot are strictly ascending."""

    time: np.ndarray  # int64[N]
    mask: np.ndarray  # uint8[N] or uint64[N]: bit i set where condition i holds
    offset: np.ndarray  # int64[K + 1]: slot k holds rows offset[k] .. offset[k + 1]


class Entries(NamedTuple):
    """Situations kept from earlier steps for the step's slots, by slot, symbol, ts."""

    symbol: np.ndarray  # int64[E]
    ts: np.ndarray
    te: np.ndarray  # OPEN while open
    admissible: np.ndarray  # NEVER while not yet (SEM 2.4)
    verdict: np.ndarray  # int64[P, E]: te of the situation this one follows (SEM 8.4), else LONG_AGO
    offset: np.ndarray  # int64[K + 1]


class Slots(NamedTuple):
    """What is known of each slot before the step."""

    horizon: np.ndarray  # int64[K]: LONG_AGO for a new partition
    mask: np.ndarray  # uint64[K]: which conditions held at the horizon
    raw_end: np.ndarray  # int64[R, K]: end of the latest raw run that is over, of Spec.ending's symbols


class Runs(NamedTuple):
    """Situations of every symbol and slot: row i is symbol i, columns by slot, then ts."""

    ts: np.ndarray  # int64[n, cap]
    te: np.ndarray
    admissible: np.ndarray
    latest_te: np.ndarray  # running maximum of te per slot: te itself where situations are disjoint
    first_row: np.ndarray  # the situation's rows in this step: first_row .. last_row, inclusive
    last_row: np.ndarray
    carry: np.ndarray  # the entry it continues, -1 for none
    verdict: np.ndarray  # int64[P, cap]; joins may have rows behind them: codes of values (Spec.equal)
    offset: np.ndarray  # int64[n, K + 1]


class Spec(NamedTuple):
    """The query as numbers."""

    relations: np.ndarray  # int64[n, n]: allowed atoms as bits, from row to column; ALL where free
    lower: np.ndarray  # int64[n, n]: how a bound situation narrows another symbol's range (relate.py)
    upper: np.ndarray
    at_least: np.ndarray  # int64[n]: 0 for none
    at_most: np.ndarray  # int64[n]: UNBOUNDED for none
    followed: np.ndarray  # int64[P, 2]: pairs (A, B) some constraint asks followed-by of
    ending: np.ndarray  # int64[R]: the symbols of these pairs, ascending: their raw ends are kept (SEM 8.4)
    verdict_of: np.ndarray  # int64[n, n]: index into followed, -1
    trigger_ts: np.ndarray  # bool[n]: can the symbol's start be the instant a match is reported at
    trigger_te: np.ndarray
    trigger_admissible: np.ndarray
    within: np.int64  # UNBOUNDED for none
    forget_after: np.int64  # UNBOUNDED for none
    final: bool
    differences: np.ndarray  # int64[Q, 6]: see Difference below; those of one pair follow each other
    differ_from: np.ndarray  # int64[n, n]: the pair's differences are rows differ_from .. differ_to
    differ_to: np.ndarray
    equal: np.ndarray  # int64[n, n]: see below, -1 for none


# Spec.equal[A, B] is the row of Runs.verdict with codes of A's situations, which must be those that B's have
# in row Spec.equal[B, A]; nothing is compared where Runs has no such rows.

# The columns of Spec.differences: x of X - y of Y <= bound (SEM 9.1), an end being 0 for ts and 1 for te.
# AT_Y: certain from y on, whatever x is: of given intervals, which have no other event instants (SEM 9.3).
LEFT, LEFT_END, RIGHT, RIGHT_END, BOUND, AT_Y = range(6)


@kernel
def as_rows(t):
    """A plain tuple of Rows by its name."""
    return Rows(t[0], t[1], t[2])


@kernel
def as_slots(state):
    """The rows of an int64[2 + R, K] by their names."""
    return Slots(state[0], state[1].view(np.uint64), state[2:])


@kernel
def as_entries(kept, offset):
    """The rows of an int64[4 + P, E] by their names."""
    return Entries(kept[0], kept[1], kept[2], kept[3], kept[4:], offset)


@kernel
def as_runs(t):
    """A plain tuple of Runs by its name."""
    return Runs(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8])


@kernel
def as_spec(t):
    """A plain tuple of Spec by its name."""
    return Spec(
        t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15],
        t[16], t[17],
    )  # fmt: skip
