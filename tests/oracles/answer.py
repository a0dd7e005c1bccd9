"""The whole answer: rows and a question in, result rows out (SEM 5.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from oracles import aggregate, derive, intervals, match
from oracles.derive import Situation
from oracles.question import BadInput, Question, Row


def answer(rows: Sequence[Row], question: Question) -> list[tuple[Any, ...]]:
    """Partition values, then the items, then match_time, one tuple per match."""
    found = []
    for key, part in partitions(rows, question):
        for chosen, at in matches_of(part, question):
            items = [
                aggregate.item(f, chosen[symbol], attribute, at) for f, symbol, attribute in question.items
            ]
            found.append((*key, *items, at))
    return found


def partitions(rows: Sequence[Row], question: Question) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """SEM 1.2, 1.4: the events of each partition in input order; a null key is a key."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if question.where is None or question.where(row) is True:
            if row[question.time] is None:
                raise BadInput("null time")
            parts.setdefault(tuple(row[column] for column in question.partition), []).append(row)
    return list(parts.items())


def matches_of(part: Sequence[Row], question: Question) -> Iterator[tuple[dict[str, Situation], int]]:
    if question.is_over_intervals:
        instants = {intervals.instant_of(row, question) for row in part} | {
            row[question.time] for row in part
        }
        yield from match.matches(question, intervals.given(part, question), sorted(instants), part)
        return
    events = derive.in_order(part, question.time, question.ties, question.ties_are_errors)
    for history in derive.histories(events, question.time, question.forget_after):
        found = situations_of(history, question)
        yield from match.matches(question, found, [event[question.time] for event in history], history)


def situations_of(history: Sequence[Row], question: Question) -> dict[str, list[Situation]]:
    return {
        symbol: derive.situations(
            history,
            question.time,
            question.holds[symbol],
            question.at_least.get(symbol),
            question.at_most.get(symbol),
        )
        for symbol in question.symbols
    }
