"""Several random queries on one stream: rows applied, late and waiting as the oracles say of each query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.random_intervals import shuffled
from conformance.strategies import cuts, table_of
from oracles.answer import answer
from oracles.intervals import instant_of
from oracles.question import Row
from oracles.stream import Outcome, largest, outcome
from several.groups import Group, groups, interval_groups
from situ.carry.push import PushOperator
from situ.carry.stream import cells as stream_cells
from situ.carry.stream import program as stream_program
from situ.carry.stream import waiting as stream_waiting
from streaming.in_memory import MemoryStream
from streaming.test_random_buckets import is_event_of

SOME = settings(max_examples=max(20, settings.default.max_examples // 2))


@pytest.fixture(autouse=True, scope="module")
def _small_cells() -> Iterator[None]:
    """Cells of two keys and pieces of four rows, so that small examples split, join and merge them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_cells, "KEYS_PER_CELL", 2)
        patch.setattr(stream_cells, "_EMPTIEST", 1)
        patch.setattr(stream_waiting, "ROWS_PER_PIECE", 4)
        patch.setattr(stream_waiting, "_SMALL", 2)
        patch.setattr(stream_waiting, "_MOST_SMALL", 2)
        patch.setattr(stream_program, "_MILLISECOND", 1)
        yield


def outcomes(group: Group, batches: list[list[Row]], delay: int | None) -> dict[str, Outcome]:
    """What becomes of the rows in each query: without a watermark each has a horizon of its own."""

    def key(row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in group.first.question.partition)

    waits = group.first.question.is_over_intervals
    return {
        name: outcome(batches, instant(group), key, delay, waits, is_event=is_event_of(one.question))
        for name, one in group.examples.items()
    }


def instant(group: Group) -> Callable[[Row], int]:
    question = group.first.question
    return lambda row: instant_of(row, question) if question.is_over_intervals else row["t"]


def once(several: list[list[Row]]) -> list[Row]:
    """Rows of any query, each once."""
    return list({id(row): row for rows in several for row in rows}.values())


def answers(group: Group, became: dict[str, Outcome], *, with_waiting: bool) -> dict[str, list[Any]]:
    return {
        name: answer(
            own.applied + own.waiting * with_waiting,
            group.examples[name].question,
            own.clock_of_flush if with_waiting else own.clock,
        )
        for name, own in became.items()
    }


@SOME
@given(groups(shuffled=True, is_bounded=True), st.data())
def test_cut_anywhere(group: Group, data: st.DataObject) -> None:
    """SEM 8.1 to 8.5, in buckets and pushed: a row that is late for two queries is late once."""
    batches = data.draw(cuts(group.rows, between_ties=True))
    delay = data.draw(st.sampled_from([None, None, 0, 1, 3, 10, 100]))
    options: dict[str, Any] = {}
    if data.draw(st.booleans()):
        windows = [one.question.within or 0 for one in group.examples.values()]
        options["forget_after"] = max(windows) + data.draw(st.integers(0, 8))
        group = group.changed(**options)
    follow(group, batches, delay, options)


@SOME
@given(interval_groups(), st.integers(0, 9), st.sampled_from([None, 0, 2, 6, 40]), st.data())
def test_given_intervals_cut_anywhere(
    group: Group, seed: int, delay: int | None, data: st.DataObject
) -> None:
    """SEM 6.3, 6.4, 8.1."""
    batches = data.draw(cuts(shuffled(group.rows, seed), between_ties=True))
    follow(group, batches, delay, {"points": "widen"} if group.first.question.widen_points else {})


def follow(group: Group, batches: list[list[Row]], delay: int | None, options: dict[str, Any]) -> None:
    became = outcomes(group, batches, delay)
    late = once([own.late for own in became.values()])
    shown = f"batches {[len(batch) for batch in batches]} {options=} {delay=}"
    follow_in_buckets(group, batches, delay, options, became, late, shown)
    follow_pushed(group, batches, delay, options, became, late, shown)


def follow_in_buckets(
    group: Group,
    batches: list[list[Row]],
    delay: int | None,
    options: dict[str, Any],
    became: dict[str, Outcome],
    late: list[Row],
    shown: str,
) -> None:
    stream = MemoryStream(
        group.question, group.schema, {**options, "late_rows": True}, has_watermark=delay is not None
    )
    found: list[pa.Table] = []
    seen = complete = None
    for batch in batches:
        table = table_of(batch, group.schema)
        if delay is None:
            found.append(stream.push(table))
            continue
        if seen is not None:
            complete = largest(complete, seen - delay)
        found.append(stream.push(table, -(2**63) if complete is None else complete))
        for row in batch:
            seen = largest(seen, instant(group)(row))
    check(group, found, answers(group, became, with_waiting=False), shown)
    assert stream.n_late == len(late), shown
    assert sorted(map(repr, stream.late)) == sorted(map(repr, table_of(late, group.schema).to_pylist()))
    if delay is not None:
        assert stream.n_waiting == len(once([own.waiting for own in became.values()])), shown
        found.append(stream.advance(2**63 - 1 if seen is None else seen + 1))  # as far as a flush does
        check(group, found, answers(group, became, with_waiting=True), shown)
        assert stream.n_waiting == 0


def follow_pushed(
    group: Group,
    batches: list[list[Row]],
    delay: int | None,
    options: dict[str, Any],
    became: dict[str, Outcome],
    late: list[Row],
    shown: str,
) -> None:
    options = options if delay is None else {**options, "watermark": delay}
    operator = PushOperator(group.question, group.schema, **options)
    found = []
    for i, batch in enumerate(batches):
        found.append(operator.push(table_of(batch, group.schema)))
        if i % 2:
            operator = PushOperator(group.question, group.schema, state=operator.state(), **options)
    check(group, found, answers(group, became, with_waiting=False), shown)
    found.append(operator.flush())
    check(group, found, answers(group, became, with_waiting=True), shown)
    assert operator.late == len(late), shown


def check(group: Group, found: list[pa.Table], expected: dict[str, list[Any]], shown: str) -> None:
    there = [table for table in found if table.num_columns]
    if there:
        keys = len(group.first.question.partition)
        tables = [one.rename_columns([*group_keys(group), *one.column_names[keys:]]) for one in there]
        group.check(group.apart(pa.concat_tables(tables)), expected, shown)
    else:
        assert not any(expected.values()), shown


def group_keys(group: Group) -> list[str]:
    return list(group.first.question.partition)
