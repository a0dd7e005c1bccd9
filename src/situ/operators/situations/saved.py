"""What is kept of situations, in saved state.

| of | what must hold |
|---|---|
| `Known` | shapes fit the query and each other; `kernels.sound` says the rest |
| aggregates | as many as situations of their symbol; values in range (`aggregate.validate`) |
| intervals | begin before they end, known from the one or the other; of slots; an open one has an id |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from situ.aggregate import AggregateSpec, States
from situ.operators.situations.engine import Engine
from situ.operators.situations.intervals import Intervals
from situ.operators.situations.kernels.layout import Entries, Slots, Spec
from situ.operators.situations.kernels.sound import (
    CONDITIONS,
    INSTANTS,
    OFFSETS,
    ORDER,
    SOUND,
    SYMBOLS,
    fault_of_known,
)
from situ.operators.situations.known import Known
from situ.rows.instants import check_ends
from situ.rows.kernels.numbers import OPEN
from situ.saved.checks import CONDITIONS_FAULT, are_slots, check_masks, require
from situ.saved.codec import Reader, Writer

_MOST_BUFFERS = 1 << 16  # of one symbol's aggregates
_FAULTS = {
    OFFSETS: "the situations of a partition begin or end where there are none",
    CONDITIONS: CONDITIONS_FAULT,
    SYMBOLS: "a situation is of a symbol that the query does not have",
    ORDER: "situations are out of order",
    INSTANTS: "the instants of a situation contradict each other",
}


def write_known(writer: Writer, known: Known, specs: Sequence[AggregateSpec]) -> None:
    """Add what is known of some partitions."""
    for array in (*known.slots, *known.entries):
        writer.array(array)
    for spec, states in zip(specs, known.carry, strict=True):
        write_states(writer, spec, states)


def write_states(writer: Writer, spec: AggregateSpec, states: States) -> None:
    """Add the aggregates of one symbol's situations."""
    buffers = spec.to_buffers(states) if spec else []
    writer.array(np.array([len(buffers)]))
    for buffer in buffers:
        writer.array(np.frombuffer(buffer, np.uint8))


def read_states(reader: Reader, spec: AggregateSpec, opaque: Mapping[str, pa.DataType]) -> States:
    """What `write_states` wrote; `opaque` as in `AggregateSpec.from_buffers`."""
    (n_buffers,) = reader.array(np.int64, (1,)).tolist()
    require(0 <= n_buffers <= _MOST_BUFFERS and (n_buffers > 0) == bool(spec), "aggregates are missing")
    buffers = [reader.array(np.uint8, (None,)).tobytes() for _ in range(n_buffers)]
    return spec.from_buffers(buffers, opaque) if spec else spec.empty()


def read_known(reader: Reader, engine: Engine, n_slots: int, opaque: Mapping[str, pa.DataType]) -> Known:
    """What `write_known` wrote of so many partitions; `opaque` as in `AggregateSpec.from_buffers`."""
    spec = engine.spec
    slots = Slots(
        reader.array(np.int64, (n_slots,)),
        reader.array(np.uint64, (n_slots,)),
        reader.array(np.int64, (engine.n_state_rows - 2, n_slots)),
    )
    symbol = reader.array(np.int64, (None,))
    size = len(symbol)
    ts, te, admissible = (reader.array(np.int64, (size,)) for _ in range(3))
    verdict = reader.array(np.int64, (len(spec.followed), size))
    entries = Entries(symbol, ts, te, admissible, verdict, reader.array(np.int64, (n_slots + 1,)))
    carry = [read_states(reader, own, opaque) for own in engine.aggregates]
    known = Known.of(slots, entries, tuple(carry))
    check_known(known, spec)
    engine.check_state(known)
    return known


def check_known(known: Known, spec: Spec) -> None:
    """Refuse what no step can have left; `known` has the shapes of this query."""
    n_symbols = len(spec.at_least)
    fault = fault_of_known(known.state, known.kept, known.offset, n_symbols, len(spec.ending))
    if fault != SOUND:
        require(False, _FAULTS[fault])
    for symbol, states in enumerate(known.carry):
        if states.components:
            n = int((known.kept[0] == symbol).sum())
            require(len(states) == n, f"aggregates of {len(states)} situations where there are {n}")


def check_intervals(kept: Intervals, n_slots: int, n_symbols: int) -> None:
    """Refuse kept intervals that no rows can have given."""
    columns = [*kept.attributes.values(), *([] if kept.ids is None else [kept.ids])]
    lengths = {len(array) for array in (*kept[:5], *columns)}
    require(len(lengths) == 1, "intervals have columns of different lengths")
    require(are_slots(kept.slot, n_slots), "an interval is of a partition that is not there")
    check_masks(kept.mask, n_symbols)
    check_ends(kept.ts, kept.te)
    is_open = kept.te == OPEN
    if is_open.any():  # rows may wait without an id, to be refused as data; an interval cannot
        has_id = False if kept.ids is None else np.asarray(kept.ids.is_valid())
        require((~is_open | has_id).all(), "an interval without an id is open")
    is_known = (kept.known == kept.ts) | ((kept.known == kept.te) & (kept.te != OPEN))
    require(is_known.all(), "an interval is known from neither its start nor its end")
