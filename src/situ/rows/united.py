"""Tables of several sources become rows of one (SEM 13): each is read by itself, by its part of the needs.

Rows of all sources carry the same columns; what a source does not have is null in its rows. Tables and
schemas of several sources stand in the order of the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from situ.rows.keys import encode
from situ.rows.needs import Needs, Part
from situ.rows.prepared import Flags, Positions, Prepared, concat
from situ.rows.read import TableReader
from situ.rows.schema import latest_of
from situ.rows.tied import Tied, Ties

Table: TypeAlias = pa.Table | pa.RecordBatch


def schemas_of(table: Any) -> Any:
    """The schema of a table, or those of several."""
    return [one.schema for one in table] if isinstance(table, list) else table.schema


def schema_of(table: Any, needs: Needs) -> pa.Schema:
    """The types of the columns that rows of a table, or of several, are made of."""
    return united_schema(needs, schemas_of(table)) if isinstance(table, list) else table.schema


def united_schema(needs: Needs, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The types of the columns that rows of all sources have."""
    return pa.schema([(column.name, _united_type(needs, column.name, schemas)) for column in needs.columns])


def _united_type(needs: Needs, name: str, schemas: Sequence[pa.Schema]) -> pa.DataType:
    types = [
        schema.field(own).type
        for part, schema in zip(needs.parts, schemas, strict=True)
        if (own := part.own(name)) is not None
    ]
    if name == needs.time.name and pa.types.is_timestamp(types[0]) and len({one.unit for one in types}) > 1:
        return pa.timestamp("us", types[0].tz)  # what all of them are read as
    return types[0]


class SourcesReader:
    """Makes rows of the tables of several sources; what a `TableReader` is to one."""

    def __init__(
        self,
        needs: Needs,
        schemas: Sequence[pa.Schema],
        reader: Callable[[Needs, pa.Schema], TableReader],
    ) -> None:
        self.needs = needs
        self.readers = [reader(part.needs, schema) for part, schema in zip(needs.parts, schemas, strict=True)]
        schema = united_schema(needs, schemas)
        self._keys = [schema.field(column.name).type for column in needs.partition]
        self._ties = [(column.name, schema.field(column.name).type) for column in needs.ties]
        self._attributes = [(column.name, schema.field(column.name).type) for column in needs.attributes]

    def __call__(self, tables: Sequence[Table]) -> Prepared:
        """Rows that are events: those of the first source, then those of the next."""
        read = zip(self.needs.parts, self.readers, tables, strict=True)
        return concat(_same_codes([self._widened(part, reader(table)) for part, reader, table in read]))

    def _widened(self, part: Part, rows: Prepared) -> Prepared:
        """The rows of one source with the columns of all."""
        ties = {column.name: own for column, own in zip(part.needs.ties, rows.ties, strict=True)}

        def column(columns: Mapping[str, pa.Array], name: str, kind: pa.DataType) -> pa.Array:
            own = part.own(name) or ""
            # what all sources have, such as a partition column, may be read of the rows of one
            return columns[own].cast(kind) if own in columns else pa.nulls(rows.n_rows, kind)

        return rows._replace(
            keys=[keys.cast(kind) for keys, kind in zip(rows.keys, self._keys, strict=True)],
            attributes={name: column(rows.attributes, name, kind) for name, kind in self._attributes},
            ties=[column(ties, name, kind) for name, kind in self._ties],
        )

    @property
    def n_bad_rows(self) -> int:
        """How many rows without a time were dropped."""
        return sum(reader.n_bad_rows for reader in self.readers)

    @n_bad_rows.setter
    def n_bad_rows(self, n_rows: int) -> None:
        for i, reader in enumerate(self.readers):
            reader.n_bad_rows = 0 if i else n_rows

    def latest(self, tables: Sequence[Table], of_events: int) -> int:
        """The largest instant of all rows, those included that WHERE removes (SEM 8.1)."""
        return max(of_events, *self.latest_of_each(tables))

    def latest_of_each(self, tables: Sequence[Table]) -> list[int]:
        """The same of each source."""
        return [latest_of(reader.instants(table)) for reader, table in zip(self.readers, tables, strict=True)]

    def events(self, tables: Sequence[Table]) -> list[Table]:
        """The events of each source, in the order in which they were read."""
        return [reader.events(table) for reader, table in zip(self.readers, tables, strict=True)]

    def ties(self, tied: Tied, tables: Sequence[Table], rows: Prepared) -> Ties:
        """What there is to say of rows that were left out, of the source that the first of them are of."""
        first = tied.instants[0]
        is_there = (rows.time == first.ticks) & (rows.codes == first.code)
        own = split_by_source(is_there, self.events(tables))
        of = int(np.argmax([one.sum() for one in own]))  # at least two are tied
        begin = sum(len(one) for one in own[:of])
        return self.readers[of].ties(tied, tables[of], rows.take(np.arange(begin, begin + len(own[of]))))


def split_by_source(of_rows: Flags, events: Sequence[Table]) -> list[Flags]:
    """What is said of the rows of all sources, for each source by itself."""
    return np.split(of_rows, np.cumsum([one.num_rows for one in events])[:-1])


def _same_codes(several: Sequence[Prepared]) -> list[Prepared]:
    """Rows whose codes all mean the same partitions."""
    if not several[0].keys:
        return list(several)
    together = [pa.concat_arrays(own) for own in zip(*(one.keys for one in several), strict=True)]
    number, keys = encode(together, len(together[0]))
    begins = np.cumsum([0, *(one.n_slots for one in several)])
    codes: list[Positions] = [number[one.codes + begin] for one, begin in zip(several, begins, strict=False)]
    return [one._replace(codes=own, keys=keys) for one, own in zip(several, codes, strict=True)]
