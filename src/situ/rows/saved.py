"""Rows that wait, in saved state.

What must hold of them: columns of one length and of their types; codes are slots; only conditions that there
are hold; instants are none of the reserved ones and lie after what their slot has processed; a row that lasts
ends after it starts, and its instant is the one or the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from situ.rows.kernels.numbers import OPEN
from situ.rows.needs import Needs
from situ.rows.prepared import Positions, Prepared
from situ.saved.checks import are_slots, check_masks, require
from situ.saved.codec import Reader, Writer


def write_rows(writer: Writer, rows: Prepared) -> None:
    """Add rows that wait."""
    for array in (rows.codes, rows.time, rows.mask):
        writer.array(array)
    writer.columns([*rows.attributes.values(), *rows.ties])


def read_rows(
    reader: Reader, needs: Needs, carried: Mapping[str, pa.DataType], ties: Sequence[pa.DataType]
) -> Prepared:
    """What `write_rows` wrote; to be checked against the partitions they are of (`check_rows`)."""
    codes = reader.array(np.int64, (None,))
    time, mask = reader.array(np.int64, (len(codes),)), reader.array(needs.mask_type, (len(codes),))
    columns = reader.columns([*carried.values(), *ties], len(codes))
    own = dict(zip(carried, columns, strict=False))
    return Prepared(codes, [], time, mask, own, columns[len(carried) :])


def check_rows(rows: Prepared, horizon: Positions, needs: Needs) -> None:
    """Refuse waiting rows of slots that there are not, or that their slot has passed."""
    columns = [*rows.attributes.values(), *rows.ties]
    lengths = {len(rows.codes), len(rows.time), len(rows.mask), *map(len, columns)}
    require(len(lengths) == 1, "rows have columns of different lengths")
    if not rows.n_rows:
        return
    require(are_slots(rows.codes, len(horizon)), "a row is of a partition that is not there")
    check_masks(rows.mask, len(needs.conditions))
    require((rows.time > horizon[rows.codes]).all(), "a row waits whose time is over")
    require(rows.time.max() < OPEN, "a row has no time")
    needs.instant.check(rows)
