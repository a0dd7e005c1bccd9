"""Whether what is known of slots is what every other kernel takes for granted: they look at nothing twice.

Kernels run without bounds checks. A symbol that the query does not have, an offset beyond the end or a
condition without a bit would be read or written outside of arrays.
"""

from situ.compiled.jit import kernel
from situ.operators.situations.kernels.layout import as_entries, as_slots
from situ.rows.kernels.numbers import LONG_AGO, NEVER, OPEN

SOUND, OFFSETS, CONDITIONS, SYMBOLS, ORDER, INSTANTS = range(6)


@kernel
def fault_of_known(state, kept, offset, n_symbols, n_ending):
    """SOUND, or the first rule that is broken. Shapes fit each other; O(entries + slots).

    OFFSETS: they ascend from 0 to the number of entries. CONDITIONS: only the query's hold. SYMBOLS: only
    the query's occur. ORDER: within a slot by symbol, within a symbol strictly by ts. INSTANTS: LONG_AGO <
    ts < te, nothing but an open end and what is not admissible yet lies beyond the horizon.
    """
    slots, entries = as_slots(state), as_entries(kept, offset)
    n_slots, size = len(slots.horizon), len(entries.symbol)
    if offset[0] != 0 or offset[n_slots] != size:
        return OFFSETS
    for k in range(n_slots):
        if offset[k] > offset[k + 1]:
            return OFFSETS
        for symbol in range(n_symbols, 64):
            if (slots.mask[k] >> symbol) & 1:
                return CONDITIONS
        horizon = slots.horizon[k]
        for row in range(n_ending):
            if slots.raw_end[row, k] > horizon:
                return INSTANTS
        for e in range(offset[k], offset[k + 1]):
            symbol, ts, te, since = entries.symbol[e], entries.ts[e], entries.te[e], entries.admissible[e]
            if symbol < 0 or symbol >= n_symbols:
                return SYMBOLS
            if e > offset[k]:
                before = entries.symbol[e - 1]
                if before > symbol or (before == symbol and entries.ts[e - 1] >= ts):
                    return ORDER
            if ts == LONG_AGO or ts >= te or ts > horizon or (te > horizon and te != OPEN):
                return INSTANTS
            if since < ts or (since > horizon and since != NEVER):
                return INSTANTS
    return SOUND
