"""One bucket of a stream: some partitions, their state in cells, and the rows that wait.

Knows nothing of Spark: state lies on a `Shelf`, which the stateful operator fills from Spark's state store
and tests from a dict. One call per micro-batch reads and writes the cells of the rows' own keys only.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.contract import Kept, Span, purged, tables_of
from situ.carry.describe import MOST_PARTITIONS, drawn
from situ.carry.stream.cells import affected, cells_of, wanted_cells
from situ.carry.stream.keyed import Keyed, merged, read_keyed, read_keys, write_keyed
from situ.carry.stream.outcome import Outcome
from situ.carry.stream.program import Program
from situ.carry.stream.waiting import Index, Waiting, check_index
from situ.carry.trace import traced
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.rows.keys import shown
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared
from situ.rows.saved import check_rows
from situ.rows.tied import Tied, Ties
from situ.saved.checks import require
from situ.saved.codec import Reader, Writer

Positions = npt.NDArray[np.int64]


class Shelf(Protocol):
    """A bucket's place in the state store; `kind` is "cells" or "pieces"."""

    def head(self) -> bytes | None: ...

    def put_head(self, data: bytes) -> None: ...

    def get(self, kind: str, number: int) -> bytes | None: ...

    def put(self, kind: str, number: int, data: bytes) -> None: ...

    def remove(self, kind: str, number: int) -> None: ...


class Loaded(NamedTuple):
    """The partitions of some cells, in memory; `n_stored` of them are in the state store."""

    keys: list[pa.Array]
    hashes: Positions
    known: Kept
    n_stored: int


class Content(NamedTuple):
    """What a bucket keeps, for people to look at; `horizon` and `keys` are those of every partition."""

    spans: list[Span]
    horizon: Positions
    keys: list[pa.Array]
    needs: Needs
    n_waiting: int  # rows that wait, or are held back

    @property
    def n_partitions(self) -> int:
        """Of which something is known."""
        return len(self.horizon)

    def drawn(self, most: int = MOST_PARTITIONS) -> str:
        """A line for each thing, over time, of so many partitions."""
        if not self.n_partitions:
            waiting = f", {self.n_waiting:,} rows waiting" if self.n_waiting else ""
            return f"nothing is kept{waiting}"
        return drawn(self.spans, self.horizon, self.keys, self.needs, self.n_waiting, most)


