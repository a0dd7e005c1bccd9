"""Random row pattern queries and tables, each query as text and as the oracle's question.

The rows are those of `random_events`, fewer of them: the oracle tries everything, at every horizon. `y` has
numbers whose floating sums depend on the order they are added in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import reject
from hypothesis import strategies as st

from conformance.random_events import SCHEMA as EVENTS
from conformance.random_events import event_rows
from conformance.random_row_items import Chosen, conditions, measures
from conformance.random_row_patterns import NAMES, has, is_bounded, pattern_text, patterns, without
from conformance.row_patterns import mentioned
from conformance.row_pieces import ALL, Of, Piece, aggregate, logical
from oracles.row_items import NUMBER, Expression, Navigation, Pattern, Row, RowQuestion

SCHEMA = EVENTS.append(pa.field("y", pa.float64()))
ODD = [0.1, 0.2, 1e16, None, 0.3, -1e16, -0.1]
MOST_TESTS = 1500  # of conditions, in one example: beyond it the oracle is too slow
SHOWN = (aggregate("count"), logical("seq", first=True), logical("seq"), aggregate("array_agg", "CLASSIFIER"))
SKIPS = ["past"] * 4 + ["next"] * 4 + ["last", "first", "to"]
WHERE: list[tuple[str, Callable[[Row], bool | None]] | None] = [
    None, None, None, None, ("d OR NOT a", lambda row: row["d"] is True or row["a"] is False)
]  # fmt: skip


class TooLongError(Exception):
    """The oracle would take too long."""


@dataclass(frozen=True)
class RowExample:
    """A query as text and as a question, and rows in the order they arrive."""

    text: str
    question: RowQuestion
    rows: list[Row]

    @property
    def table(self) -> pa.Table:
        return table_of(self.rows)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # what Hypothesis shows of a failing example

    def __repr__(self) -> str:
        shown = [name for name in SCHEMA.names if any(row[name] is not None for row in self.rows)]
        lines = [" ".join(f"{name}={row[name]}" for name in shown) for row in self.rows]
        return "\n".join([self.text, *lines])


def table_of(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


class RowDraft(NamedTuple):
    """A query as it was drawn; `allowed` leaves out what ROW refuses beside the rest."""

    pattern: Pattern
    conditions: tuple[Chosen | None, ...]
    measures: list[Chosen]
    is_shown: bool  # with measures that tell the rows and variables of a match
    skip: str
    skip_to: int
    strategy: str
    mode: str | None
    within: int | None
    rows: str
    empty: str
    union: int  # which variables, as bits
    partition: tuple[str, ...]
    where: tuple[str, Callable[[Row], bool | None]] | None
    order: tuple[tuple[str, bool, bool], ...] = (("t", False, False), ("seq", False, False))

    def allowed(self, is_stream: bool) -> RowDraft:
        pattern, skip, mode, empty = self.pattern, self.skip, self.mode, self.empty
        strategy, within, order = self.strategy, self.within, self.order
        if is_stream:
            pattern, order = without(pattern, "$"), RowDraft._field_defaults["order"]
            if not is_bounded(pattern):
                within = 4 if within is None else within
        if order[0][0] != "t":
            strategy, within = "contiguous", None
        if strategy != "contiguous":
            mode = None
            pattern = without(pattern, "^", "$", *(["reluctant"] if strategy == "any" else []))
            within = 4 if within is None else within
        if mode:
            pattern = without(pattern, "$")  # it has no match_time then (ROW 5.3)
        if strategy == "any" or mode:
            skip = "next"
        if not mentioned(pattern):
            pattern = "A"
        may_be_unmatched = not (mode or is_stream or strategy != "contiguous" or has(pattern, "exclude"))
        if self.rows == "one" or (empty == "unmatched" and not may_be_unmatched):
            empty = "show"
        return self._replace(
            pattern=pattern, skip=skip, mode=mode, strategy=strategy, within=within, empty=empty, order=order
        )

    def about(self, rows: list[Row]) -> RowExample:
        """The query as text and as a question."""
        variables = mentioned(self.pattern)
        primary = [Of(name, frozenset({name})) for name in variables]
        members = [name for i, name in enumerate(variables) if self.union >> i & 1] or [variables[0]]
        union = Of("U", frozenset(members))
        defined = {
            of.name: chosen.about(of, primary, union)
            for of in primary
            if (chosen := self.conditions[NAMES.index(of.name)]) is not None
        }
        if self.strategy == "any" or self.mode == "incremental":  # ROW 3.5
            defined = {name: piece for name, piece in defined.items() if NUMBER not in piece.items}
        wanted = [
            *(SHOWN if self.is_shown else ()),
            *(one.about(ALL, primary, union) for one in self.measures),
        ]
        is_numbered = any(NUMBER in piece.items for piece in wanted)
        if self.mode == "incremental" or (self.strategy == "any" and is_numbered):  # ROW 5.3, 9.6
            defined = {name: piece for name, piece in defined.items() if not looks_ahead(piece)}
        if self.rows == "one" and not wanted:
            wanted = [SHOWN[0]]
        target = union if self.skip == "first" else primary[self.skip_to % len(primary)]
        skip = {"past": ("past",), "next": ("next",)}.get(
            self.skip, ("first" if self.skip == "first" else "last", target.members)
        )
        question = RowQuestion(
            self.pattern,
            counted({name: piece.expression for name, piece in defined.items()}, variables),
            variables,
            tuple(piece.expression for piece in wanted),
            self.partition,
            self.order,
            self.order[0][0] if self.order[0][0] == "t" else None,
            self.where and self.where[1],
            self.rows,
            self.empty,
            skip,
            self.strategy,
            self.mode,
            self.within,
        )
        return RowExample(self.text(defined, wanted, target.name, members), question, rows)

    def text(self, defined: dict[str, Piece], wanted: list[Piece], target: str, members: list[str]) -> str:
        source = f"(SELECT * FROM events WHERE {self.where[0]})" if self.where else "events"
        ordered = [
            name + " DESC" * descending + f" NULLS {'LAST' if last else 'FIRST'}" * (descending != last)
            for name, descending, last in self.order
        ]
        empty = {
            "show": " SHOW EMPTY MATCHES",
            "omit": " OMIT EMPTY MATCHES",
            "unmatched": " WITH UNMATCHED ROWS",
        }
        skips = {"past": "PAST LAST ROW", "next": "TO NEXT ROW", "first": f"TO FIRST {target}"}
        skips |= {"last": f"TO LAST {target}", "to": f"TO {target}"}
        strategy = {"contiguous": "", "next": "STRATEGY SKIP TILL NEXT", "any": "STRATEGY SKIP TILL ANY"}
        measured = [f"{piece.text} AS m{i}" for i, piece in enumerate(wanted)]
        defines = [f"{name} AS {piece.text}" for name, piece in defined.items()]
        clauses = [
            f"PARTITION BY {', '.join(self.partition)}" if self.partition else "",
            f"ORDER BY {', '.join(ordered)}",
            f"MEASURES {', '.join(measured)}" if measured else "",
            f"ALL ROWS PER MATCH{empty[self.empty]}" if self.rows == "all" else "",
            "" if self.mode else f"AFTER MATCH SKIP {skips[self.skip]}",
            strategy[self.strategy],
            f"{self.mode.upper()} MATCH" if self.mode else "",
            f"PATTERN ({pattern_text(self.pattern)})",
            "" if self.within is None else f"WITHIN {self.within}",
            f"SUBSET U = ({', '.join(members)})",
            f"DEFINE {', '.join(defines)}" if defines else "",
        ]
        return "\n  ".join([f"FROM {source} MATCH_RECOGNIZE (", *filter(None, clauses)]) + "\n)"


def looks_ahead(piece: Piece) -> bool:
    return any(isinstance(item, Navigation) and item.shift > 0 for item in piece.items)


def counted(conditions: dict[str, Expression], variables: tuple[str, ...]) -> dict[str, Expression]:
    """The same, but they stop after so many tests."""
    left = [MOST_TESTS]

    def limited(combine: Callable[..., Any]) -> Callable[..., Any]:
        def test(*values: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise TooLongError
            return combine(*values)

        return test

    made = {name: conditions.get(name, Expression(lambda: True)) for name in variables}
    return {name: one._replace(combine=limited(one.combine)) for name, one in made.items()}


TIME = (("t", False, False), ("seq", False, False))
ORDERS = [TIME] * 7 + [
    (("x", True, False), ("seq", False, False)),
    (("n", True, True), ("seq", True, True)),
    (("s", True, True), ("seq", False, False)),
]


@cache
def drafts(ahead: bool) -> st.SearchStrategy[RowDraft]:
    """Built once: what is put together anew for every example takes longer than the drawing."""
    return st.builds(
        RowDraft,
        pattern=patterns(),
        conditions=st.tuples(*[conditions(ahead)] * len(NAMES)),
        measures=measures(ahead),
        is_shown=st.sampled_from([True, True, True, False]),
        skip=st.sampled_from(SKIPS),
        skip_to=st.sampled_from(range(4)),
        strategy=st.sampled_from(["contiguous"] * 6 + ["next", "next", "any"]),
        mode=st.sampled_from([None] * 6 + ["maximal", "incremental"]),
        within=st.sampled_from([None, 5, None, 8, 2, 0, 3]),
        rows=st.sampled_from(["one", "one", "all"]),
        empty=st.sampled_from(["show", "omit", "unmatched"]),
        union=st.sampled_from(range(1, 16)),
        partition=st.sampled_from([("k",), ("k",), (), ("k", "d")]),
        where=st.sampled_from(WHERE),
        order=st.sampled_from(ORDERS),
    )


N_ROWS = 9


@st.composite
def row_examples(
    draw: st.DrawFn, is_stream: bool = False, ahead: bool = False, shuffled: bool = False
) -> RowExample:
    """A table and a query for it; of a stream what streams refuse is left out."""
    draft = draw(drafts(ahead)).allowed(is_stream)
    rows = draw(event_rows(N_ROWS, shuffled))
    return draft.about([row | {"y": ODD[(row["seq"] * 3 + i) % len(ODD)]} for i, row in enumerate(rows)])


def unless_too_long(ask: Callable[[], Any]) -> Any:
    """What it gives; an example that takes the oracle too long is none."""
    try:
        return ask()
    except TooLongError:
        return reject()


def forgetting(example: RowExample, after: int) -> RowExample:
    return replace(example, question=replace(example.question, forget_after=after))
