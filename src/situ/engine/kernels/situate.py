"""Rows to situations, all of it in one call."""

import numpy as np

from situ.engine.kernels.admit import admit, judge_followed, latest_raw_ends
from situ.engine.kernels.derive import derive
from situ.engine.kernels.jit import kernel
from situ.engine.kernels.layout import Slots, as_entries, as_rows, as_slots, as_spec


@kernel
def situate(rows, slots, entries, spec):
    """Situations of the rows, those carried over first, and the slots afterwards (SEM 2).

    Takes and returns plain tuples.
    """
    rows, slots, entries, spec = as_rows(rows), as_slots(slots), as_entries(entries), as_spec(spec)
    runs, mask = derive(
        rows, entries, slots, len(spec.followed), spec.at_least, spec.at_most, spec.forget_after
    )
    after = settle(rows, runs, slots, entries, spec, mask)
    return (
        (runs.ts, runs.te, runs.admissible, runs.latest_te, runs.first_row, runs.last_row, runs.carry,
         runs.verdict, runs.offset),
        (after.horizon, after.mask, after.raw_end),
    )  # fmt: skip


@kernel
def settle(rows, runs, slots, entries, spec, mask):
    """What derivation leaves open: followed-by verdicts, admissible instants, the slots afterwards."""
    raw_end = slots.raw_end
    if len(spec.followed):
        judge_followed(runs, entries, slots, spec.followed, spec.ending)
        raw_end = latest_raw_ends(runs, slots, spec.ending)
    held = np.uint64(0)
    horizon = np.empty(len(slots.horizon), np.int64)
    for k in range(len(horizon)):
        held |= slots.mask[k]
        some = rows.offset[k + 1] > rows.offset[k]
        horizon[k] = rows.time[rows.offset[k + 1] - 1] if some else slots.horizon[k]
    admit(rows, runs, spec.at_least, spec.at_most, spec.followed, held)
    return Slots(horizon, mask, raw_end)
