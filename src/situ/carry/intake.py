"""What a push operator takes in: batches of one table, or of those of several sources by name (SEM 13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import pyarrow as pa

from situ.carry.contract import Asked, Question
from situ.errors import DataError, SourceError
from situ.options import Options
from situ.rows.ahead import Ahead, max_ahead_ticks
from situ.rows.needs import Needs
from situ.rows.plain import event_schema, plain_schema, plain_table, refuse_types
from situ.rows.prepared import Flags
from situ.rows.read import TableReader
from situ.rows.schema import spark_schema
from situ.rows.united import SourcesReader, split_by_source, united_schema

Table: TypeAlias = pa.Table | pa.RecordBatch
Batch: TypeAlias = pa.Table | pa.RecordBatch | Mapping[str, Any]
_TABLES = (pa.RecordBatch, pa.Table)


def reader_of(needs: Needs, schema: Any, options: Options) -> Any:
    """What makes rows of tables in process: a `TableReader`, or of several schemas a `SourcesReader`."""
    one = partial(
        TableReader, ansi=options.ansi, time_zone=options.time_zone, on_bad_rows=options.on_bad_rows
    )
    return SourcesReader(needs, schema, one) if isinstance(schema, list) else one(needs, schema)


def intake_of(schema: Any, question: Question, options: Options) -> OneTable | SeveralTables:
    """For batches of a schema, or of schemas by name."""
    if isinstance(schema, Mapping):
        return SeveralTables(schema, question, options)
    return OneTable(schema, question, options)


class OneTable:
    """Batches of one table."""

    def __init__(self, schema: pa.Schema, question: Question, options: Options) -> None:
        batches = Batches(schema)
        self.taken = batches.taken  # as it is: single events are pushed through here
        self.schema = batches.schema
        self.asked: Asked = question.bind(spark_schema(self.schema), options)
        self.needs = self.asked.needs
        refuse_types(self.needs, self.schema)
        self._ahead = ahead_of(options, self.needs, self.schema)
        self.rows: TableReader = reader_of(self.needs, self.schema, options)

    def latest(self, table: Table, of_events: int) -> list[int]:
        """The largest time of each source (SEM 8.1)."""
        return [self.rows.latest(table, of_events)]

    def n_rows(self, table: Table) -> int:
        """How many rows a batch has."""
        return int(table.num_rows)

    def chosen(self, table: Table, chosen: Flags) -> Table:
        """Some of the events as they came."""
        return self.rows.events(table).filter(pa.array(chosen))

    def set_aside(self, table: Table, now: Any) -> tuple[Table, Table | None]:
        """The rows that are not ahead of `now` by too much, and the events among the others."""
        assert self._ahead is not None
        is_ahead = self._ahead.of(table, now)
        if is_ahead is None:
            return table, None
        ahead = self.rows.events(table.filter(pa.array(is_ahead)))
        return table.filter(pa.array(~is_ahead)), ahead

    def together(self, tables: Sequence[Table]) -> pa.Table:
        """Rows as they came, as users see them."""
        return _concatenated(tables, self.schema)


class SeveralTables:
    """Batches of several tables by name; tables of a batch stand in the order of the query's sources."""

    def __init__(self, schemas: Mapping[str, pa.Schema], question: Question, options: Options) -> None:
        self._batches = {name: Batches(schema) for name, schema in schemas.items()}
        plain = {name: one.schema for name, one in self._batches.items()}
        self.asked: Asked = question.bind({name: spark_schema(one) for name, one in plain.items()}, options)
        self.needs = self.asked.needs
        parts = self.needs.parts
        self._schemas = [plain[part.name] for part in parts]
        for part, schema in zip(parts, self._schemas, strict=True):
            refuse_types(part.needs, schema)
        self.schema = united_schema(self.needs, self._schemas)
        self._ahead = [ahead_of(options, part.needs, plain[part.name]) for part in parts]
        self.rows: SourcesReader = reader_of(self.needs, self._schemas, options)

    def taken(self, batch: Any) -> list[Table]:
        """The tables of a batch; one that is not there has no rows."""
        known = ", ".join(self._batches)
        if not isinstance(batch, Mapping):
            raise SourceError(
                f"the operator takes tables of {known}, and one was pushed",
                hint="push them by name: op.push({"
                + ", ".join(f'"{name}": ...' for name in self._batches)
                + "})",
            )
        for name in batch:
            if name not in self._batches:
                raise SourceError(
                    f"{name!r} was pushed, and the operator was made for {known}",
                    hint='push tables, or single events, by name: op.push({"name": batch})',
                )
        tables = {name: self._batches[name].taken(one) for name, one in batch.items()}
        return [
            tables[part.name] if part.name in tables else schema.empty_table()
            for part, schema in zip(self.needs.parts, self._schemas, strict=True)
        ]

    def latest(self, tables: Sequence[Table], of_events: int) -> list[int]:
        """The largest time of each source."""
        return self.rows.latest_of_each(tables)

    def n_rows(self, tables: Sequence[Table]) -> int:
        """How many rows a batch has."""
        return sum(table.num_rows for table in tables)

    def chosen(self, tables: Sequence[Table], chosen: Flags) -> list[Table]:
        """Some of the events as they came."""
        events = self.rows.events(tables)
        own = split_by_source(chosen, events)
        return [table.filter(pa.array(flags)) for table, flags in zip(events, own, strict=True)]

    def set_aside(self, tables: Sequence[Table], now: Any) -> tuple[list[Table], list[Table] | None]:
        """The rows that are not ahead of `now` by too much, and the events among the others."""
        near, found, is_any = [], [], False
        for ahead, reader, table in zip(self._ahead, self.rows.readers, tables, strict=True):
            assert ahead is not None
            is_ahead = ahead.of(table, now)
            is_any |= is_ahead is not None
            near.append(table if is_ahead is None else table.filter(pa.array(~is_ahead)))
            far = table.slice(0, 0) if is_ahead is None else table.filter(pa.array(is_ahead))
            found.append(reader.events(far))
        return near, found if is_any else None

    def together(self, several: Sequence[Sequence[Table]]) -> dict[str, pa.Table]:
        """Rows as they came, by the names of their tables."""
        by_name: dict[str, list[Table]] = {name: [] for name in self._batches}
        for tables in several:
            for part, table in zip(self.needs.parts, tables, strict=True):
                by_name[part.name].append(table)
        return {name: _concatenated(found, self._batches[name].schema) for name, found in by_name.items()}


