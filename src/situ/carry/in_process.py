"""The carrier of tables in memory: Arrow, pandas and Polars in, a table of the same kind out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from situ.carry.contract import (
    Asked,
    Counts,
    Emitted,
    Operator,
    Question,
    Splits,
    Tells,
    emitted_schema,
    naming,
    tables_of,
)
from situ.carry.intake import reader_of
from situ.carry.push import setting_of
from situ.carry.trace import traced
from situ.errors import OptionError
from situ.options import Options, read_options
from situ.rows.clock import complete_at_end, until_of
from situ.rows.plain import refuse_types
from situ.rows.prepared import Prepared
from situ.rows.read import TableReader
from situ.rows.schema import latest_of, spark_schema
from situ.rows.tables import from_arrow, hints_for, is_lazy, rowless, to_arrow, when_collected
from situ.rows.tied import Place, Tied, calling_place
from situ.rows.united import SourcesReader, schema_of, schemas_of

OPTIONS = frozenset(
    {"time", "ties", "on_bad_rows", "join", "threads", "forget_after", "match_id", "ansi", "time_zone"}
    | {"points", "time_unit", "until", "match_span", "match_time", "max_steps", "max_matches"}
)
_ELSEWHERE = (
    "watermark, late_rows, max_ahead and timeouts are for streams: see q.operator() and streaming DataFrames"
)


def run(events: Any, question: Question, passed: dict[str, Any]) -> Any:
    """The answer to a question over one whole table, as a table of the same kind; of several, by name.

    That of a LazyFrame is lazy; of several it is not, so that one pass answers them all.
    """
    options = checked(question, passed)
    if is_lazy(events):
        nothing, asked = _bound(rowless(events), question, options)
        operator = asked.operator(nothing.schema, setting_of(options))
        until_of(options, asked.needs, nothing.schema)
        if not isinstance(operator, Splits):
            answer = partial(_answer, question=question, options=options, lazy=calling_place())
            return when_collected(events, asked.needs.all_names, answer, emitted_schema(operator))
    answered = _answer(events, question, options)
    if isinstance(answered, dict):
        return {name: from_arrow(table, events) for name, table in answered.items()}
    like = next(iter(events.values())) if isinstance(events, Mapping) else events
    return from_arrow(answered, like)


def _answer(
    events: Any, question: Question, options: Options, lazy: Place | None = None
) -> pa.Table | dict[str, pa.Table]:
    """The answer in Arrow; `lazy` is where it was asked for, if that is not here and now."""
    # what is refused or told of ties names columns of the table, and so is said here
    in_steps = options if question.all_rows_count else replace(options, ties="last")
    table, asked = _bound(events, question, in_steps)
    operator = asked.operator(schema_of(table, asked.needs), setting_of(options))
    read_table = reader_of(asked.needs, schemas_of(table), options)
    rows = read_table(table)
    kept = operator.nothing(rows.n_slots)
    complete = _complete(read_table, table, rows, options)
    with naming(rows.keys):
        stepped = traced(operator, "in process")(kept, rows, complete, at_end=True)
    if stepped.tied is not None and stepped.tied.n_rows and options.ties != "last":
        found = read_table.ties(stepped.tied, table, rows)
        if lazy is not None:  # columns that the query does not need have not been read
            found = replace(found, columns=(), ask="situ.why(events, query) tells which")
        if options.ties == "error":
            raise found.refused()
        found.warn(lazy)
    if isinstance(operator, Splits):
        parts = operator.parts(stepped.emitted).items()
        return {name: _table(own, found, rows.keys) for name, (own, found) in parts}
    return _table(operator, stepped.emitted, rows.keys)


def why(events: Any, question: Question, passed: dict[str, Any]) -> Any:
    """Where results are lost in a table: what the operator tells of its counts."""
    options = checked(question, passed)
    table, whole = _bound(events, question, options)
    asked = counting(whole)
    operator = asked.operator(schema_of(table, asked.needs), setting_of(options))
    assert isinstance(operator, Tells)
    read_table = reader_of(asked.needs, schemas_of(table), options)
    rows, tied = read_table(table), Tied()
    tally = operator.tally(rows, tied, _complete(read_table, table, rows, options))
    ties = read_table.ties(tied, table, rows) if tied.n_rows else None
    reported = None
    if whole.having is not None:
        found = _answer(events, question, replace(options, ties="last"))
        assert isinstance(found, pa.Table)
        reported = found.num_rows
    return operator.told(tally, ties, reported)


def _complete(
    read_table: TableReader | SourcesReader, table: Any, rows: Prepared, options: Options
) -> int | None:
    """One more than the clock of the table, for an operator that needs one (SEM 11.9)."""
    needs = read_table.needs
    until = until_of(options, needs, schema_of(table, needs))
    if not needs.ticks:
        return None
    latest = read_table.latest(table, latest_of(rows.time))
    return complete_at_end(until, latest, needs)


def counting(asked: Asked) -> Asked:
    """The question asked only to count."""
    if not isinstance(asked, Counts):
        raise OptionError("situ.why takes one query at a time", hint="call it once for each")
    return asked.counting()


def _bound(events: Any, question: Question, options: Options) -> tuple[Any, Asked]:
    """The events as an Arrow table, or one for each source, and the question bound to their columns."""
    if isinstance(events, Mapping):
        given = {name: to_arrow(one) for name, one in events.items()}
        asked = question.bind({name: spark_schema(one.schema) for name, one in given.items()}, options)
        tables = [given[part.name] for part in asked.needs.parts]
        for part, one in zip(asked.needs.parts, tables, strict=True):
            refuse_types(part.needs, one.schema)
        return tables, asked
    table = to_arrow(events)
    with hints_for(events, table, question.time or options.time):
        asked = question.bind(spark_schema(table.schema), options)
    refuse_types(asked.needs, table.schema)
    return table, asked


def _table(operator: Operator, emitted: Sequence[Emitted], keys: Sequence[pa.Array]) -> pa.Table:
    schema = emitted_schema(operator)
    tables = tables_of(emitted, keys, schema)
    return pa.concat_tables(tables) if tables else pa.Table.from_batches([], schema)


def checked(question: Question, passed: dict[str, Any]) -> Options:
    """The options of a call, each known and fit for the question."""
    options = read_options(passed, OPTIONS, "a table in process", _ELSEWHERE)
    question.check_options(passed)
    return options
