"""Test a query without a cluster: feed it rows, move the clock, and say what it should report.

    bench = Bench("FROM t ORDER BY ts DEFINE A AS x > 9 AT LEAST 5 seconds", "ts timestamp, x double")
    bench.feed({"ts": "2024-01-01T00:00:00Z", "x": 10.0})
    bench.expect()                                          # nothing yet
    bench.feed({"ts": "2024-01-01T00:00:05Z", "x": 11.0})
    bench.expect({"A_ts": "2024-01-01T00:00:00Z"})          # certain now, although A still goes on

It is the push operator, the same engine that runs on Spark, so what holds here holds there. Row patterns are
tested in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

from situ.aggregate.types import value_type
from situ.carry.contract import emitted_schema
from situ.errors import DataError, OptionError
from situ.language import query as parse
from situ.language.rows.ast import RowQuery
from situ.language.situations.ast import Query

Row = Mapping[str, Any]

_CLOSE = 1e-9  # sums and averages of floating values agree within this, relatively (SEM 5.3)


class Bench:
    """A query on a bench.

    `schema` is an Arrow schema, or text such as "car_id int, ts timestamp, speed double". `watermark` and
    the other options are those of `Query.operator`. Times in rows may be ISO 8601 text.
    """

    def __init__(self, query: Query | RowQuery | str, schema: pa.Schema | str, **options: Any) -> None:
        self.query = parse(query) if isinstance(query, str) else query
        self.schema = schema_of(schema) if isinstance(schema, str) else schema
        self._options = {"late_rows": True, **options}
        self._operator: Any = self.query.operator(self.schema, **self._options)
        self._late: list[dict[str, Any]] = []
        self._n_late = 0
        self._fresh: list[dict[str, Any]] = []
        self.matches: list[dict[str, Any]] = []

    def feed(self, *rows: Row, now: Any = None) -> list[dict[str, Any]]:
        """Push rows as one batch, in any order; returns the matches they complete.

        `now` is the time that the option max_ahead counts from, the clock's if it is left out.
        """
        batch = pa.Table.from_pylist([self._typed(row) for row in rows], self.schema)
        return self._note(self._operator.push(batch, now=_time(now)))

    def advance(self, instant: Any) -> list[dict[str, Any]]:
        """Say that everything before an instant has come; returns the matches that were waiting for that."""
        return self._note(self._operator.advance(_time(instant)))

    def finish(self) -> list[dict[str, Any]]:
        """Process all that waits, as if the input ended here. A row pattern takes no more rows then."""
        ended = self._operator.finish if isinstance(self.query, RowQuery) else self._operator.flush
        return self._note(ended())

    def restart(self) -> None:
        """Save the state and go on from it, as after a crash."""
        self._keep_late()
        state = self._operator.state()
        self._operator = self.query.operator(self.schema, state=state, **self._options)
        self._n_late = 0  # the operator counts late rows on, but keeps them anew

    def expect(self, *rows: Row) -> None:
        """The matches since the last `expect` are these, in any order; columns left out are not compared."""
        found, self._fresh = self._fresh, []
        missing = [self._expected(row) for row in rows]
        extra = []
        for match in found:
            at = next((i for i, row in enumerate(missing) if _agrees(match, row)), None)
            if at is None:
                extra.append(match)
            else:
                del missing[at]
        if missing or extra:
            lines = [f"not found: {row}" for row in missing] + [f"not expected: {match}" for match in extra]
            raise AssertionError("\n".join(lines))

    @property
    def late_rows(self) -> list[dict[str, Any]]:
        """The rows that came too late, as they came."""
        self._keep_late()
        return list(self._late)

    @property
    def n_waiting(self) -> int:
        """How many rows wait for the clock."""
        return int(self._operator.n_waiting)

    @property
    def n_situations(self) -> int:
        """How many situations are kept for later matches, or rows, of a row pattern."""
        return int(self._operator.n_situations)

    def timeouts(self) -> list[dict[str, Any]]:
        """Of a row pattern with `timeouts=True`: the starts without a match whose window has ended since."""
        rows: list[dict[str, Any]] = self._operator.timeouts().to_pylist()
        return rows

    def _note(self, table: pa.Table) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = table.to_pylist()
        self.matches += found
        self._fresh += found
        return found

    def _keep_late(self) -> None:
        rows = self._operator.late_rows.to_pylist()
        self._late += rows[self._n_late :]
        self._n_late = len(rows)

    def _typed(self, row: Row) -> dict[str, Any]:
        unknown = [name for name in row if name not in self.schema.names]
        if unknown:
            raise DataError(
                f"the row has a column {unknown[0]}, which the schema has not",
                hint=f"the columns are {', '.join(self.schema.names)}; those left out are null",
            )
        temporal = {field.name for field in self.schema if pa.types.is_temporal(field.type)}
        naive = {f.name for f in self.schema if pa.types.is_timestamp(f.type) and f.type.tz is None}
        return {
            name: _time(value, naive=name in naive) if name in temporal else value
            for name, value in row.items()
        }

    def _expected(self, row: Row) -> dict[str, Any]:
        names = emitted_schema(self._operator.operator).names
        known = {name.lower() for name in names}
        for name in row:
            if name.lower() not in known:
                raise OptionError(f"matches have no column {name}", hint=f"they have {', '.join(names)}")
        return dict(row)


def schema_of(text: str) -> pa.Schema:
    """An Arrow schema from Spark's notation, for columns of simple types.

    >>> schema_of("id int, ts timestamp").types
    [DataType(int32), TimestampType(timestamp[us, tz=UTC])]
    """
    fields = []
    for part in _split(text):
        name, _, kind = part.strip().partition(" ")
        arrow = value_type(kind.strip()).arrow if kind.strip() else None
        if arrow is None:
            raise OptionError(
                f"{part.strip()!r} is not a column and its type",
                hint='write "car_id int, ts timestamp, speed double"',
            )
        fields.append((name, arrow))
    return pa.schema(fields)


def _split(text: str) -> Iterable[str]:
    """At commas, but not within decimal(10, 2)."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _time(value: Any, *, naive: bool = False) -> Any:
    """ISO 8601 text as an instant, UTC where it names no zone; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise DataError(f"{value!r} is not a time such as 2024-01-01T06:00:00Z") from None
    if naive:
        return moment.replace(tzinfo=None)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _agrees(match: Row, row: Row) -> bool:
    by_name = {name.lower(): value for name, value in match.items()}
    return all(_same(by_name[name.lower()], value) for name, value in row.items())


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, datetime) and isinstance(wanted, str):
        wanted = _time(wanted, naive=found.tzinfo is None)
    elif isinstance(found, date) and isinstance(wanted, str):
        wanted = date.fromisoformat(wanted)
    if isinstance(found, float) and isinstance(wanted, int | float):
        if math.isnan(found) or math.isnan(wanted):
            return math.isnan(found) and math.isnan(wanted)
        return math.isclose(found, wanted, rel_tol=_CLOSE)
    if isinstance(found, Sequence) != isinstance(wanted, Sequence):
        return False
    return bool(found == wanted)
