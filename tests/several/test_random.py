"""Several random queries in one pass: each has the matches that the oracles give it alone."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import situ
from conformance.random_intervals import shuffled
from conformance.strategies import cuts, table_of
from oracles.question import Row
from several.groups import Group, groups, in_batches, interval_groups
from situ.carry.push import PushOperator
from spark.tasks import run_map_side, run_oversized, run_shuffle, run_slices
from spark.test_tasks import split_at_borders

SOME = settings(max_examples=max(20, settings.default.max_examples // 2))


def push(group: Group, batches: list[list[Row]], options: dict[str, Any]) -> dict[str, pa.Table]:
    """Every batch through an operator that was saved and read back before it."""
    operator = PushOperator(group.question, group.schema, **options)
    found = []
    for batch in in_batches(batches, group.schema):
        found.append(operator.push(batch))
        operator = PushOperator(group.question, group.schema, state=operator.state(), **options)
    found.append(operator.flush())
    assert operator.late == 0
    return group.apart(pa.concat_tables(found))


@SOME
@given(groups(shuffled=True), st.sampled_from([1, 2]), st.sampled_from([1, 2000, 1 << 20]))
def test_rows_in_any_order(group: Group, n_splits: int, limit: int) -> None:
    """In process, and as whole rows through a shuffle; with a low limit by way of files."""
    expected = group.expected()
    group.check(situ.match(group.table, group.queries), expected)
    size = max(1, -(-len(group.rows) // n_splits))
    splits = [group.table.slice(i, size) for i in range(0, len(group.rows), size)] or [group.table]
    if not group.first.question.ties and len({row["t"] for row in group.rows}) < len(group.rows):
        splits = [group.table]  # which row of an instant is last is promised within a split only
    group.check(group.apart(run_shuffle(splits, group.question, {}, limit=limit)), expected)


@SOME
@given(groups(), st.data())
def test_rows_in_pieces(group: Group, data: st.DataObject) -> None:
    """Pushed in any cuts, restored in each, and condensed on the map side of any splits."""
    expected = group.expected()
    group.check(push(group, data.draw(cuts(group.rows, between_ties=False)), {}), expected)
    splits = split_at_borders(group.first, data.draw(st.lists(st.integers(0, 36), max_size=4)))
    Random(len(splits)).shuffle(splits)
    limit = data.draw(st.sampled_from([1, 300, 1 << 20]))
    group.check(group.apart(run_map_side(splits, group.question, {}, limit=limit)), expected)
    rows_per_batch = data.draw(st.integers(1, 9))
    group.check(group.apart(run_oversized(splits, group.question, {}, rows_per_batch)), expected)


@SOME
@given(
    st.booleans().flatmap(lambda is_bounded: groups(is_partitioned=False, is_bounded=is_bounded)),
    st.lists(st.integers(0, 36), max_size=3),
    st.integers(1, 8),
)
def test_slices_of_time(group: Group, borders: list[int], n_slices: int) -> None:
    """Without PARTITION BY; queries of other windows, or without one, have slices of their own."""
    splits = split_at_borders(group.first, borders)
    if all(one.question.within is not None for one in group.examples.values()):
        found = run_slices(splits, group.question, {}, n_slices)
    else:
        found = run_map_side(splits, group.question, {})
    group.check(group.apart(found), group.expected())


@SOME
@given(interval_groups(), st.integers(0, 9), st.sampled_from([1, 500, 1 << 20]), st.data())
def test_given_intervals(group: Group, seed: int, limit: int, data: st.DataObject) -> None:
    """In process, through a shuffle, and pushed: rows held back carry what each query needs (SEM 6.4)."""
    options = {"points": "widen"} if group.first.question.widen_points else {}
    expected = group.expected()
    table = table_of(shuffled(group.rows, seed), group.schema)
    group.check(situ.match(table, group.queries, **options), expected)
    group.check(group.apart(run_shuffle([table], group.question, options, limit=limit)), expected)
    group.check(push(group, data.draw(cuts(group.rows, between_ties=True)), options), expected)