class Batches:
    """What is pushed for one table, in the operator's own types."""

    def __init__(self, schema: pa.Schema) -> None:
        if not isinstance(schema, pa.Schema):
            raise DataError(
                f"an operator is made for a pyarrow Schema, not for a {type(schema).__name__}",
                hint="give the schema of the tables to come, such as table.schema",
            )
        self._event_schema, self.schema = event_schema(schema), plain_schema(schema)

    def taken(self, batch: Batch) -> Table:
        """The batch, or one event, as a table of the schema."""
        if not isinstance(batch, _TABLES):
            if isinstance(batch, Mapping):
                return self._event(batch)
            raise DataError(
                f"cannot push a {type(batch).__name__}",
                hint="push a pyarrow Table or RecordBatch, or one event as a dict",
            )
        if batch.schema.equals(self.schema):
            return batch
        return _conformed(batch, self.schema)

    def _event(self, event: Mapping[str, Any]) -> pa.RecordBatch:
        """A single event as a batch of one row."""
        for name in self.schema.names:
            if name not in event:
                raise DataError(
                    f"the event lacks column {name}; the operator was made for "
                    f"{', '.join(self.schema.names)}",
                    hint="give None where an event has no value",
                )
        try:
            return plain_table(pa.RecordBatch.from_pylist([event], self._event_schema))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise DataError(f"the event does not fit the operator's schema: {error}") from error


def ahead_of(options: Options, needs: Needs, schema: pa.Schema) -> Ahead | None:
    """Which rows are set aside, where the option says how far ahead of now they may be."""
    max_ahead = max_ahead_ticks(options.max_ahead, needs.time)
    return None if max_ahead is None else Ahead(max_ahead, needs, schema, options.time_zone)


def _concatenated(tables: Sequence[Table], schema: pa.Schema) -> pa.Table:
    return pa.concat_tables(map(_as_table, tables)) if tables else schema.empty_table()


def _as_table(rows: Table) -> pa.Table:
    return pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows


def _conformed(batch: Table, schema: pa.Schema) -> Table:
    """The batch with the operator's columns and types, or an error that names what does not fit."""
    missing = [name for name in schema.names if name not in batch.schema.names]
    if missing:
        raise DataError(
            f"the batch lacks column {missing[0]}; the operator was made for {', '.join(schema.names)}",
        )
    try:
        return plain_table(batch.select(schema.names)).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"the batch does not fit the operator's schema: {error}") from error
