"""Rows by slot and time, one for each instant or all of them (SEM 1.3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError
from situ.rows.kernels.order import ascends, ascends_as_is, group, in_place, last_of_each_instant
from situ.rows.keys import Codes, shown
from situ.rows.needs import Needs, Towards
from situ.rows.prepared import Positions, Prepared
from situ.rows.schema import time_text
from situ.rows.tied import MOST_INSTANTS, Instant, Tied, refused

_ONE_ROW = np.array([0, 1])


def arrange(
    rows: Prepared, n_slots: int, needs: Needs, tied: Tied | None = None
) -> tuple[Positions | None, Positions]:
    """Row order by slot and time, and the slots' offsets; None: as it is.

    What becomes of rows of one instant is `needs.order`. `tied` takes note of rows that are left out.
    """
    if needs.parts:
        return _arrange_sources(rows, n_slots, needs, tied)
    return _arrange(rows, n_slots, needs, tied)


def _arrange(
    rows: Prepared, n_slots: int, needs: Needs, tied: Tied | None
) -> tuple[Positions | None, Positions]:
    time, codes = rows.time, rows.codes
    if len(time) == 1 and n_slots == 1:
        return None, _ONE_ROW
    if n_slots == 1 and ascends_as_is(time) == 0:
        return None, np.array([0, len(time)])
    if needs.order in ("all", "distinct"):
        offset = np.empty(n_slots + 1, np.int64)
        state = in_place(codes, time, offset)
        if state == 0 or (state == 1 and not rows.ties):
            return None, offset
    order, offset = group(codes, n_slots)
    state = ascends(time, order, offset)
    if state == 2 or (state == 1 and rows.ties):
        order = np.lexsort((*reversed(_ranks(rows, needs)), time, codes))
        state = ascends(time, order, offset)
    if state == 1 and needs.order in ("last", "error"):
        n_rows = len(order)
        order, offset, shown_rows = last_of_each_instant(time, order, offset, MOST_INSTANTS)
        instants = [_instant(rows, codes, row) for row in shown_rows.tolist()]
        if needs.order == "error":
            raise _ties_error(instants[0], needs.time.told)
        if tied is not None:
            tied.note(n_rows - len(order), instants)
    return order, offset


def _arrange_sources(
    rows: Prepared, n_slots: int, needs: Needs, tied: Tied | None
) -> tuple[Positions, Positions]:
    """The same of rows of several sources: ties are resolved within each (SEM 13.5).

    So of an instant there may be a row of every source, and they stand side by side.
    """
    n = needs.n_sources
    bits = rows.mask >> rows.mask.dtype.type(len(needs.conditions) - n)
    source = np.zeros(rows.n_rows, np.int64)
    for s in range(1, n):
        source[(bits >> bits.dtype.type(s) & bits.dtype.type(1)) == 1] = s
    apart = rows._replace(
        codes=rows.codes * n + source,
        keys=[values.take(pa.array(np.repeat(np.arange(len(values)), n))) for values in rows.keys],
    )
    of_each = Tied()
    order, _ = _arrange(apart, n_slots * n, needs, of_each)
    if tied is not None and of_each.n_rows:
        tied.note(of_each.n_rows, [one._replace(code=one.code // n) for one in of_each.instants])
    if order is None:
        order = np.arange(rows.n_rows)
    codes = rows.codes[order]
    order = order[np.lexsort((rows.time[order], codes))]
    return order, np.searchsorted(rows.codes[order], np.arange(n_slots + 1))


def _instant(rows: Prepared, codes: Codes, row: int) -> Instant:
    code = int(codes[row])
    return Instant(int(rows.time[row]), tuple(shown(values[code]) for values in rows.keys), code)


def _ranks(rows: Prepared, needs: Needs) -> list[Positions]:
    """Numbers in the order of each column that orders rows of one instant."""
    towards = needs.towards or (Towards(),) * len(rows.ties)
    return [_towards(_rank(column), one) for column, one in zip(rows.ties, towards, strict=True)]


def _towards(rank: Positions, towards: Towards) -> Positions:
    """Ranks of which those below 0 are nulls, in another direction."""
    is_null = rank < 0
    rank = -rank if towards.is_descending else rank
    edge = np.int64(len(rank) + 1)
    rank[is_null] = edge if towards.nulls_last else -edge
    return rank


def _rank(column: pa.Array) -> npt.NDArray[np.int64]:
    """Numbers from 0 on in Spark's ascending order, NaN last; -1 for nulls."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        valid = np.asarray(column.is_valid())
        values = np.asarray(column.fill_null(0.0))
        return np.where(valid, np.unique(values, return_inverse=True)[1], -1)
    try:
        ranks = pc.rank(column, sort_keys=[("", "ascending", "at_start")], tiebreaker="dense")
    except pa.ArrowNotImplementedError as error:
        raise DataError(
            f"cannot order rows of equal time by a column of type {column.type}",
            hint="name one of its fields, or a string or number made from it, in ORDER BY",
        ) from error
    ranks = np.asarray(ranks).astype(np.int64) - 1
    if column.null_count:
        ranks[~np.asarray(column.is_valid())] = -1
    return ranks


def _ties_error(found: Instant, time_type: str) -> DataError:
    where = f" in partition {found.key}" if found.key else ""
    return refused(
        f"two rows share the time {time_text(found.ticks, time_type)}{where}",
        "did you forget a column in PARTITION BY? Else name one after the time in ORDER BY, by whose order "
        "the last row is chosen, and leave ties at its default",
    )


def refuse_ties_with_horizon(times: Positions, time_type: str) -> None:
    """Without a watermark a row of an instant that was processed comes too late to be told apart."""
    if len(times):
        raise DataError(
            f"a row shares the time {time_text(int(times[0]), time_type)} with one already processed, "
            'and ties="error" was asked for',
            hint="give it a watermark, so that an instant is processed when it is complete",
        )
