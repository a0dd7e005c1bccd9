"""The row pattern experiments: what is timed finds what users get, and steps grow with the rows alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.rows.data import ticks
from benchmarks.rows.prepared import search_of
from benchmarks.rows.texts import QUERIES, REGULAR, row_query

import situ


@pytest.mark.parametrize("query", QUERIES)
def test_the_search_alone_finds_the_matches(query):
    table = ticks(1_000, partitions=3)
    _, find = search_of(table, QUERIES[query])
    matches = len(find().start)
    assert matches == situ.match(table, QUERIES[query]).num_rows
    assert matches > 0


def test_last_finds_what_prev_finds():
    table = ticks(2_000, partitions=7)
    assert situ.match(table, QUERIES["V, LAST"]).equals(situ.match(table, QUERIES["V"]))


@pytest.mark.parametrize("pattern", REGULAR)
@pytest.mark.parametrize("rows", [500, 2_000])
def test_nested_repetition_takes_steps_in_proportion_to_the_rows(pattern, rows):
    engine, find = search_of(ticks(rows, partitions=2), row_query(*REGULAR[pattern]))
    find()
    assert rows <= engine.n_steps <= 2 * rows
