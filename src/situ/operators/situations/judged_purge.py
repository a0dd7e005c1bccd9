"""Purging what no match to come can use, where situations may be absent or matches wait (SEM 11.7)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from situ.operators.situations.judged import JudgedEngine
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.operators.situations.known import Known, Positions
from situ.operators.situations.purge import later
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN, UNBOUNDED, minus

Flags = npt.NDArray[np.bool_]


def purge(known: Known, engine: JudgedEngine, complete: int) -> tuple[Known, Flags]:
    """What is left once every instant before `complete` is; and which partitions can be forgotten."""
    spec, state = engine.spec, known.state
    oldest = oldest_kept_each(np.maximum(state[engine.clock_row], minus(complete, 1)), spec.within)
    slot = np.repeat(np.arange(known.n_slots), np.diff(known.offset))
    ends = known.entries.te
    keep = known.entries.ts >= oldest[slot]
    is_absent = known.kept[0] >= engine.n_positive
    if is_absent.any():
        reach = engine.reach[known.kept[0]]
        since = np.maximum(oldest[slot], LONG_AGO + np.maximum(reach, 0)) - np.maximum(reach, 0)
        stays = (ends == OPEN) | (ends >= since) | ((reach == UNBOUNDED) & is_first(known, slot))
        keep = np.where(is_absent, stays, keep)
    is_over = np.zeros(known.n_slots, bool)  # what comes begins a new history
    if spec.forget_after != UNBOUNDED:
        is_over = known.horizon < minus(complete, spec.forget_after)
        keep &= ~is_over[slot]
    if not keep.all():
        known = known.keep_entries(keep)
    raw_end = state[2 : 2 + len(spec.ending)]
    holds_on = engine.holds_on(known) | known.keeps_values
    forgotten = is_over | ~holds_on & (raw_end < oldest).all(axis=0)
    return known, (np.diff(known.offset) == 0) & forgotten & (known.horizon < complete)


def is_first(known: Known, slot: Positions) -> Flags:
    """Which entries are the first of their slot and symbol: of those that are over, the oldest."""
    symbol = known.kept[0]
    first = np.ones(len(symbol), bool)
    first[1:] = (slot[1:] != slot[:-1]) | (symbol[1:] != symbol[:-1])
    return first


def next_purge(known: Known, engine: JudgedEngine) -> Positions:
    """For each slot the instant that must be complete before something of it can go."""
    spec = engine.spec
    when = np.full(known.n_slots, NEVER)
    if spec.within != UNBOUNDED:
        slot = np.repeat(np.arange(known.n_slots), np.diff(known.offset))
        entries, symbol = known.entries, known.kept[0]
        is_absent = symbol >= engine.n_positive
        reach = np.where(is_absent, engine.reach[symbol], 0)
        leaves = later(np.where(is_absent, entries.te, entries.ts), int(spec.within) + 2)
        leaves = np.where(leaves > NEVER - np.maximum(reach, 0), NEVER, leaves + np.maximum(reach, 0))
        stays = is_absent & ((entries.te == OPEN) | ((reach == UNBOUNDED) & is_first(known, slot)))
        np.minimum.at(when, slot, np.where(stays, NEVER, leaves))
        idle = ~engine.holds_on(known) & ~known.keeps_values
        for ends in known.state[2 : 2 + len(spec.ending)]:
            gone = later(ends, int(spec.within) + 2)
            when = np.where(idle & (ends > LONG_AGO), np.minimum(when, gone), when)
    if spec.forget_after != UNBOUNDED:
        when = np.minimum(when, later(known.horizon, int(spec.forget_after) + 2))
    return when


def next_due(known: Known, engine: JudgedEngine) -> Positions:
    """For each slot the smallest `complete` at which time alone brings a match."""
    return later(known.state[engine.due_row], 1)
