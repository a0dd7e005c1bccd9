"""The whole answer: rows and a question in, result rows out (SEM 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from oracles import absence, aggregate, composed, derive, gaps, intervals, match, silence
from oracles.derive import Situation
from oracles.events import events_of, own_events, settled
from oracles.question import Absence, BadInput, Item, Question, Row

Key = tuple[Any, ...]


def answer(
    rows: Sequence[Row], question: Question, clock: Callable[[Key], int | None] | None = None
) -> list[tuple[Any, ...]]:
    """Partition values, then the items, then match_time, one tuple per match.

    `clock` says how far time has passed in each partition; without it the rows are a batch (SEM 11.9).
    """
    found = []
    of_batch = batch_clock(rows, question)
    for key, part in partitions(rows, question):
        for chosen, at in matches_of(part, question, of_batch if clock is None else clock(key)):
            found.append((*key, *values(question.items, chosen, at), at))
    return found


def values(items: Sequence[Item], chosen: dict[str, Situation], at: int) -> list[Any]:
    return [aggregate.item(function, chosen[symbol], attribute, at) for function, symbol, attribute in items]


def batch_clock(rows: Sequence[Row], question: Question) -> int | None:
    """SEM 11.9: `until`, or the largest time of all rows, those that WHERE removes included."""
    if question.until is not None:
        return question.until
    return max((instant_of(row, question) for row in rows if row[question.time] is not None), default=None)


def instant_of(row: Row, question: Question) -> int:
    return intervals.instant_of(row, question) if question.is_over_intervals else row[question.time]


def partitions(rows: Sequence[Row], question: Question) -> list[tuple[Key, list[Row]]]:
    """SEM 1.2, 1.4: the events of each partition in input order; a null key is a key."""
    parts: dict[Key, list[Row]] = {}
    for row in rows:
        if question.where is None or question.where(row) is True:
            if row[question.time] is None:
                raise BadInput("null time")
            parts.setdefault(tuple(row[column] for column in question.partition), []).append(row)
    return list(parts.items())


def matches_of(
    part: Sequence[Row], question: Question, clock: int | None = None
) -> Iterator[tuple[dict[str, Situation], int]]:
    """The matches of one partition that HAVING keeps; its clock is that of its own rows if not given."""
    if clock is None:
        clock = batch_clock(part, question)
    for chosen, at in without_having(part, question, clock):
        having = question.having
        if having is None or having.holds(*values(having.items, chosen, at)) is True:
            yield chosen, at


def fits_any(rows: Sequence[Row], question: Question, group: Absence) -> bool:
    """SEM 11.2: does a situation that is over fit a configuration, all of which is over too?"""
    for _, part in partitions(rows, question):
        for history in histories(part, question):
            about = replace(question, within=None)
            if not question.is_over_intervals:
                about = settled(about, history)
            found = {
                symbol: [one for one in several if one.te is not None]
                for symbol, several in situations_in(history, about).items()
            }
            end = max((one.te for several in found.values() for one in several), default=0)
            for chosen in match.configurations(about, found, [end], history):
                for absent in found[group.symbol]:
                    if absence.possible_until(absent, chosen, group, question, end) > -absence.NEVER:
                        return True
    return False


def histories(part: Sequence[Row], question: Question) -> Sequence[Sequence[Row]]:
    if question.is_over_intervals:
        return [part]
    return derive.histories(events_of(part, question), question.time, question.forget_after)


def situations_in(history: Sequence[Row], question: Question) -> dict[str, list[Situation]]:
    if question.is_over_intervals:
        return intervals.given(history, question)
    return situations_of(history, question)


def without_having(
    part: Sequence[Row], question: Question, clock: int
) -> Iterator[tuple[dict[str, Situation], int]]:
    if question.is_over_intervals:
        instants = {intervals.instant_of(row, question) for row in part} | {
            row[question.time] for row in part
        }
        found, raw = intervals.given(part, question), intervals.given(part, of_any_length(question))
        yield from match.matches(question, found, sorted(instants), part, raw, clock)
        return
    for history in histories(part, question):
        about = settled(question, history)
        found, raw = situations_of(history, about), situations_of(history, of_any_length(about))
        instants = sorted({event[question.time] for event in history})
        ends = [clock] if question.forget_after is None else [clock, instants[-1] + question.forget_after]
        yield from match.matches(about, found, instants, history, raw, min(ends))


def of_any_length(question: Question) -> Question:
    """An absent situation counts while it is open, however short it will turn out to be (SEM 11.3)."""
    return replace(question, at_least={}, at_most={})


def situations_of(history: Sequence[Row], question: Question) -> dict[str, list[Situation]]:
    """Those of the positive and of the absent symbols that exist for matching."""
    question = settled(question, history)
    return {
        symbol: situations_of_symbol(symbol, own_events(symbol, history, question), question)
        for symbol in (*question.symbols, *question.absent)
    }


def situations_of_symbol(symbol: str, events: Sequence[Row], question: Question) -> list[Situation]:
    bounds = question.at_least.get(symbol), question.at_most.get(symbol)
    if symbol in question.patterns:
        return composed.situations(events, question.time, question.patterns[symbol], *bounds)
    if symbol in question.silences:
        return silence.silences(events, question.time, *bounds)
    if symbol in question.gaps:
        return gaps.bridged(events, question.time, question.holds[symbol], question.gaps[symbol], *bounds)
    return derive.situations(events, question.time, question.holds[symbol], *bounds)
