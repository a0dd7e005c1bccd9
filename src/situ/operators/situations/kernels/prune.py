"""Pattern-driven purge: closed situations that no future match can use (ISEQ's cascading purge).

After horizon h a match still to come holds a situation that is open now or starts later. So a closed
situation is of use only if each symbol it is related to has a partner for it, kept or still to start,
and if a chain of partners leads from it to something open or still to start. Dropping one can leave
others without a partner, so this is repeated until nothing changes.
"""

import numpy as np

from situ.algebra.relations import ALL, BEFORE
from situ.compiled.jit import kernel
from situ.operators.situations.kernels.relate import certain_at, narrow
from situ.rows.kernels.numbers import NEVER, OPEN


@kernel
def has_partner(ts, te, e, low, high, use, wanted, allowed, lower, upper):
    """Is there an entry in [low, high) with `use` >= wanted that e can stand to as allowed?"""
    low, high = narrow(ts, te, 0, low, high, ts[0, e], te[0, e], lower, upper, low)
    for p in range(low, high):
        if use[p] >= wanted:
            # whether one follows the other is not looked at: to keep too much is no mistake
            certain = certain_at(allowed, ts[0, e], te[0, e], ts[0, p], te[0, p], True, True)
            if certain == NEVER:
                certain = certain_at(allowed, ts[0, e], te[0, e], ts[0, p], te[0, p], False, False)
            if certain != NEVER:
                return True
    return False


@kernel
def useful(entries, spec):
    """Which entries a match after the horizon can still hold."""
    n = len(spec.at_least)
    size = len(entries.ts)
    ts, te = entries.ts.reshape(1, size), entries.te.reshape(1, size)
    # 0: of no use, 1: not known to lead to anything open, 2: open, or leads to something open or to come
    use = np.empty(size, np.int64)
    for e in range(size):
        use[e] = 2 if entries.te[e] == OPEN else 1
    first = np.zeros(n + 1, np.int64)
    for k in range(len(entries.offset) - 1):
        begin, end = entries.offset[k], entries.offset[k + 1]
        for symbol in range(n + 1):
            first[symbol] = end
        for e in range(end - 1, begin - 1, -1):
            first[entries.symbol[e]] = e
        for symbol in range(n - 1, -1, -1):
            first[symbol] = min(first[symbol], first[symbol + 1])
        changed = True
        while changed:
            changed = False
            for e in range(begin, end):
                if use[e] == 1:
                    new_use = judged(ts, te, e, entries.symbol[e], first, use, spec)
                    if new_use != 1:
                        use[e] = new_use
                        changed = True
                elif (
                    use[e] == 2
                    and te[0, e] != OPEN
                    and not judged(ts, te, e, entries.symbol[e], first, use, spec)
                ):
                    use[e] = 0
                    changed = True
    return use == 2


@kernel
def judged(ts, te, e, symbol, first, use, spec):
    """0 if some neighbour has no partner for the closed entry e, 2 if it leads on, else 1."""
    leads_on = False
    for other in range(len(spec.at_least)):
        allowed = spec.relations[symbol, other]
        if other == symbol or allowed == ALL:
            continue
        if allowed & BEFORE:
            leads_on = True  # a situation that starts later will do
            continue
        low, high = first[other], first[other + 1]
        lower, upper = spec.lower[symbol, other], spec.upper[symbol, other]
        if not has_partner(ts, te, e, low, high, use, 1, allowed, lower, upper):
            return 0
        leads_on = leads_on or has_partner(ts, te, e, low, high, use, 2, allowed, lower, upper)
    return 2 if leads_on else 1
