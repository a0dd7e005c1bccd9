"""From a user's table to what the engine reads: partition codes, ticks, one mask, needed attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError
from situ.expressions import compile_expression
from situ.language.situations.binder import BoundQuery
from situ.language.text.nodes import Expression
from situ.operators.situations.engine import Engine, Input, attribute_states
from situ.operators.situations.kernels.layout import Rows
from situ.options import Options
from situ.rows.kernels.bits import set_where_true
from situ.rows.kernels.order import ascends, ascends_as_is, group, last_of_each_instant, move_to_slots
from situ.rows.keys import Codes, encode, shown
from situ.rows.reader import BatchReader, Condition, Mask
from situ.rows.schema import Bits, check_reserved, latest_of, ticks_reader, time_text, to_ticks
from situ.rows.tied import MOST_INSTANTS, Instant, Tied, refused

_ALL_VALID = np.empty(0, np.uint8)
_ALL_VALID.flags.writeable = False  # like the memory of Arrow arrays: one kernel serves both
_ONE_ROW = np.array([0, 1])


class Prepared(NamedTuple):
    """N events in input order; `keys` holds each partition column's value per code."""

    codes: Codes  # int64[N]
    keys: list[pa.Array]
    time: npt.NDArray[np.int64]
    mask: Mask
    attributes: dict[str, pa.Array]
    ties: list[pa.Array]

    @property
    def n_rows(self) -> int:
        return len(self.time)

    @property
    def nbytes(self) -> int:
        """Memory of the rows."""
        columns = (*self.attributes.values(), *self.ties)
        return self.codes.nbytes + self.time.nbytes + self.mask.nbytes + sum(int(c.nbytes) for c in columns)

    @property
    def n_slots(self) -> int:
        """How many partitions there are: one, if none are asked for."""
        return len(self.keys[0]) if self.keys else 1


