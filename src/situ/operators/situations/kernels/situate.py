"""Rows to situations, all of it in one call."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.admit import admit, judge_followed, latest_raw_ends
from situ.operators.situations.kernels.derive import derive
from situ.operators.situations.kernels.layout import as_entries, as_rows, as_slots, as_spec


@kernel
def situate(rows, state, kept, offset, spec):
    """Situations of the rows, those carried over first, and the slots' state afterwards (SEM 2).

    Takes and returns plain tuples.
    """
    rows, slots, entries, spec = as_rows(rows), as_slots(state), as_entries(kept, offset), as_spec(spec)
    runs, mask = derive(
        rows, entries, slots, len(spec.followed), spec.at_least, spec.at_most, spec.forget_after
    )
    after = settle(rows, runs, slots, entries, spec, mask)
    return (
        (runs.ts, runs.te, runs.admissible, runs.latest_te, runs.first_row, runs.last_row, runs.carry,
         runs.verdict, runs.offset),
        after,
    )  # fmt: skip


@kernel
def settle(rows, runs, slots, entries, spec, mask):
    """What derivation leaves open: followed-by verdicts, admissible instants, the slots' state afterwards."""
    n_slots = len(slots.horizon)
    state = np.empty((2 + len(spec.ending), n_slots), np.int64)
    after = as_slots(state)
    if len(spec.followed):
        judge_followed(runs, entries, slots, spec.followed, spec.ending)
        latest_raw_ends(runs, slots, spec.ending, after.raw_end)
    held = np.uint64(0)
    for k in range(n_slots):
        held |= slots.mask[k]
        some = rows.offset[k + 1] > rows.offset[k]
        after.horizon[k] = rows.time[rows.offset[k + 1] - 1] if some else slots.horizon[k]
        after.mask[k] = mask[k]
    admit(rows, runs, spec.at_least, spec.at_most, spec.followed, held)
    return state
