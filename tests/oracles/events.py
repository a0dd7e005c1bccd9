"""SEM 13.3, 13.5 and 15: the events of one partition, of one source or several, and what conditions say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oracles.derive import in_order
from oracles.question import SOURCE, Question, Row


def events_of(part: Sequence[Row], question: Question) -> list[Row]:
    """In time order; ties are resolved within each source, rows of one instant stay together."""
    sources = dict.fromkeys(row.get(SOURCE) for row in part)
    events = [
        event
        for source in sources
        for event in in_order(
            [row for row in part if row.get(SOURCE) == source],
            question.time,
            question.ties,
            question.ties_are_errors,
        )
    ]
    return sorted(events, key=lambda event: event[question.time])


def own_events(symbol: str, events: Sequence[Row], question: Question) -> list[Row]:
    """Those of the symbol's source."""
    if not question.sources:
        return list(events)
    return [event for event in events if event[SOURCE] == question.sources[symbol]]


def settled(question: Question, events: Sequence[Row]) -> Question:
    """The same about these events, every condition one over a single row, false in other sources."""
    if not question.sources and not question.looks_back:
        return question
    holds = {}
    for symbol, condition in question.holds.items():
        own = own_events(symbol, events, question)
        if symbol in question.looks_back:
            verdicts = [condition(event, own[:i]) for i, event in enumerate(own)]
        else:
            verdicts = [condition(event) for event in own]
        by_row = {id(event): verdict for event, verdict in zip(own, verdicts, strict=True)}
        holds[symbol] = lambda event, by_row=by_row: by_row.get(id(event), False)
    return replace(question, holds=holds, looks_back=frozenset())
