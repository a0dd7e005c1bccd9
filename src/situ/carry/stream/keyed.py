"""Rows of a bucket with their partition values: put together, cut, kept waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.stream.cells import Hashes
from situ.rows.keys import encode
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared, concat
from situ.rows.saved import read_rows, write_rows
from situ.saved.checks import require
from situ.saved.codec import Reader, Writer

Positions = npt.NDArray[np.int64]


class Types(NamedTuple):
    """What rows are made of, for reading them back."""

    keys: tuple[pa.DataType, ...]
    attributes: Mapping[str, pa.DataType]
    ties: tuple[pa.DataType, ...]


class Keyed(NamedTuple):
    """Rows, `rows.keys` the values of their K partitions, and each partition's hash."""

    rows: Prepared
    hashes: Hashes

    @property
    def n_rows(self) -> int:
        return self.rows.n_rows

    def select(self, chosen: npt.NDArray[np.bool_]) -> Keyed:
        """Some of the rows, of all partitions."""
        return self._replace(rows=self.rows.select(chosen))

    def used(self) -> Keyed:
        """The same rows, without partitions that none of them belongs to."""
        is_used = np.zeros(len(self.hashes), bool)
        is_used[self.rows.codes] = True
        if is_used.all():
            return self
        slots = np.flatnonzero(is_used)
        codes = (np.cumsum(is_used) - 1)[self.rows.codes]
        keys = [column.take(pa.array(slots)) for column in self.rows.keys]
        return Keyed(self.rows._replace(codes=codes, keys=keys), self.hashes[slots])

    def take(self, order: Positions) -> Keyed:
        """The rows at these positions, in this order, and only the partitions they have."""
        return Keyed(self.rows.take(order), self.hashes).used()


def gather(several: Sequence[Keyed]) -> Keyed:
    """Rows one after the other, every partition once."""
    if len(several) == 1:
        return several[0]
    n_slots = [len(one.hashes) for one in several]
    codes, keys = merged([one.rows.keys for one in several], sum(n_slots))
    starts = np.cumsum([0, *n_slots])
    recoded = [
        one.rows._replace(codes=codes[start : start + n][one.rows.codes], keys=keys)
        for one, start, n in zip(several, starts, n_slots, strict=False)
    ]
    hashes = np.empty(len(keys[0]) if keys else 1, np.int64)
    hashes[codes] = np.concatenate([one.hashes for one in several])
    return Keyed(concat(recoded), hashes)


def merged(keys: Sequence[list[pa.Array]], n: int) -> tuple[Positions, list[pa.Array]]:
    """Partition values of several sources: each one's code, and the values by code."""
    columns = [pa.concat_arrays(list(parts)) for parts in zip(*keys, strict=True)]
    return encode(columns, n)


def write_keyed(writer: Writer, keyed: Keyed) -> None:
    """Add rows that wait, with their partitions."""
    writer.columns(keyed.rows.keys)
    writer.array(keyed.hashes)
    write_rows(writer, keyed.rows)


def read_keyed(reader: Reader, types: Types, needs: Needs) -> Keyed:
    """What `write_keyed` wrote."""
    keys, hashes = read_keys(reader, types)
    rows = read_rows(reader, needs, types.attributes, types.ties)
    return Keyed(rows._replace(keys=keys), hashes)


def read_keys(reader: Reader, types: Types) -> tuple[list[pa.Array], Hashes]:
    """Partition values and their hashes; without PARTITION BY there is one partition at the most."""
    keys = reader.columns(types.keys)
    hashes = reader.array(np.int64, (len(keys[0]) if keys else None,))
    require(bool(keys) or len(hashes) <= 1, "there are several partitions where the query has one")
    require(not len(hashes) or int(hashes.min()) >= 0, "a partition has no place")
    return keys, hashes
