"""Random queries in which one symbol or two are row patterns (SEM 17), over few rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from conformance.random_events import event_rows
from conformance.random_row_items import conditions
from conformance.random_row_patterns import NAMES, patterns
from conformance.random_rows import ODD, SCHEMA, RowDraft, unless_too_long
from conformance.strategies import Condition, Example, accepted, drafts
from oracles.question import Row
from oracles.row_items import RowQuestion

N_ROWS = 14
OF_QUERIES = ("FROM", "ORDER BY", "MEASURES")  # clauses that a pattern inside a query has not


@cache
def row_drafts(ahead: bool) -> st.SearchStrategy[RowDraft]:
    """With fewer conditions than row patterns alone have: what matches nothing is no situation."""
    seldom = st.sampled_from([conditions(ahead), st.none()]).flatmap(lambda chosen: chosen)
    return st.builds(
        RowDraft,
        pattern=patterns(2),
        conditions=st.tuples(*[seldom] * len(NAMES)),
        measures=st.just([]),
        is_shown=st.just(False),
        skip=st.sampled_from(["past", "next", "past"]),
        skip_to=st.just(0),
        strategy=st.sampled_from(["contiguous"] * 4 + ["next", "any"]),
        mode=st.sampled_from([None] * 6 + ["maximal", "incremental"]),
        within=st.sampled_from([8, None, 5, None, 3, 0]),
        rows=st.just("one"),
        empty=st.just("show"),
        union=st.sampled_from(range(1, 16)),
        partition=st.just(()),
        where=st.just(None),
        order=st.just((("t", False, False),)),
    )


def condition_of(draft: RowDraft) -> Condition:
    """As DEFINE has it, and as the oracle takes it."""
    example = draft.about([])
    lines = [line.strip() for line in example.text.removesuffix("\n)").split("\n")]
    inside = "\n  ".join(line for line in lines if not line.startswith(OF_QUERIES))
    question: RowQuestion = replace(example.question, measures=())
    return f"MATCH_RECOGNIZE (\n  {inside}\n)", question


@st.composite
def composed_examples(draw: st.DrawFn, is_stream: bool = False, shuffled: bool = False) -> Example:
    """A table and a query for it, its first symbol or the first two a row pattern."""
    n_symbols = draw(st.sampled_from([2, 1, 2, 1, 3]))
    draft = draw(drafts(n_symbols))
    ahead = draw(st.booleans())
    n_patterns = min(n_symbols, draw(st.sampled_from([1, 1, 1, 2])))
    drawn = [draw(row_drafts(ahead)).allowed(is_stream) for _ in range(n_patterns)]
    if ahead:  # ROW 5.3
        drawn = [one._replace(mode=None) if one.mode == "incremental" else one for one in drawn]
    rows = draw(event_rows(N_ROWS, shuffled))
    rows = [row | {"y": ODD[(row["seq"] * 3 + i) % len(ODD)]} for i, row in enumerate(rows)]
    return unless_too_long(lambda: about(draft, drawn, rows))


def about(draft, drawn: list[RowDraft], rows: list[Row]) -> Example:
    asked = [condition_of(one) for one in drawn]
    draft = draft._replace(conditions=(*asked, *draft.conditions[len(asked) :]))
    return accepted(Example(*draft.about(rows), rows, SCHEMA))
