"""Prepared rows as the engine takes them: by slot and time, with aggregate states of what they carry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from situ.aggregate import States
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.known import Known
from situ.operators.situations.looking import Looking
from situ.rows.kernels.order import group, move_to_slots
from situ.rows.needs import Needs
from situ.rows.order import arrange
from situ.rows.prepared import Positions, Prepared
from situ.rows.schema import check_reserved
from situ.rows.tied import Tied


class Ordered(NamedTuple):
    """Rows as the engine takes them, and what they carry in the same order."""

    rows: Rows
    attributes: dict[str, pa.Array]

    def input(self, engine: Engine, looking: Looking | None, kept: Known) -> Input:
        """With the bits of conditions that look back, and attributes as aggregate states."""
        rows, attributes = self
        earlier = None
        if looking is not None:
            assert kept.earlier is not None
            rows, earlier = looking.decided(rows, attributes, kept.earlier, kept.horizon)
        return Input(rows, attribute_states(engine, attributes, len(rows.time)), earlier)


def by_slot(needs: Needs, prepared: Prepared, n_slots: int, tied: Tied | None = None) -> Ordered:
    """Rows and what they carry in engine order; `tied` takes note of rows left out."""
    rows, order = _by_slot(needs, prepared, n_slots, tied)
    attributes = prepared.attributes
    if order is not None and attributes:
        taken = pa.array(order)
        attributes = {name: column.take(taken) for name, column in attributes.items()}
    check_reserved(rows.time, rows.offset)
    return Ordered(rows, attributes)


def in_order(engine: Engine, prepared: Prepared, looking: Looking | None, kept: Known) -> Input:
    """The input of rows of a single slot that are in order as they are: the short way of single events."""
    n_rows = prepared.n_rows
    rows = Rows(prepared.time, prepared.mask, np.array([0, n_rows]))
    if looking is None:
        return Input(rows, attribute_states(engine, prepared.attributes, n_rows))
    return Ordered(rows, prepared.attributes).input(engine, looking, kept)


def _by_slot(
    needs: Needs, prepared: Prepared, n_slots: int, tied: Tied | None
) -> tuple[Rows, Positions | None]:
    """The rows in engine order, and the order itself if attributes have to follow; None: as they are."""
    codes, time, mask = prepared.codes, prepared.time, prepared.mask
    if n_slots > 1:
        rows = Rows(np.empty_like(time), np.empty_like(mask), np.empty(n_slots + 1, np.int64))
        if move_to_slots(codes, time, mask, rows.offset, rows.time, rows.mask):
            return rows, group(codes, n_slots)[0] if prepared.attributes else None
    order, offset = arrange(prepared, n_slots, needs, tied)
    if order is None:
        return Rows(time, mask, offset), None
    return Rows(time[order], mask[order], offset), order


def attribute_states(engine: Engine, columns: dict[str, pa.Array], n_rows: int) -> tuple[States, ...]:
    """Raw events as aggregate states, one view for each symbol."""
    if not engine.has_aggregates:
        return engine.no_states
    return tuple(spec.rows(columns, n_rows) for spec in engine.aggregates)
