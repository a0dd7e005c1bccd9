"""Input of the row pattern experiments: sorted tables of many partitions, one row a tick."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.experiment import Measured, Watch, best_of
from situ.compiled.jit import compile_first

PARTITIONS = 1_000
SEED = 17
_STEPS = 2  # largest change of a price from row to row
_RANGE = 20  # of prices: they turn round at both ends, so that no rise or fall goes on for ever
_KINDS = (0.04, 0.18, 0.05)  # shares of robbery, battery and vehicle theft among reported crimes
_BEATS = 20


def ticks(events: int, partitions: int = PARTITIONS, seed: int = SEED) -> pa.Table:
    """Rows k, t, price, kind, beat by partition and time; prices walk at random within a range."""
    drawn = np.random.default_rng(seed)
    walk = np.cumsum(drawn.integers(-_STEPS, _STEPS + 1, events))
    price = 100.0 + np.abs(walk % (2 * _RANGE) - _RANGE)
    size = -(-events // partitions)
    row = np.arange(events)
    kind = np.searchsorted(np.cumsum(_KINDS), drawn.random(events), side="right")
    return pa.table(
        {
            "k": (row // size).astype(np.int32),
            "t": row % size,
            "price": price,
            "kind": kind.astype(np.int32),
            "beat": drawn.integers(0, _BEATS, events, dtype=np.int32),
        }
    )


def summed(table: pa.Table) -> Measured:
    """The floor: numpy's sum of the price column."""
    compile_first()  # for what it is compared with
    price = table["price"].combine_chunks().to_numpy()

    def once(watch: Watch) -> tuple[int, int]:
        with watch:
            price.sum()
        return len(price), 0

    return best_of(15, once)
