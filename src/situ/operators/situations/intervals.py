"""Situations that are given, not derived: rows become intervals, begin and closing rows paired (SEM 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.errors import DataError
from situ.rows.kernels.numbers import OPEN
from situ.rows.keys import encode

Ticks = npt.NDArray[np.int64]


class Intervals(NamedTuple):
    """M intervals; what is kept of a partition, or what a step has to match."""

    slot: Ticks
    ts: Ticks
    te: Ticks  # OPEN while only its begin is known
    known: Ticks  # instant of the first row that mentioned it
    mask: npt.NDArray[np.uint64]  # which symbols it is a situation of
    ids: pa.Array | None
    begin_row: Ticks  # its attributes before and from te on, as rows of `attributes`
    last_row: Ticks
    attributes: dict[str, pa.Array]

    def take(self, chosen: Ticks) -> Intervals:
        """Some of them; `attributes` is left as it is."""
        ids = None if self.ids is None else self.ids.take(pa.array(chosen))
        return Intervals(
            self.slot[chosen],
            self.ts[chosen],
            self.te[chosen],
            self.known[chosen],
            self.mask[chosen],
            ids,
            self.begin_row[chosen],
            self.last_row[chosen],
            self.attributes,
        )

    def compacted(self) -> Intervals:
        """Only the attribute rows that later steps can ask for: the latest of each interval."""
        rows = np.arange(len(self.ts))
        latest = pa.array(self.last_row)
        attributes = {name: column.take(latest) for name, column in self.attributes.items()}
        return self._replace(begin_row=rows, last_row=rows, attributes=attributes)


class IntervalRows(NamedTuple):
    """Rows as they came; `te` is OPEN in a begin row (a punctuation)."""

    slot: Ticks
    ts: Ticks
    te: Ticks
    mask: npt.NDArray[np.uint64]
    ids: pa.Array | None
    attributes: dict[str, pa.Array]


def resolve(kept: Intervals, rows: IntervalRows) -> Intervals:
    """Intervals kept and new rows put together: sorted by slot and ts, each interval once."""
    n_kept = len(kept.ts)
    attributes = {
        name: pa.concat_arrays([kept.attributes[name], column]) for name, column in rows.attributes.items()
    }
    row = np.arange(n_kept, n_kept + len(rows.ts))
    known = np.where(rows.te == OPEN, rows.ts, rows.te)
    both = Intervals(
        np.concatenate([kept.slot, rows.slot]),
        np.concatenate([kept.ts, rows.ts]),
        np.concatenate([kept.te, rows.te]),
        np.concatenate([kept.known, known]),
        np.concatenate([kept.mask, rows.mask]),
        None if rows.ids is None else pa.concat_arrays([kept.ids, rows.ids]),
        np.concatenate([kept.begin_row, row]),
        np.concatenate([kept.last_row, row]),
        attributes,
    )
    if both.ids is None:
        _refuse_begins_without_id(rows)
    else:
        both = _paired(both, n_kept)
    return both.take(np.lexsort((both.te, both.ts, both.slot)))


def _refuse_begins_without_id(rows: IntervalRows) -> None:
    begins = np.flatnonzero(rows.te == OPEN)
    if len(begins):
        raise DataError(
            f"{len(begins)} rows have no end (the first starts at {int(rows.ts[begins[0]])}), "
            "and nothing says which row closes them",
            hint="name the column that identifies an interval with ID BY, or leave such rows out with WHERE",
        )


def _paired(both: Intervals, n_kept: int) -> Intervals:
    """A closing row joined to the begin row of its id; every rule of SEM 6.3 checked."""
    assert both.ids is not None
    has_id = np.asarray(both.ids.is_valid())
    if bool((~has_id & (both.te == OPEN)).any()):
        raise DataError("a row without an end has no id either", hint="give every begin row an id")
    codes, _ = encode([pa.array(both.slot), both.ids], len(both.ts))
    n_codes = int(codes.max(initial=-1)) + 1
    codes = np.where(has_id, codes, n_codes + np.arange(len(codes)))  # without an id: nobody's partner
    # by id; of one id the begin comes first, because it came first or has no end
    order = np.lexsort((both.te != OPEN, np.arange(len(codes)) >= n_kept, codes))
    same = codes[order][1:] == codes[order][:-1]
    first, second = order[:-1][same], order[1:][same]
    if bool((same[1:] & same[:-1]).any()):
        third = int(order[2:][same[1:] & same[:-1]][0])
        raise _refused(both, third, "a third row has the same id")
    if bool((both.te[first] != OPEN).any()):
        raise _refused(both, int(second[both.te[first] != OPEN][0]), "it was closed before")
    if bool((both.te[second] == OPEN).any()):
        raise _refused(both, int(second[both.te[second] == OPEN][0]), "it has begun before")
    differs = (both.ts[first] != both.ts[second]) | (both.mask[first] != both.mask[second])
    if bool(differs.any()):
        raise _refused(both, int(second[differs][0]), "its begin row has another start or symbol")
    closed = both._replace(te=both.te.copy(), last_row=both.last_row.copy())
    closed.te[first] = both.te[second]
    closed.last_row[first] = both.last_row[second]
    keep = np.ones(len(codes), bool)
    keep[second] = False
    return closed.take(np.flatnonzero(keep))


def _refused(both: Intervals, row: int, why: str) -> DataError:
    assert both.ids is not None
    end = "no end" if both.te[row] == OPEN else f"end {int(both.te[row])}"
    return DataError(
        f"interval {both.ids[row].as_py()!r} (start {int(both.ts[row])}, {end}) contradicts an earlier row: "
        f"{why}",
        hint="an id stands for one interval: one begin row at the most, then one closing row "
        "with the same start",
    )


def no_intervals(attributes: Mapping[str, pa.DataType], id_type: pa.DataType | None) -> Intervals:
    """No intervals, with columns of these types."""
    none = np.empty(0, np.int64)
    ids = None if id_type is None else pa.array([], id_type)
    own = {name: pa.array([], kind) for name, kind in attributes.items()}
    return Intervals(none, none, none, none, np.empty(0, np.uint64), ids, none, none, own)


def concat_intervals(several: Sequence[Intervals]) -> Intervals:
    """One after the other."""
    compact = [one.compacted() for one in several]
    rows = np.arange(sum(len(one.ts) for one in compact))
    ids = None if compact[0].ids is None else pa.concat_arrays([one.ids for one in compact])
    attributes = {
        name: pa.concat_arrays([one.attributes[name] for one in compact]) for name in compact[0].attributes
    }
    arrays = [np.concatenate(parts) for parts in zip(*(one[:5] for one in compact), strict=True)]
    slot, ts, te, known, mask = arrays
    return Intervals(slot, ts, te, known, mask, ids, rows, rows, attributes)
