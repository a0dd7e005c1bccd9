"""Where the values stand that rows look back at (SEM 15): behind those kept of each slot come its rows'."""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.derive import after_gap
from situ.rows.kernels.numbers import UNBOUNDED


@kernel
def histories(time, offset, horizon, forget_after):
    """How many histories have begun since the step before (SEM 8.5): for each row, and for each slot."""
    number, latest = np.zeros(len(time), np.int64), np.zeros(len(offset) - 1, np.int64)
    for k in range(len(offset) - 1):
        last, begun = horizon[k], 0
        for row in range(offset[k], offset[k + 1]):
            if forget_after != UNBOUNDED and after_gap(last, time[row], forget_after):
                begun += 1
            number[row] = begun
            last = time[row]
        latest[k] = begun
    return number, latest


@kernel
def places_back(history, offset, kept_offset, n):
    """For each row the place of the n-th before it in its history, -1 for none; kept values come first."""
    n_kept = kept_offset[-1]
    places = np.empty(len(history), np.int64)
    for k in range(len(offset) - 1):
        begin, kept_end = offset[k], kept_offset[k + 1]
        for row in range(begin, offset[k + 1]):
            back = row - n
            places[row] = -1
            if back >= begin:
                if history[back] == history[row]:
                    places[row] = n_kept + back
            elif history[row] == 0 and kept_end - (begin - back) >= kept_offset[k]:
                places[row] = kept_end - (begin - back)
    return places


@kernel
def last_places(history, latest, offset, kept_offset, most):
    """The places of the last `most` rows of each slot's latest history, and their offsets by slot."""
    n_kept, n_slots = kept_offset[-1], len(offset) - 1
    new_offset = np.zeros(n_slots + 1, np.int64)
    places = np.empty(n_kept + len(history), np.int64)
    n = 0
    for k in range(n_slots):
        begin, end = offset[k], offset[k + 1]
        own = max(begin, end - most)
        while own < end and history[own] != latest[k]:
            own += 1
        if latest[k] == 0:  # the history that values are kept of goes on
            more = min(most - (end - own), kept_offset[k + 1] - kept_offset[k])
            for place in range(kept_offset[k + 1] - more, kept_offset[k + 1]):
                places[n] = place
                n += 1
        for row in range(own, end):
            places[n] = n_kept + row
            n += 1
        new_offset[k + 1] = n
    return places[:n], new_offset
