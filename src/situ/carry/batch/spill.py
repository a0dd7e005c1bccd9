"""Sorting more rows than a worker should hold: sorted files, merged block by block.

A file holds its rows by partition code and time. A block of the merge is all rows before the earliest
end of what is in memory of any file, so that it is complete, and what is kept of the last partition is
carried from block to block.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa

from situ.rows.needs import Needs
from situ.rows.order import arrange
from situ.rows.prepared import Prepared, concat
from situ.rows.tied import Tied

_FIRST_COLUMNS = ("code", "time", "mask")


class Block(NamedTuple):
    """Rows that come before all that is still to come."""

    rows: Prepared
    goes_on: bool  # does the last partition have more rows in the next block


class SortedFiles:
    """Chunks of rows, each sorted and written to a file of its own in Spark's local directory."""

    def __init__(self, needs: Needs, tied: Tied | None = None) -> None:
        self._needs = needs
        self._tied = tied
        self._files: list[IO[bytes]] = []
        self._names: tuple[list[str], int] = ([], 0)
        self.n_bytes = 0

    def __enter__(self) -> SortedFiles:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def add(self, rows: Prepared, n_slots: int, n_blocks: int) -> None:
        """Sort a chunk and write it in blocks; of rows with equal times the last stays, or all do."""
        order, _ = arrange(rows, n_slots, self._needs, self._tied)
        self._names = list(rows.attributes), len(rows.ties)
        table = _table(rows)
        if order is not None:
            table = table.take(pa.array(order))
        # a file without a name: the system removes it with the worker, however that ends
        file = tempfile.TemporaryFile(dir=local_folder(), prefix="situ-sorted-")  # noqa: SIM115 - it outlives this call
        with pa.ipc.new_stream(pa.PythonFile(file, "w"), table.schema) as writer:
            writer.write_table(table, max_chunksize=max(1, rows.n_rows // n_blocks))
        self.n_bytes += file.tell()
        self._files.append(file)

    def blocks(self) -> Iterator[Block]:
        """All rows by code and time, one row for each instant of each partition, or all."""
        sources = []
        for file in self._files:
            file.seek(0)
            sources.append(_Source(pa.ipc.open_stream(pa.PythonFile(file, "r")), *self._names))
        while True:
            for source in sources:
                source.fill()
            bounds = [source.last for source in sources if not source.is_exhausted]
            if not bounds:
                rest = [source.take(None) for source in sources]
                yield from self._merged(rest, goes_on=False, bound=None)
                break
            bound = min(bounds)
            yield from self._merged([source.take(bound) for source in sources], goes_on=True, bound=bound)

    def _merged(
        self, parts: list[Prepared], *, goes_on: bool, bound: tuple[int, int] | None
    ) -> Iterator[Block]:
        filled = [part for part in parts if part.n_rows]
        if filled:
            rows = concat(filled)
            yield Block(rows, goes_on and bound is not None and int(rows.codes.max()) == bound[0])


class _Source:
    """One sorted file, read block by block; until its end it holds a later row than it may give."""

    def __init__(self, reader: pa.ipc.RecordBatchStreamReader, names: list[str], n_ties: int) -> None:
        self._reader = reader
        self._names = names
        self._n_ties = n_ties
        self._rows = _prepared(reader.schema.empty_table(), names, n_ties)
        self.is_exhausted = False

    def fill(self) -> None:
        """Read on until there is more than one instant."""
        while not self.is_exhausted and (not self._rows.n_rows or self._first == self.last):
            try:
                batch = self._reader.read_next_batch()
            except StopIteration:
                self.is_exhausted = True
                return
            fresh = _prepared(pa.Table.from_batches([batch]), self._names, self._n_ties)
            self._rows = concat([self._rows, fresh]) if self._rows.n_rows else fresh

    @property
    def _first(self) -> tuple[int, int]:
        return int(self._rows.codes[0]), int(self._rows.time[0])

    @property
    def last(self) -> tuple[int, int]:
        """Code and time of the last row held."""
        return int(self._rows.codes[-1]), int(self._rows.time[-1])

    def take(self, bound: tuple[int, int] | None) -> Prepared:
        """Remove and return the rows before `bound`, or all."""
        rows = self._rows
        chosen = np.ones(rows.n_rows, bool)
        if bound is not None:
            code, time = bound
            chosen = (rows.codes < code) | ((rows.codes == code) & (rows.time < time))
        self._rows = rows.select(~chosen)
        return rows.select(chosen)


def local_folder() -> str:
    """Where Spark lets its executors write, else the system's temporary folder."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    usable = [folder for folder in folders if folder and os.access(folder, os.W_OK)]
    return usable[0] if usable else tempfile.gettempdir()


def _table(rows: Prepared) -> pa.Table:
    columns = [pa.array(rows.codes), pa.array(rows.time), pa.array(rows.mask)]
    columns += [*rows.attributes.values(), *rows.ties]
    own = [str(i) for i in range(len(columns) - len(_FIRST_COLUMNS))]
    return pa.Table.from_arrays(columns, names=[*_FIRST_COLUMNS, *own])


def _prepared(table: pa.Table, names: list[str], n_ties: int) -> Prepared:
    code, time, mask, *others = (column.combine_chunks() for column in table.columns)
    arrays = [array.to_numpy(zero_copy_only=False) for array in (code, time, mask)]
    attributes = dict(zip(names, others, strict=False))
    return Prepared(arrays[0], [], arrays[1], arrays[2], attributes, others[len(others) - n_ties :])
