"""Purging what no future match can use: by the pattern, and by what is complete (SEM 8.4, 8.5)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from situ.operators.situations.kernels.layout import Spec
from situ.operators.situations.kernels.prune import useful
from situ.operators.situations.kernels.retain import oldest_kept_each
from situ.operators.situations.known import Known
from situ.rows.kernels.numbers import UNBOUNDED, minus


def prune(known: Known, spec: Spec) -> Known:
    """Without closed situations that the pattern rules out for every match to come."""
    if not known.n_entries or len(spec.relations) == 1:
        return known
    keep = useful(known.entries, spec)
    return known if keep.all() else known.keep_entries(keep)


def purge(known: Known, spec: Spec, complete: int) -> tuple[Known, npt.NDArray[np.bool_]]:
    """What is left once every instant before `complete` is; and which partitions can be forgotten.

    A partition is forgotten when nothing of it is kept and either no condition holds (a later row
    begins afresh with the same results) or `forget_after` has passed it.
    """
    slots, entries = known.slots, known.entries
    oldest = oldest_kept_each(np.maximum(slots.horizon, minus(complete, 1)), spec.within)
    keep = entries.ts >= np.repeat(oldest, np.diff(entries.offset))
    if not keep.all():
        known = known.keep_entries(keep)
    nothing_kept = np.diff(known.offset) == 0
    ends_passed = (slots.raw_end < oldest).all(axis=0)
    forgotten = (slots.mask == 0) & ends_passed
    if spec.forget_after != UNBOUNDED:
        forgotten |= slots.horizon < minus(complete, spec.forget_after)
    return known, nothing_kept & forgotten & (slots.horizon < complete)
