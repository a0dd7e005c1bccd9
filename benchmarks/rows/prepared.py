"""A query brought so far that only the search for matches is left."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

import situ
from situ.carry.intake import reader_of
from situ.carry.push import setting_of
from situ.operators.rowpattern.engine import Engine, Matches
from situ.operators.rowpattern.ordering import sequenced
from situ.operators.rowpattern.question import RowMatching
from situ.options import read_options
from situ.rows.schema import spark_schema
from situ.rows.united import schemas_of


def search_of(table: pa.Table, text: str) -> tuple[Engine, Callable[[], Matches]]:
    """The engine, and a function that finds all matches in rows that are in order and tested already."""
    options = read_options({}, frozenset(), "the benchmark")
    asked = RowMatching(situ.query(text)).bind(spark_schema(table.schema), options)
    operator = asked.operator(table.schema, setting_of(options))
    rows = reader_of(asked.needs, schemas_of(table), options)(table)
    kept = operator.nothing(rows.n_slots)
    now = sequenced(kept, rows, operator.needs, None, asked.forget_after)
    tested = operator.tested(now)
    before = kept.slots.told[now.slot]

    def find() -> Matches:
        return operator.engine.find(tested, now.histories, before, in_turn=True, timed=False, at_end=True)

    return operator.engine, find
