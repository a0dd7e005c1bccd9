"""Purging what no future match can use: by the pattern, and by what is complete (SEM 8.4, 8.5)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from situ.operators.situations.kernels.layout import Spec
from situ.operators.situations.kernels.prune import useful
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.operators.situations.known import Known, Positions
from situ.rows.kernels.numbers import LONG_AGO, NEVER, UNBOUNDED, minus


def prune(known: Known, spec: Spec) -> Known:
    """Without closed situations that the pattern rules out for every match to come."""
    if not known.n_entries or len(spec.relations) == 1:
        return known
    keep = useful(known.entries, spec)
    return known if keep.all() else known.keep_entries(keep)


def purge(known: Known, spec: Spec, complete: int) -> tuple[Known, npt.NDArray[np.bool_]]:
    """What is left once every instant before `complete` is; and which partitions can be forgotten.

    A partition is forgotten when nothing of it is kept and either no condition holds or looks back (a later
    row begins afresh with the same results) or `forget_after` has passed it.
    """
    slots, entries = known.slots, known.entries
    oldest = oldest_kept_each(np.maximum(slots.horizon, minus(complete, 1)), spec.within)
    keep = entries.ts >= np.repeat(oldest, np.diff(entries.offset))
    if not keep.all():
        known = known.keep_entries(keep)
    nothing_kept = np.diff(known.offset) == 0
    ends_passed = (slots.raw_end < oldest).all(axis=0)
    forgotten = (slots.mask == 0) & ends_passed & ~known.keeps_values
    if spec.forget_after != UNBOUNDED:
        forgotten |= slots.horizon < minus(complete, spec.forget_after)
    return known, nothing_kept & forgotten & (slots.horizon < complete)


def next_purge(known: Known, spec: Spec) -> Positions:
    """For each slot the instant that must be complete before something of it can go."""
    slots, entries = known.slots, known.entries
    when = np.full(known.n_slots, NEVER)
    if spec.within != UNBOUNDED:
        oldest = np.full(known.n_slots, NEVER)
        of = np.repeat(np.arange(known.n_slots), np.diff(entries.offset))
        np.minimum.at(oldest, of, entries.ts)
        for ends in slots.raw_end:
            may_go = (ends > LONG_AGO) & (slots.mask == 0) & ~known.keeps_values
            oldest = np.where(may_go, np.minimum(oldest, ends), oldest)
        when = later(oldest, int(spec.within) + 2)
    if spec.forget_after != UNBOUNDED:
        when = np.minimum(when, later(slots.horizon, int(spec.forget_after) + 2))
    return when


def later(instants: Positions, by: int) -> Positions:
    """The instants moved by a duration, NEVER at the most."""
    by = min(by, int(NEVER))
    return np.where(instants > NEVER - by, NEVER, np.minimum(instants, NEVER - by) + by)
