"""Saved state, checked after reading: what the rest of the engine takes for granted is so, or a StateError.

Bytes can be forged, checksum and all, and the engine does not look twice: kernels run without bounds
checks. What can be read is checked here, once, by arrays. A false but possible state (another time,
another count) cannot be told from a true one, and does no harm beyond its answers.

| of | what must hold |
|---|---|
| `Known` | shapes fit the query and each other; `kernels.sound` says the rest |
| aggregates | as many as situations of their symbol; values in range (`aggregate.validate`) |
| rows | columns of one length and of their types; codes are slots; only the query's conditions hold |
| | instants are none of the reserved ones and lie after what their slot has processed |
| intervals | begin before they end, known from the one or the other; of slots; an open one has an id |
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from situ.errors import StateError
from situ.operators.situations.intervals import Intervals
from situ.operators.situations.kernels.layout import Spec
from situ.operators.situations.kernels.sound import (
    CONDITIONS,
    INSTANTS,
    OFFSETS,
    ORDER,
    SOUND,
    SYMBOLS,
    fault_of_known,
)
from situ.operators.situations.known import Known, Positions
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.prepare import Prepared

_FAULTS = {
    OFFSETS: "the situations of a partition begin or end where there are none",
    CONDITIONS: "a condition holds that the query does not have",
    SYMBOLS: "a situation is of a symbol that the query does not have",
    ORDER: "situations are out of order",
    INSTANTS: "the instants of a situation contradict each other",
}


def require(holds: bool | np.bool_, fault: str) -> None:
    """A StateError that names the fault, unless the rule holds."""
    if not holds:
        raise StateError(
            f"saved state is damaged: {fault}",
            hint="restore it from another copy, or start from the beginning of the input",
        )


def check_known(known: Known, spec: Spec) -> None:
    """Refuse what no step can have left; `known` has the shapes of this query."""
    n_symbols = len(spec.at_least)
    fault = fault_of_known(known.state, known.kept, known.offset, n_symbols)
    if fault != SOUND:
        require(False, _FAULTS[fault])
    for symbol, states in enumerate(known.carry):
        if states.components:
            n = int((known.kept[0] == symbol).sum())
            require(len(states) == n, f"aggregates of {len(states)} situations where there are {n}")


def check_rows(rows: Prepared, horizon: Positions, n_symbols: int) -> None:
    """Refuse waiting rows of slots that there are not, or that their slot has passed."""
    columns = [*rows.attributes.values(), *rows.ties]
    lengths = {len(rows.codes), len(rows.time), len(rows.mask), *map(len, columns)}
    require(len(lengths) == 1, "rows have columns of different lengths")
    if not rows.n_rows:
        return
    require(are_slots(rows.codes, len(horizon)), "a row is of a partition that is not there")
    check_masks(rows.mask, n_symbols)
    require((rows.time > horizon[rows.codes]).all(), "a row waits whose time is over")
    require(rows.time.max() < OPEN, "a row has no time")


def check_given_rows(rows: Prepared, horizon: Positions, n_symbols: int) -> None:
    """`check_rows` for rows of given intervals, whose starts and ends travel as columns."""
    check_rows(rows, horizon, n_symbols)
    starts, ends = rows.attributes["_ts"], rows.attributes["_te"]
    require(not starts.null_count and not ends.null_count, "an interval has no start")
    ts, te = starts.to_numpy(), ends.to_numpy()
    _check_ends(ts, te)
    require((rows.time == np.where(te == OPEN, ts, te)).all(), "a row's time is not its interval's")


def check_intervals(kept: Intervals, n_slots: int, n_symbols: int) -> None:
    """Refuse kept intervals that no rows can have given."""
    columns = [*kept.attributes.values(), *([] if kept.ids is None else [kept.ids])]
    lengths = {len(array) for array in (*kept[:5], *columns)}
    require(len(lengths) == 1, "intervals have columns of different lengths")
    require(are_slots(kept.slot, n_slots), "an interval is of a partition that is not there")
    check_masks(kept.mask, n_symbols)
    _check_ends(kept.ts, kept.te)
    is_open = kept.te == OPEN
    if is_open.any():  # rows may wait without an id, to be refused as data; an interval cannot
        has_id = False if kept.ids is None else np.asarray(kept.ids.is_valid())
        require((~is_open | has_id).all(), "an interval without an id is open")
    is_known = (kept.known == kept.ts) | ((kept.known == kept.te) & (kept.te != OPEN))
    require(is_known.all(), "an interval is known from neither its start nor its end")


def _check_ends(ts: Positions, te: Positions) -> None:
    require(((ts > LONG_AGO) & (ts < te)).all(), "an interval does not end after it starts")


def check_masks(mask: npt.NDArray[np.unsignedinteger], n_symbols: int) -> None:
    """Only conditions that the query has can hold."""
    if n_symbols < 64 and len(mask):
        held = int(np.bitwise_or.reduce(mask))
        require(held >> n_symbols == 0, _FAULTS[CONDITIONS])


def are_slots(codes: Positions, n_slots: int) -> bool:
    """Whether all are positions of `n_slots` slots."""
    return not len(codes) or (int(codes.min()) >= 0 and int(codes.max()) < n_slots)


def require_ascending(values: Positions, what: str) -> None:
    """Each must be larger than the one before it."""
    require(bool((values[1:] > values[:-1]).all()), f"{what} are out of order")
