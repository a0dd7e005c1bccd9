"""Rows that were kept and rows that came as one sequence, cut into histories (ROW 1.3, 8.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from situ.errors import DataError
from situ.operators.rowpattern.found import Ordered
from situ.operators.rowpattern.kept import KeptRows
from situ.operators.rowpattern.kernels.layout import Histories
from situ.rows.kernels.numbers import LONG_AGO, NEVER, UNBOUNDED
from situ.rows.kernels.order import goes_on as in_order
from situ.rows.keys import shown
from situ.rows.needs import Needs
from situ.rows.order import arrange
from situ.rows.prepared import Positions, Prepared
from situ.rows.schema import time_text
from situ.rows.small import Mask


class Sequenced(NamedTuple):
    """All rows of a step in order, and the histories they make."""

    ordered: Ordered
    mask: Mask
    histories: Histories
    slot: Positions  # of each history
    last: Positions  # of each slot its last history, -1 for none
    horizon: Positions  # of each slot, with the new rows
    now: Positions  # of each slot: rows of instants up to here are known
    is_new: Positions  # of each slot: does a history begin with its rows of this step


def sequenced(
    kept: KeptRows, rows: Prepared, needs: Needs, complete: int | None, forget_after: int
) -> Sequenced:
    """Put the rows behind those kept, slot by slot."""
    n_slots = kept.n_slots
    is_one = n_slots == 1 and rows.n_rows and forget_after == UNBOUNDED and not needs.is_timeless
    if is_one and in_order(rows.time, kept.horizon, LONG_AGO):
        return _one_history(kept, rows, complete)
    order, offset = arrange(rows, n_slots, needs)
    if needs.order == "distinct":
        _refuse_ties(rows, order, offset, needs)
    sizes_before, sizes_new = np.diff(kept.offset), np.diff(offset)
    if len(kept.time) == 0:
        time, mask, columns = _in_order(rows, order)
        borders = offset
    else:
        time, mask, columns, borders = _joined(kept, rows, order, sizes_before, sizes_new)
    slot_of_row = rows.codes
    if order is not None or len(time) > len(slot_of_row):
        slot_of_row = np.repeat(np.arange(n_slots), np.diff(borders))
    has_rows = sizes_new > 0
    horizon = kept.slots.horizon.copy()
    horizon[has_rows] = time[borders[1:][has_rows] - 1]
    now = np.maximum(kept.slots.told, horizon)
    if complete is not None:
        now = np.maximum(now, complete - 1)
    low, slot, renewed = _cut(kept, time, borders, sizes_before, sizes_new, forget_after)
    high = np.append(low[1:], len(time)) if len(low) else low
    first_of_slot = np.ones(len(low), bool)
    first_of_slot[1:] = slot[1:] != slot[:-1]
    goes_on = first_of_slot & ~renewed[slot] if len(low) else first_of_slot
    last = np.full(n_slots, -1, np.int64)
    last[slot] = np.arange(len(slot))
    closed = np.arange(len(slot)) != last[slot]
    over = np.full(len(slot), NEVER)
    if forget_after != UNBOUNDED and len(slot):
        ends = time[high - 1]
        over = np.where(ends > NEVER - forget_after, NEVER, ends + forget_after)
        closed |= now[slot] >= over
    histories = Histories(
        low,
        high,
        np.where(goes_on, low + kept.slots.start[slot], low),
        np.where(goes_on, kept.slots.number[slot], 0),
        now[slot],
        np.logical_and(goes_on, kept.slots.begun[slot]),
        closed,
        over,
    )
    return Sequenced(Ordered(slot_of_row, time, columns), mask, histories, slot, last, horizon, now, renewed)


_ZERO, _NOT, _NEVER = np.zeros(1, np.int64), np.zeros(1, bool), np.full(1, NEVER)


def _one_history(kept: KeptRows, rows: Prepared, complete: int | None) -> Sequenced:
    """The way of single events: one slot, whose rows come in order, behind those kept."""
    time, mask, columns = rows.time, rows.mask, rows.attributes
    if len(kept.time):
        time, mask = np.concatenate((kept.time, time)), np.concatenate((kept.mask, mask))
        columns = {name: pa.concat_arrays((one, columns[name])) for name, one in kept.columns.items()}
    slots, horizon = kept.slots, time[-1:]
    now = np.maximum(slots.told, horizon if complete is None else complete - 1)
    high = np.array([len(time)])
    histories = Histories(_ZERO, high, slots.start, slots.number, now, slots.begun, _NOT, _NEVER)
    ordered = Ordered(np.zeros(len(time), np.int64), time, columns)
    return Sequenced(ordered, mask, histories, _ZERO, _ZERO, horizon, now, _NOT)


def _in_order(rows: Prepared, order: Positions | None) -> tuple[Positions, Mask, dict[str, pa.Array]]:
    if order is None or _is_identity(order):
        return rows.time, rows.mask, rows.attributes
    chosen = pa.array(order)
    return (
        rows.time[order],
        rows.mask[order],
        {name: one.take(chosen) for name, one in rows.attributes.items()},
    )


def _is_identity(order: Positions) -> bool:
    return bool(len(order) == 0 or (order[0] == 0 and (np.diff(order) == 1).all()))


def _joined(
    kept: KeptRows, rows: Prepared, order: Positions | None, before: Positions, new: Positions
) -> tuple[Positions, Mask, dict[str, pa.Array], Positions]:
    """Kept rows and new ones, interleaved by slot."""
    n_kept = len(kept.time)
    if order is None:
        order = np.arange(rows.n_rows)
    borders = np.append(0, np.cumsum(before + new))
    columns = {name: pa.concat_arrays([one, rows.attributes[name]]) for name, one in kept.columns.items()}
    time, mask = np.concatenate([kept.time, rows.time]), np.concatenate([kept.mask, rows.mask])
    if len(before) == 1 and _is_identity(order):
        return time, mask, columns, borders
    places = np.empty(borders[-1], np.int64)
    of_kept = np.arange(n_kept) + np.repeat(borders[:-1] - kept.offset[:-1], before)
    places[of_kept] = np.arange(n_kept)
    new_offset = np.append(0, np.cumsum(new))
    of_new = np.arange(len(order)) + np.repeat(borders[:-1] + before - new_offset[:-1], new)
    places[of_new] = n_kept + order
    chosen = pa.array(places)
    return time[places], mask[places], {name: one.take(chosen) for name, one in columns.items()}, borders


def _cut(
    kept: KeptRows, time: Positions, borders: Positions, before: Positions, new: Positions, forget_after: int
) -> tuple[Positions, Positions, Positions]:
    """First rows of histories, the slot of each, and of which slots the kept history is over (SEM 8.5)."""
    sizes = before + new
    filled = np.flatnonzero(sizes)
    renewed = np.zeros(len(sizes), bool)
    if forget_after == UNBOUNDED:
        return borders[:-1][filled], filled, renewed
    begins = np.zeros(len(time), bool)
    begins[1:] = np.diff(time) > forget_after
    begins[borders[:-1][filled]] = True
    came = np.flatnonzero(new)
    first_new = borders[:-1][came] + before[came]
    horizon = kept.slots.horizon[came]
    over = (horizon > LONG_AGO) & (time[first_new] - np.maximum(horizon, LONG_AGO + 1) > forget_after)
    begins[first_new[over]] = True
    renewed[came[over & (before[came] == 0)]] = True
    low = np.flatnonzero(begins)
    return low, np.searchsorted(borders, low, side="right") - 1, renewed


def _refuse_ties(rows: Prepared, order: Positions | None, offset: Positions, needs: Needs) -> None:
    """Rows that ORDER BY leaves in no order (ROW 1.4)."""
    if order is None:
        order = np.arange(rows.n_rows)
    same = np.ones(max(len(order) - 1, 0), bool)
    borders = offset[(offset > 0) & (offset < len(order))]
    same[borders - 1] = False
    same &= rows.time[order[1:]] == rows.time[order[:-1]]
    for column in rows.ties:
        codes = column.dictionary_encode() if not pa.types.is_dictionary(column.type) else column
        numbers = np.asarray(codes.indices.fill_null(-1))
        same &= numbers[order[1:]] == numbers[order[:-1]]
    found = np.flatnonzero(same)
    if not len(found):
        return
    row = int(order[found[0]])
    values = [time_text(int(rows.time[row]), needs.time.told)] if not needs.is_timeless else []
    values += [str(shown(column[row])) for column in rows.ties]
    key = tuple(shown(one[int(rows.codes[row])]) for one in rows.keys)
    where = f" in partition {key}" if key else ""
    raise DataError(
        f"two rows are equal in all ORDER BY columns{where}: {', '.join(values)}",
        hint="name a column in ORDER BY that tells them apart, or leave ties at its default: their order is "
        "then not promised",
    )