class Preparer:
    """Evaluates WHERE and the conditions of a query over Arrow tables of one schema."""

    def __init__(self, bound: BoundQuery, schema: pa.Schema, engine: Engine, options: Options) -> None:
        self.bound = bound
        self.options = options
        self.mask_type = engine.mask_type
        self.n_bad_rows = 0

        self._where = None
        if bound.query.where is not None:
            self._where = compile_expression(
                bound.query.where, schema, ansi=options.ansi, time_zone=options.time_zone
            )
        self.conditions = compiled_conditions(bound, schema, options)
        self._positions = {name: at for at, name in enumerate(schema.names)}
        self._to_ticks = ticks_reader(schema.field(bound.time.name).type, bound.time.name)
        self._reader = BatchReader(schema, bound.time.name, self.conditions, self.mask_type)
        self._is_all_read = not (self._reader.others or bound.partition or bound.attributes or bound.ties)

    def __call__(self, table: pa.Table | pa.RecordBatch) -> Prepared:
        """Rows that are events, in input order."""
        bound = self.bound
        table = self._chosen(table)
        at_once = self._reader(table)
        if at_once is not None:
            time, mask = at_once
            if self._is_all_read:
                return Prepared(*encode([], len(time)), time, mask, {}, [])
            columns = Columns(table, self._positions)
            add_where_true(mask, self._reader.others, columns)
        else:
            columns = self._timed(table)
            time = self._to_ticks(columns[bound.time.name])
            mask = mask_of(self.conditions, columns, self.mask_type)
        codes, keys = self.encode(columns)
        return Prepared(
            codes,
            keys,
            time,
            mask,
            {column.name: columns[column.name] for column in bound.attributes},
            [columns[column.name] for column in bound.ties],
        )

    def latest(self, table: pa.Table | pa.RecordBatch, of_events: int) -> int:
        """The largest instant of a table's rows, those included that WHERE removes (SEM 8.1)."""
        if self._where is None:
            return of_events
        return latest_of(self._instants(Columns(table, self._positions)))

    def _instants(self, columns: Columns) -> npt.NDArray[np.int64]:
        """Of all rows with a time, whatever else is wrong with them."""
        name = self.bound.time.name
        return to_ticks(columns[name].drop_null(), name, rounded=True)

    def waiting_types(self, schema: pa.Schema) -> tuple[dict[str, pa.DataType], list[pa.DataType]]:
        """Types of the attribute and tie columns that prepared rows carry."""
        attributes = {column.name: schema.field(column.name).type for column in self.bound.attributes}
        return attributes, [schema.field(column.name).type for column in self.bound.ties]

    def encode(self, columns: Columns) -> tuple[Codes, list[pa.Array]]:
        """Partition codes and values."""
        return encode([columns[column.name] for column in self.bound.partition], columns.n_rows)

    def events(self, table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """The events among rows that were read, and whose bad rows were counted, before (SEM 1.2, 1.4)."""
        chosen = self._chosen(table)
        time = Columns(chosen, self._positions)[self.bound.time.name]
        return chosen.filter(pc.is_valid(time)) if time.null_count else chosen

    def event_columns(self, table: pa.Table | pa.RecordBatch) -> Columns:
        """The columns of events; rows without a time are refused, or dropped and counted."""
        return self._timed(self._chosen(table))

    def _chosen(self, table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """What WHERE leaves."""
        if self._where is None:
            return table
        keep = truths(self._where(Columns(table, self._positions), table.num_rows)).view(bool)
        return table.filter(pa.array(keep))

    def _timed(self, table: pa.Table | pa.RecordBatch) -> Columns:
        """The columns of rows with a time."""
        columns = Columns(table, self._positions)
        time = columns[self.bound.time.name]
        if not time.null_count:
            return columns
        return Columns(self._without_null_times(table, time), self._positions)

    def _without_null_times(self, table: pa.Table, time: pa.Array) -> pa.Table:
        n_bad, name = time.null_count, self.bound.time.name
        if self.options.on_bad_rows == "drop":
            self.n_bad_rows += n_bad
            return table.filter(pc.is_valid(time))
        first = table.filter(pc.is_null(time)).slice(0, 1)
        example = {name: shown(first.column(i)[0]) for i, name in enumerate(first.schema.names)}
        raise DataError(
            f"time column {name} is null in {n_bad} row{'s' if n_bad > 1 else ''}, for example {example}",
            hint='remove them with WHERE, or drop and count them with on_bad_rows="drop"',
        )


class Columns(dict[str, pa.Array]):
    """A table's columns as arrays, put together when first asked for."""

    def __init__(
        self, table: pa.Table | pa.RecordBatch, positions: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        super().__init__()
        self.table = table
        self._positions = positions  # of the columns, where somebody has looked them up already
        self.n_rows: int = table.num_rows

    def __missing__(self, name: str) -> pa.Array:
        column = self.table.column(self._positions.get(name, name))
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        self[name] = column
        return column


def compiled_conditions(bound: BoundQuery, schema: pa.Schema, options: Options) -> list[Condition]:
    """Each condition once, with the bits of the symbols it defines."""
    bits: dict[Expression, int] = {}
    for i, symbol in enumerate(bound.query.symbols):
        if symbol.condition is not None:
            bits[symbol.condition] = bits.get(symbol.condition, 0) | 1 << i
    return [
        (compile_expression(condition, schema, ansi=options.ansi, time_zone=options.time_zone), own)
        for condition, own in bits.items()
    ]


def mask_of(
    conditions: Sequence[Condition], columns: Columns, mask_type: np.dtype[np.unsignedinteger]
) -> Mask:
    """Bit i set in each row where condition i holds."""
    mask = np.zeros(columns.n_rows, mask_type)
    add_where_true(mask, conditions, columns)
    return mask


def add_where_true(mask: Mask, conditions: Sequence[Condition], columns: Columns) -> None:
    """Set the bits of the conditions that hold in each row."""
    for condition, bits in conditions:
        values, valid, skip = _bitmaps(condition(columns, columns.n_rows))
        if values is not None:
            set_where_true(mask, values, _ALL_VALID if valid is None else valid, skip, mask.dtype.type(bits))


def truths(array: pa.Array) -> Bits:
    """1 where a boolean array is true, 0 where it is false or null (SEM 1.5)."""
    bits, valid, skip = _bitmaps(array)
    if bits is None:
        return np.zeros(len(array), np.uint8)
    if valid is not None:
        bits = bits[: len(valid)] & valid[: len(bits)]
    return np.unpackbits(bits, count=skip + len(array), bitorder="little")[skip:]


def _bitmaps(array: pa.Array) -> tuple[Bits | None, Bits | None, int]:
    """A boolean array's values and validity from the byte of its first bit on, and that bit's place in it.

    No values: no rows, or nothing but nulls, which may be an array of nulls that has no values at all.
    No validity: nothing is null.
    """
    first, skip = divmod(array.offset, 8)
    if array.null_count == len(array):
        return None, None, skip
    validity, values = array.buffers()
    bits = np.frombuffer(values, np.uint8, offset=first)
    return bits, np.frombuffer(validity, np.uint8, offset=first) if array.null_count else None, skip


def arrange(
    prepared: Prepared, codes: Codes, n_slots: int, ties: str, tied: Tied | None = None, time_type: str = ""
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64]]:
    """Row order by slot and time with one row per instant, and the slots' offsets; None: as it is.

    With ties="all" the rows of one instant all stay. `tied` takes note of rows that are left out.
    """
    time = prepared.time
    if len(time) == 1 and n_slots == 1:
        return None, _ONE_ROW
    if n_slots == 1 and ascends_as_is(time) == 0:
        return None, np.array([0, len(time)])
    order, offset = group(codes, n_slots)
    state = ascends(time, order, offset)
    if state == 2 or (state == 1 and prepared.ties):
        order = np.lexsort((*reversed([_rank(column) for column in prepared.ties]), time, codes))
        state = ascends(time, order, offset)
    if state == 1 and ties != "all":
        n_rows = len(order)
        order, offset, rows = last_of_each_instant(time, order, offset, MOST_INSTANTS)
        instants = [_instant(prepared, codes, row) for row in rows.tolist()]
        if ties == "error":
            raise _ties_error(instants[0], time_type)
        if tied is not None:
            tied.note(n_rows - len(order), instants)
    return order, offset


def _instant(prepared: Prepared, codes: Codes, row: int) -> Instant:
    code = int(codes[row])
    return Instant(int(prepared.time[row]), tuple(shown(values[code]) for values in prepared.keys), code)


def _rank(column: pa.Array) -> npt.NDArray[np.int64]:
    """Numbers in Spark's ascending order: nulls first, NaN last."""
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
    return np.asarray(ranks).astype(np.int64)


def _ties_error(found: Instant, time_type: str) -> DataError:
    where = f" in partition {found.key}" if found.key else ""
    return refused(
        f"two rows share the time {time_text(found.ticks, time_type)}{where}",
        "did you forget a column in PARTITION BY? Else name one after the time in ORDER BY, by whose order "
        "the last row is chosen, and leave ties at its default",
    )


def to_input(
    engine: Engine, prepared: Prepared, codes: Codes, n_slots: int, ties: str, tied: Tied | None = None
) -> Input:
    """Rows and attribute states in engine order: by slot and time; `tied` takes note of rows left out."""
    rows, order = _by_slot(prepared, codes, n_slots, ties, tied, engine.bound.time.type)
    attributes = prepared.attributes
    if order is not None and attributes:
        taken = pa.array(order)
        attributes = {name: column.take(taken) for name, column in attributes.items()}
    check_reserved(rows.time, rows.offset)
    return Input(rows, attribute_states(engine, attributes, len(rows.time)))


def in_order(engine: Engine, prepared: Prepared) -> Input:
    """`to_input` for rows of a single slot that are in order as they are."""
    n_rows = prepared.n_rows
    rows = Rows(prepared.time, prepared.mask, np.array([0, n_rows]))
    return Input(rows, attribute_states(engine, prepared.attributes, n_rows))


def _by_slot(
    prepared: Prepared, codes: Codes, n_slots: int, ties: str, tied: Tied | None, time_type: str
) -> tuple[Rows, npt.NDArray[np.int64] | None]:
    """The rows in engine order, and the order itself if attributes have to follow; None: as they are."""
    time, mask = prepared.time, prepared.mask
    if n_slots > 1:
        rows = Rows(np.empty_like(time), np.empty_like(mask), np.empty(n_slots + 1, np.int64))
        if move_to_slots(codes, time, mask, rows.offset, rows.time, rows.mask):
            return rows, group(codes, n_slots)[0] if prepared.attributes else None
    order, offset = arrange(prepared, codes, n_slots, ties, tied, time_type)
    if order is None:
        return Rows(time, mask, offset), None
    return Rows(time[order], mask[order], offset), order


def select(prepared: Prepared, chosen: npt.NDArray[np.bool_]) -> Prepared:
    """Some of the rows, with the same codes."""
    if chosen.all():
        return prepared
    keep = pa.array(chosen)
    return Prepared(
        prepared.codes[chosen],
        prepared.keys,
        prepared.time[chosen],
        prepared.mask[chosen],
        {name: column.filter(keep) for name, column in prepared.attributes.items()},
        [column.filter(keep) for column in prepared.ties],
    )


def concat(several: Sequence[Prepared]) -> Prepared:
    """Rows one after the other; their codes must already mean the same."""
    if len(several) == 1:
        return several[0]
    first = several[0]
    return Prepared(
        np.concatenate([one.codes for one in several]),
        first.keys,
        np.concatenate([one.time for one in several]),
        np.concatenate([one.mask for one in several]),
        {name: pa.concat_arrays([one.attributes[name] for one in several]) for name in first.attributes},
        [pa.concat_arrays([one.ties[i] for one in several]) for i in range(len(first.ties))],
    )
