"""What `RowQuery.operator` gives a user."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa

from situ.carry.contract import Emitted, naming, tables_of
from situ.carry.contract import at as at_slots
from situ.carry.push import PushOperator
from situ.errors import DataError, OptionError, QueryError
from situ.language.rows.ast import RowQuery
from situ.operators.rowpattern.kept import KeptRows
from situ.operators.rowpattern.operator import RowOperator
from situ.operators.rowpattern.question import RowMatching, check_looking_ahead
from situ.operators.rowpattern.timeouts import timeouts_schema
from situ.rows.prepared import Positions


class RowPush(PushOperator):
    """A push operator for matches of a row pattern."""

    operator: RowOperator

    def __init__(
        self, query: RowQuery, schema: pa.Schema, *, state: bytes | None = None, **options: Any
    ) -> None:
        self.query = query
        question = RowMatching(query)
        question.check_stream()
        self._is_finished = False
        self._timeouts: list[pa.Table] = []
        super().__init__(question, schema, state=state, **options)
        check_looking_ahead(query, self.operator.asked.conditions)
        if self.needs.is_timeless:
            raise QueryError(
                "an operator needs a time column first in ORDER BY, ascending, "
                f"and {self.needs.time.name} is none",
                hint="order by a timestamp, a date or a whole number first, or ask the whole table",
            )

    def push(self, batch: Any, *, now: Any = None) -> pa.Table:
        """Take in rows, in any order within the batch, and return the matches they make certain."""
        if self._is_finished:
            raise DataError("the input has ended: finish() was called", hint="make a new operator")
        return super().push(batch, now=now)

    def finish(self) -> pa.Table:
        """End the input: process all that waits, and report what only the end makes certain (ROW 8.7)."""
        results = [self.flush()]
        self._is_finished = True
        slots = self._store.known_slots()
        if len(slots):
            keys, kept = self._store.keys(slots), cast("KeptRows", self._store.read(slots))
            with naming(keys):
                stepped = self.operator.step(kept, self._no_rows(), None, at_end=True)
            results += tables_of(stepped.emitted, keys, self._schema)
        filled = [table for table in results if table.num_rows]
        return pa.concat_tables(filled) if filled else results[0]

    def timeouts(self) -> pa.Table:
        """The starts that had no match until their window ended, since this was last asked (ROW 8.8)."""
        if not self.options.timeouts:
            raise OptionError("timeouts are not kept", hint="make the operator with timeouts=True")
        tables, self._timeouts = self._timeouts, []
        return pa.concat_tables(tables) if tables else timeouts_schema(self.operator).empty_table()

    def _note_timeouts(self, timeouts: Emitted, slots: Positions) -> None:
        keys = at_slots(self._store.keys(slots), timeouts.slot)
        self._timeouts.append(timeouts.table(keys, timeouts_schema(self.operator)))


def operator(query: RowQuery, schema: pa.Schema, *, state: bytes | None = None, **options: Any) -> RowPush:
    """An operator for rows of this schema, from the start or from saved `state`."""
    return RowPush(query, schema, state=state, **options)
