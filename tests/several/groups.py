"""Several random queries over one random table, and the answers of each taken apart again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import reject
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.random_events import SCHEMA, event_rows
from conformance.random_intervals import SCHEMA as INTERVALS
from conformance.random_intervals import TABLES, interval_drafts, interval_rows
from conformance.random_intervals import WHERE as INTERVAL_WHERE
from conformance.rows import ResultRow
from conformance.runners import result_rows
from conformance.strategies import (
    CONDITIONS,
    PARTITIONS,
    WHERE,
    Example,
    drafts,
    is_refused,
    table_of,
)
from oracles.answer import answer
from oracles.question import Row
from situ.carry.contract import Question
from situ.operators.questions import matching
from situ.operators.several.operator import QUERY, prefix_of

ANY_WHERE = [None, WHERE[-1], *CONDITIONS[2:4], CONDITIONS[-1], ("x <> 0.5", lambda row: differs(row["x"]))]
INTERVALS_WHERE = [*INTERVAL_WHERE, ("level > 1", lambda row: row["level"] is not None and row["level"] > 1)]


def differs(x: float | None) -> bool | None:
    return None if x is None else x != 0.5


@dataclass(frozen=True)
class Group:
    """Examples by name, all about the same rows."""

    examples: dict[str, Example]

    @property
    def first(self) -> Example:
        return next(iter(self.examples.values()))

    @property
    def rows(self) -> list[Row]:
        return self.first.rows

    @property
    def schema(self) -> pa.Schema:
        return self.first.schema

    @property
    def table(self) -> pa.Table:
        return self.first.table

    @property
    def queries(self) -> dict[str, situ.Query]:
        return {name: situ.query(one.text) for name, one in self.examples.items()}

    @property
    def question(self) -> Question:
        return matching(self.queries)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows of a failing example

    def __repr__(self) -> str:
        texts = [f"{name}: {one.text}" for name, one in self.examples.items()]
        return "\n".join([*texts[:-1], repr(self.first), texts[-1]])

    def changed(self, text: str = "", **changes: Any) -> Group:
        """Every question with the same changes, and with more text."""
        return Group(
            {
                name: replace(one, text=one.text + text, question=replace(one.question, **changes))
                for name, one in self.examples.items()
            }
        )

    def expected(self, rows: list[Row] | None = None) -> dict[str, list[ResultRow]]:
        """What the oracles say, of each query by itself."""
        return {
            name: answer(self.rows if rows is None else rows, one.question)
            for name, one in self.examples.items()
        }

    def check(
        self, found: dict[str, pa.Table], expected: dict[str, list[ResultRow]], shown: str = ""
    ) -> None:
        """Each query has its own results, and no other's."""
        assert list(found) == list(self.examples)
        for name, one in self.examples.items():
            agree(result_rows(found[name], one.text), expected[name], f"{name} of {self}\n{shown}")

    def apart(self, wide: pa.Table) -> dict[str, pa.Table]:
        """What operators emit, as a table for each query."""
        return apart(wide, list(self.examples), len(self.first.question.partition))


def apart(wide: pa.Table, names: Sequence[str], n_keys: int) -> dict[str, pa.Table]:
    """A table with `query` and columns of all queries, as a table for each; no row has another's columns."""
    found = {}
    for i, name in enumerate(names):
        prefix = prefix_of(i)
        is_own = [column.startswith(prefix) for column in wide.column_names]
        mine = wide.filter(pc.equal(wide[QUERY], name))
        for column, own in list(zip(wide.column_names, is_own, strict=True))[n_keys + 1 :]:
            assert own or mine[column].null_count == mine.num_rows, (name, column)
        keys = mine.column_names[:n_keys]
        own_names = [column for column, own in zip(wide.column_names, is_own, strict=True) if own]
        found[name] = mine.select([*keys, *own_names]).rename_columns(
            [*keys, *(column.removeprefix(prefix) for column in own_names)]
        )
    assert sum(table.num_rows for table in found.values()) == wide.num_rows
    return found


@st.composite
def groups(
    draw: st.DrawFn, shuffled: bool = False, is_partitioned: bool | None = None, is_bounded: bool = False
) -> Group:
    """One table, and one to three queries of events that one pass can answer; with windows if asked for."""
    partitions = PARTITIONS if is_partitioned is None else [("k",) if is_partitioned else ()]
    partition, ties = draw(st.sampled_from(partitions)), draw(st.sampled_from([(), (), ("seq",)]))
    several = draw(st.lists(FEW.flatmap(drafts), min_size=1, max_size=3))
    wheres = draw(st.lists(st.sampled_from(ANY_WHERE), min_size=3, max_size=3))
    rows = draw(event_rows(40, shuffled))
    found = []
    for draft, where in zip(several, wheres, strict=False):
        window = draft.window or ((900, 5) if is_bounded else None)
        own = draft._replace(partition=partition, ties=ties, where=where, window=window)
        found.append(Example(*own.about(rows), rows, SCHEMA))
    return named(found)


@st.composite
def interval_groups(draw: st.DrawFn) -> Group:
    """One table of given intervals, and one to three queries."""
    several = draw(st.lists(FEW.flatmap(interval_drafts), min_size=1, max_size=3))
    wheres = draw(st.lists(st.sampled_from(INTERVALS_WHERE), min_size=3, max_size=3))
    first = several[0]
    rows = interval_rows(draw(TABLES[12]), first.question())
    found = []
    for draft, where in zip(several, wheres, strict=False):
        own = draft._replace(
            partition=first.partition, has_ids=first.has_ids, widens=first.widens, where=where
        )
        found.append(Example(*own.about(rows), rows, INTERVALS))
    return named(found)


def named(several: Sequence[Example]) -> Group:
    """Those that are not refused, for nothing could match them."""
    taken = [one for one in several if not is_refused(one.text, one.schema)]
    return Group({f"q{i}": one for i, one in enumerate(taken)}) if taken else reject()


FEW = st.sampled_from([1, 2, 2, 3])


def in_batches(batches: Sequence[list[Row]], schema: pa.Schema) -> list[pa.Table]:
    return [table_of(batch, schema) for batch in batches]
