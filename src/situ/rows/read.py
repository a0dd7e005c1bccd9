"""From a table to rows, as an operator's needs say; conditions are evaluated here, or were by Spark."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import DataError
from situ.expressions import Compiled, compile_condition, compile_expression
from situ.rows.columns import Columns, add_where_true, mask_of, truths
from situ.rows.keys import encode, shown
from situ.rows.needs import OF_WHERE, Condition, Needs
from situ.rows.prepared import Positions, Prepared
from situ.rows.schema import latest_of, ticks_reader, to_ticks
from situ.rows.small import BatchReader, Mask, Predicate
from situ.rows.tied import Tied, Ties, ties_in_table

MASK = "_mask"  # the column that conditions travel in, where Spark has evaluated them


class TableReader:
    """Makes rows of Arrow tables of one schema."""

    def __init__(
        self,
        needs: Needs,
        schema: pa.Schema,
        *,
        ansi: bool = True,
        time_zone: str = "UTC",
        on_bad_rows: str = "error",
    ) -> None:
        self.needs = needs
        self.n_bad_rows = 0
        self._drops = on_bad_rows == "drop"
        self._where = None
        if needs.where is not None:
            self._where = compile_condition(needs.where, schema, OF_WHERE, ansi=ansi, time_zone=time_zone)
        self.predicates = predicates_of(needs, schema, ansi=ansi, time_zone=time_zone)
        self._positions = {name: at for at, name in enumerate(schema.names)}
        if not needs.is_timeless:
            self._to_ticks = ticks_reader(schema.field(needs.time.name).type, needs.time)
            self._at_once = BatchReader(schema, needs.time, self.predicates, needs.mask_type)
        self._derived = compiled_columns(needs, schema, ansi=ansi, time_zone=time_zone)
        self._is_all_read = not needs.is_timeless and not any(
            (
                *(self._at_once.others, needs.partition, needs.attributes, needs.derived),
                *(needs.ties, needs.instant.columns),
            )
        )

    def __call__(self, table: pa.Table | pa.RecordBatch) -> Prepared:
        """Rows that are events, in input order."""
        needs = self.needs
        table = self._chosen(table)
        at_once = None if needs.is_timeless else self._at_once(table)
        if needs.is_timeless:
            columns = Columns(table, self._positions)
            time, mask = (
                np.zeros(columns.n_rows, np.int64),
                mask_of(self.predicates, columns, needs.mask_type),
            )
        elif at_once is not None:
            time, mask = at_once
            if self._is_all_read:
                return Prepared(*encode([], len(time)), time, mask, {}, [])
            columns = Columns(table, self._positions)
            add_where_true(mask, self._at_once.others, columns)
        else:
            columns = self._timed(table)
            time = self._to_ticks(columns[needs.time.name])
            mask = mask_of(self.predicates, columns, needs.mask_type)
        for name, derived in self._derived.items():
            columns[name] = derived(columns, columns.n_rows)
        return assembled(needs, columns, time, mask)

    def latest(self, table: pa.Table | pa.RecordBatch, of_events: int) -> int:
        """The largest instant of a table's rows, those included that WHERE removes (SEM 8.1)."""
        return of_events if self._where is None else latest_of(self.instants(table))

    def instants(self, table: pa.Table | pa.RecordBatch) -> Positions:
        """The instants of a table's rows, events or not; LONG_AGO where there is no time."""
        return self.needs.instant.of_any(self.needs.time, Columns(table, self._positions))

    def ties(self, tied: Tied, table: pa.Table | pa.RecordBatch, rows: Prepared) -> Ties:
        """What there is to say of rows that were left out, all of them read from this table."""
        return ties_in_table(self.needs, tied, self.events(table), rows.time, rows.codes)

    def events(self, table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """The events among rows that were read, and whose bad rows were counted, before (SEM 1.2, 1.4)."""
        chosen = self._chosen(table)
        time = Columns(chosen, self._positions)[self.needs.time.name]
        return chosen.filter(pc.is_valid(time)) if time.null_count else chosen

    def _chosen(self, table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
        """What WHERE leaves."""
        if self._where is None:
            return table
        keep = truths(self._where(Columns(table, self._positions), table.num_rows)).view(bool)
        return table.filter(pa.array(keep))

    def _timed(self, table: pa.Table | pa.RecordBatch) -> Columns:
        """The columns of rows with a time; others are refused, or dropped and counted."""
        columns = Columns(table, self._positions)
        time = columns[self.needs.time.name]
        if not time.null_count:
            return columns
        if not self._drops:
            raise bad_times(table, self.needs, time)
        self.n_bad_rows += time.null_count
        return Columns(table.filter(pc.is_valid(time)), self._positions)


def predicates_of(needs: Needs, schema: pa.Schema, *, ansi: bool, time_zone: str) -> list[Predicate]:
    """Each condition once, with the bits it sets."""
    bits: dict[str, int] = {}
    conditions: dict[str, Condition] = {}
    for i, condition in enumerate(needs.conditions):
        bits[condition.expression.sql] = bits.get(condition.expression.sql, 0) | 1 << i
        conditions.setdefault(condition.expression.sql, condition)
    return [
        (compile_condition(one.expression, schema, one.name, ansi=ansi, time_zone=time_zone), bits[sql])
        for sql, one in conditions.items()
    ]


def compiled_columns(needs: Needs, schema: pa.Schema, *, ansi: bool, time_zone: str) -> dict[str, Compiled]:
    """The derived columns, by name."""
    return {
        one.name: compile_expression(one.expression, schema, ansi=ansi, time_zone=time_zone)
        for one in needs.derived
    }


def with_derived(needs: Needs, schema: pa.Schema, *, ansi: bool, time_zone: str) -> pa.Schema:
    """The schema with the types of derived columns: as they are computed here, where it has none yet."""
    if all(one.name in schema.names for one in needs.derived):
        return schema
    columns = compiled_columns(needs, schema, ansi=ansi, time_zone=time_zone)
    return pa.schema([*schema, *((name, compiled.type) for name, compiled in columns.items())])


def read_travelling(needs: Needs, table: pa.Table | pa.RecordBatch) -> Prepared:
    """Rows of `needs.travelling_names` and, behind them, the mask: as Spark hands them over.

    Keys are coded within.
    """
    names = list(needs.travelling_names)
    own = table.select(range(len(names) + 1)).rename_columns([*names, MASK])
    columns = Columns(own)
    time = columns[needs.time.name]
    if time.null_count:
        raise bad_times(own.select(names), needs, time, " of this piece of the data")
    mask = _unsigned(columns[MASK], needs.mask_type)
    return assembled(needs, columns, to_ticks(time, needs.time.name, unit=needs.time.unit), mask)


def _unsigned(mask: pa.Array, mask_type: npt.DTypeLike) -> Mask:
    signed = mask.to_numpy(zero_copy_only=False)
    unsigned: Mask = signed.view(np.dtype(f"u{signed.dtype.itemsize}"))
    return unsigned.astype(mask_type, copy=False)


def assembled(needs: Needs, columns: Columns, time: Positions, mask: Mask) -> Prepared:
    """Rows from the columns of a table, whose times and masks are known."""
    instants, carried = needs.instant.read(columns, time)
    codes, keys = encode([columns[column.name] for column in needs.partition], columns.n_rows)
    carried |= {name: columns[name] for name in needs.attribute_names}
    return Prepared(codes, keys, instants, mask, carried, [columns[column.name] for column in needs.ties])


def bad_times(table: pa.Table | pa.RecordBatch, needs: Needs, time: pa.Array, where: str = "") -> DataError:
    """What to say of rows without a time (SEM 1.4)."""
    n_bad = time.null_count
    first = table.filter(pc.is_null(time)).slice(0, 1)
    example = {name: shown(first.column(i)[0]) for i, name in enumerate(first.schema.names)}
    return DataError(
        f"time column {needs.time.name} is null in {n_bad} row{'s' if n_bad > 1 else ''}{where}, "
        f"for example {example}",
        hint='remove them with WHERE, or drop and count them with on_bad_rows="drop"',
    )