class Bucket:
    """Takes rows and the watermark; gives results, late rows and the instant to be called again at."""

    def __init__(self, program: Program, shelf: Shelf) -> None:
        self._program = program
        self._operator = program.operator
        self._shelf = shelf
        self._n_cells, self._n_keys = 1, 0
        self._purged = int(LONG_AGO)  # the watermark up to which partitions may have been forgotten
        self._wake = np.full(1, NEVER)  # for each cell the instant something can be purged at
        self._due = np.full(1, NEVER)  # for each cell the instant at which it reports something by itself
        index = Index.empty()
        data = shelf.head()
        self.is_new = data is None
        if data is not None:
            index = self._read_head(Reader(data, program.identity))
        self._waiting = Waiting(index, _WaitingPieces(program, shelf))

    def _read_head(self, reader: Reader) -> Index:
        """How the bucket's state is cut up; what is wrong here would be looked for, or made, in vain."""
        self._n_cells, self._n_keys, self._purged = reader.array(np.int64, (3,)).tolist()
        require(self._n_cells > 0, "a bucket has no cells")
        require(wanted_cells(self._n_cells, self._n_keys) == self._n_cells, "a bucket has too many cells")
        self._wake = reader.array(np.int64, (self._n_cells,))
        self._due = np.full(self._n_cells, NEVER)
        if self._program.needs.ticks:
            self._due = reader.array(np.int64, (self._n_cells,))
        number = reader.array(np.int64, (None,))
        index = Index(number, *(reader.array(np.int64, (len(number),)) for _ in range(2)))
        reader.end()
        check_index(index)
        return index

    @property
    def next_instant(self) -> int:
        """The smallest instant whose completion gives the bucket something to do, NEVER for none."""
        earliest = self._waiting.earliest
        waiting = earliest + 1 if earliest != NEVER else int(NEVER)
        return min(waiting, int(self._wake.min()), int(self._due.min()))

    @property
    def n_keys(self) -> int:
        """How many partitions are remembered."""
        return self._n_keys

    @property
    def n_waiting(self) -> int:
        """How many rows wait."""
        return self._waiting.n_rows

    def describe(self) -> str:
        """What is kept, drawn: a line for each thing, over time, partition by partition."""
        return self.content().drawn()

    def content(self) -> Content:
        """All that is kept, read from the shelf and checked."""
        loaded = self._load(range(self._n_cells))
        require(len(loaded.hashes) == self._n_keys, "partitions are missing")
        spans = list(self._operator.describe(loaded.known))
        n_waiting = self.n_waiting + loaded.known.n_held
        return Content(spans, loaded.known.horizon, loaded.keys, self._program.needs, n_waiting)

    def take(self, rows: Keyed, originals: pa.Array | None, complete: int | None) -> Outcome:
        """Take in rows of this micro-batch; `complete` is the watermark, None where there is none."""
        outcome = Outcome()
        if complete is None:
            self._apply(rows, originals, None, outcome)
        else:
            is_late = rows.rows.time < complete
            note_late(outcome, rows.rows.time, is_late, originals)
            self._advance(complete, outcome)
            self._waiting.add(rows.select(~is_late))
        self._save()
        return outcome

    def wake(self, complete: int) -> Outcome:
        """The watermark has moved on without rows of this bucket."""
        outcome = Outcome()
        self._advance(complete, outcome)
        self._save()
        return outcome

    def _advance(self, complete: int, outcome: Outcome) -> None:
        """Apply the waiting rows that are complete, let time pass; purge cells in which something can go."""
        released = self._waiting.release(complete)
        if released is not None:
            self._apply(released, None, complete, outcome)
        due = np.flatnonzero((self._due <= complete) & (self._due != NEVER))
        if len(due):
            loaded = self._load(due.tolist())
            self._step(loaded, self._program.no_rows(), set(due.tolist()), None, complete, outcome)
        ready = np.flatnonzero(self._wake <= complete)
        if len(ready):
            self._write(self._load(ready.tolist()), set(ready.tolist()), complete)
        self._purged = complete

    def _apply(self, rows: Keyed, originals: pa.Array | None, complete: int | None, outcome: Outcome) -> None:
        """Step the partitions of these rows; without a watermark late ones are left out here."""
        if not rows.n_rows:
            return
        rows = rows.used()
        cells = set(self._cells_of(rows.hashes).tolist())
        loaded, own = self._with_slots(self._load(sorted(cells)), rows)
        self._step(loaded, own, cells, originals, complete, outcome)

    def _step(
        self,
        loaded: Loaded,
        own: Prepared,
        cells: set[int],
        originals: pa.Array | None,
        complete: int | None,
        outcome: Outcome,
    ) -> None:
        """Step all partitions of these cells, some of which have rows."""
        after = traced(self._operator, "Spark stream")(loaded.known, own, complete)
        if after.late is not None:
            note_late(outcome, own.time, after.late, originals)
        outcome.n_ignored += after.n_ignored
        if after.tied is not None and after.tied.n_rows:
            outcome.n_tied += after.tied.n_rows
            self._warn_once(after.tied, loaded.keys)
        outcome.tables += tables_of(after.emitted, loaded.keys, self._program.task.output)
        self._write(loaded._replace(known=self._operator.prune(after.kept)), cells, complete)

    def _warn_once(self, tied: Tied, keys: list[pa.Array]) -> None:
        """The first time a worker leaves rows out it says so in its log; a metric counts them all."""
        task = self._program.task
        is_first = not task.tied.n_rows
        task.tied.note(tied.n_rows, tied.instants)
        if is_first and task.warns:
            first = tied.instants[0]
            first = first._replace(key=tuple(shown(column[first.code]) for column in keys))
            ask = "situ.why of a batch DataFrame names those that tell the rows apart"
            Ties(task.needs, tied.n_rows, first, at_least=True, ask=ask).warn()

    def _cells_of(self, hashes: Positions) -> Positions:
        """The cell of each partition; the remainder of its hash is the bucket's already."""
        return cells_of(hashes // self._program.task.n_buckets, self._n_cells)

    def _with_slots(self, loaded: Loaded, rows: Keyed) -> tuple[Loaded, Prepared]:
        """The rows' partitions among the loaded ones, new ones added; the rows, coded by slot."""
        n_old = len(loaded.hashes)
        if not self._program.types.keys:
            if not n_old:
                loaded = loaded._replace(hashes=rows.hashes, known=self._operator.nothing(1, self._purged))
            return loaded, rows.rows._replace(keys=[])
        codes, keys = merged([loaded.keys, rows.rows.keys], n_old + len(rows.hashes))
        require((codes[:n_old] == np.arange(n_old)).all(), "a partition is there twice")
        n_new = len(keys[0]) - n_old
        if n_new:
            hashes = np.empty(n_old + n_new, np.int64)
            hashes[codes] = np.concatenate([loaded.hashes, rows.hashes])
            known = loaded.known.followed_by([self._operator.nothing(n_new, self._purged)])
            loaded = Loaded(keys, hashes, known, loaded.n_stored)
        return loaded, rows.rows._replace(codes=codes[n_old:][rows.rows.codes], keys=[])

    def _load(self, cells: Iterable[int]) -> Loaded:
        """Everything in these cells."""
        operator, types, parts = self._operator, self._program.types, []
        for cell in cells:
            data = self._shelf.get("cells", cell)
            if data is not None:
                reader = Reader(data, self._program.identity)
                keys, hashes = read_keys(reader, types)
                require((self._cells_of(hashes) == cell).all(), "a partition is in another one's place")
                parts.append(Loaded(keys, hashes, operator.read(reader, len(hashes)), len(hashes)))
                reader.end()
        if not parts:
            keys = [pa.array([], kind) for kind in types.keys]
            return Loaded(keys, np.empty(0, np.int64), operator.nothing(0), 0)
        return self._joined(parts)

    def _joined(self, parts: list[Loaded]) -> Loaded:
        if len(parts) == 1:
            return parts[0]
        return Loaded(
            [pa.concat_arrays(list(column)) for column in zip(*(part.keys for part in parts), strict=True)],
            np.concatenate([part.hashes for part in parts]),
            parts[0].known.followed_by([part.known for part in parts[1:]]),
            sum(part.n_stored for part in parts),
        )

    def _write(self, loaded: Loaded, cells: set[int], complete: int | None) -> None:
        """Put the partitions of these cells back, without those that can be forgotten."""
        if complete is not None:
            known, gone = purged(self._operator, loaded.known, complete)
            loaded = self._part(loaded._replace(known=known), np.flatnonzero(~gone))
        self._n_keys += len(loaded.hashes) - loaded.n_stored
        n_cells = wanted_cells(self._n_cells, self._n_keys)
        if n_cells != self._n_cells:
            others = affected(self._n_cells, n_cells) - cells
            loaded = self._joined([loaded, self._load(sorted(others))])
            cells = cells | others
            for cell in range(n_cells, self._n_cells):
                self._shelf.remove("cells", cell)
            added = np.full(max(0, n_cells - self._n_cells), NEVER)
            self._wake = np.concatenate([self._wake[:n_cells], added])
            self._due = np.concatenate([self._due[:n_cells], added])
            self._n_cells = n_cells
        self._put_cells(loaded, {cell for cell in cells if cell < n_cells}, complete)

    def _put_cells(self, loaded: Loaded, cells: set[int], complete: int | None) -> None:
        cell_of = self._cells_of(loaded.hashes)
        order = np.argsort(cell_of, kind="stable")
        loaded = self._part(loaded, order)
        numbers, starts = np.unique(cell_of[order], return_index=True)
        borders = np.append(starts, len(cell_of))
        pieces = loaded.known.cut(borders) if len(numbers) else []
        for cell, known, (begin, end) in zip(numbers.tolist(), pieces, pairwise(borders), strict=True):
            keys = [column.slice(begin, end - begin) for column in loaded.keys]
            self._put_cell(cell, Loaded(keys, loaded.hashes[begin:end], known, 0), complete)
        for cell in cells - set(numbers.tolist()):
            self._shelf.remove("cells", cell)
            self._wake[cell] = self._due[cell] = NEVER

    def _put_cell(self, cell: int, part: Loaded, complete: int | None) -> None:
        writer = Writer(self._program.identity)
        writer.columns(part.keys)
        writer.array(part.hashes)
        self._operator.write(writer, part.known)
        self._shelf.put("cells", cell, writer.bytes())
        if complete is not None:
            when = int(self._operator.next_purge(part.known).min(initial=NEVER))
            self._wake[cell] = self._program.rounded_up(max(when, complete + 1))
            if self._program.needs.ticks:  # to the instant: somebody waits for what is reported then
                self._due[cell] = int(self._operator.next_due(part.known).min(initial=NEVER))

    def _part(self, loaded: Loaded, slots: Positions) -> Loaded:
        """Some of the partitions, in this order."""
        if len(slots) == len(loaded.hashes) and bool((slots == np.arange(len(slots))).all()):
            return loaded
        keys = [column.take(pa.array(slots)) for column in loaded.keys]
        return Loaded(keys, loaded.hashes[slots], loaded.known.select(slots), loaded.n_stored)

    def _save(self) -> None:
        writer = Writer(self._program.identity)
        writer.array(np.array([self._n_cells, self._n_keys, self._purged]))
        writer.array(self._wake)
        if self._program.needs.ticks:
            writer.array(self._due)
        for column in self._waiting.index:
            writer.array(column)
        self._shelf.put_head(writer.bytes())


class _WaitingPieces:
    """Pieces of waiting rows on a bucket's shelf."""

    def __init__(self, program: Program, shelf: Shelf) -> None:
        self._program = program
        self._shelf = shelf

    def read(self, number: int) -> Keyed:
        data = self._shelf.get("pieces", number)
        require(data is not None, "rows that wait are missing")
        assert data is not None
        program = self._program
        reader = Reader(data, program.identity)
        keyed = read_keyed(reader, program.types, program.needs)
        reader.end()
        # what its partitions have come to is known only once the cells are read; rows that wait lie after it
        before_all = np.full(len(keyed.hashes), LONG_AGO)
        check_rows(keyed.rows, before_all, program.needs)
        return keyed

    def write(self, number: int, rows: Keyed) -> None:
        writer = Writer(self._program.identity)
        write_keyed(writer, rows)
        self._shelf.put("pieces", number, writer.bytes())

    def remove(self, number: int) -> None:
        self._shelf.remove("pieces", number)


def note_late(
    outcome: Outcome, time: Positions, is_late: npt.NDArray[np.bool_], originals: pa.Array | None
) -> None:
    """Count late rows, and keep them where they are asked for."""
    n_late = int(is_late.sum())
    if not n_late:
        return
    outcome.n_late += n_late
    outcome.earliest_late = min(outcome.earliest_late, int(time[is_late].min()))
    if originals is not None:
        outcome.late_rows.append(originals.filter(pa.array(is_late)))
