"""SEM 4: every configuration, and its detection instant from the definition of certainty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oracles.derive import Situation
from oracles.question import Question, Row
from oracles.relations import atoms, possible

Configuration = dict[str, Situation]


def matches(
    question: Question, situations: dict[str, list[Situation]], instants: Sequence[int], events: Sequence[Row]
) -> Iterator[tuple[Configuration, int]]:
    """Every match of one partition with its match_time. `instants` ascend and hold every known endpoint."""
    for chosen in configurations(question, situations, instants, events):
        if question.emit == "FINAL":
            match_time = final_instant(chosen)
        else:
            match_time = detection_instant(question, chosen, instants, events)
        begin = min(situation.ts for situation in chosen.values())
        if match_time is not None and (question.within is None or match_time - begin <= question.within):
            yield chosen, match_time


def configurations(
    question: Question, situations: dict[str, list[Situation]], instants: Sequence[int], events: Sequence[Row]
) -> list[Configuration]:
    """SEM 4.1: one situation per symbol, without those in which some constraint cannot hold any more.

    Nothing is certain before all have started, so starts further apart than the window are left out too.
    """
    partial: list[Configuration] = [{}]
    bound: set[str] = set()
    for symbol in question.symbols:
        bound.add(symbol)
        partial = [{**chosen, symbol: one} for chosen in partial for one in situations[symbol]]
        if question.within is not None:
            partial = [chosen for chosen in partial if spread(chosen) <= question.within]
        for (a, b), names in question.constraints.items():
            if symbol in (a, b) and {a, b} <= bound:
                partial = [
                    chosen
                    for chosen in partial
                    if possible(question, a, b, chosen[a], chosen[b], instants[-1], events) & atoms(names)
                ]
    return partial


def spread(chosen: Configuration) -> int:
    starts = [situation.ts for situation in chosen.values()]
    return max(starts) - min(starts)


def detection_instant(
    question: Question, chosen: Configuration, instants: Sequence[int], events: Sequence[Row]
) -> int | None:
    """SEM 4.2, 4.3: the first instant at which all are admissible and every constraint is certain."""
    for t in instants:
        if all(situation.admissible <= t for situation in chosen.values()) and all(
            possible(question, a, b, chosen[a], chosen[b], t, events) <= atoms(names)
            for (a, b), names in question.constraints.items()
        ):
            return t
    return None


def final_instant(chosen: Configuration) -> int | None:
    """SEM 4.5: the largest te; None while a situation is open."""
    ends = [situation.te for situation in chosen.values()]
    return None if None in ends else max(ends)
