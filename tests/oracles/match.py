"""SEM 4: every configuration, and its detection instant from the definition of certainty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from oracles import absence, differences
from oracles.derive import Situation
from oracles.question import Question, Row
from oracles.relations import atoms, possible

Configuration = dict[str, Situation]


def matches(
    question: Question,
    situations: Mapping[str, Sequence[Situation]],
    instants: Sequence[int],
    events: Sequence[Row],
    of_any_length: Mapping[str, Sequence[Situation]] | None = None,
    clock: int | None = None,
) -> Iterator[tuple[Configuration, int]]:
    """Every match of one partition with its match_time. `instants` ascend and hold every known endpoint.

    `of_any_length` has the situations of the absent symbols, whatever they last; nothing is reported after
    the clock (SEM 11.9).
    """
    of_any_length = of_any_length or {}
    for chosen in configurations(question, situations, instants, events):
        at = final_instant(chosen) if question.emit == "FINAL" else None
        if question.emit == "EARLY":
            at = detection_instant(question, chosen, instants, events)
        if at is None or not is_within(question, chosen, at):
            continue
        at = absent_instant(question, chosen, at, of_any_length)
        if at is not None:
            at = decided_instant(question, chosen, at, of_any_length)
        if at is not None and is_within(question, chosen, at) and (clock is None or at <= clock):
            yield chosen, at


def is_within(question: Question, chosen: Configuration, at: int) -> bool:
    """SEM 4.4, 4.5, 11.5."""
    begin = min(situation.ts for situation in chosen.values())
    return question.within is None or at - begin <= question.within


def configurations(
    question: Question,
    situations: Mapping[str, Sequence[Situation]],
    instants: Sequence[int],
    events: Sequence[Row],
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
        for difference in question.differences:
            between = {difference.left[0], difference.right[0]}
            if symbol in between and between <= bound:
                partial = [chosen for chosen in partial if differences.can_hold(difference, chosen)]
    return partial


def spread(chosen: Configuration) -> int:
    starts = [situation.ts for situation in chosen.values()]
    return max(starts) - min(starts)


def detection_instant(
    question: Question, chosen: Configuration, instants: Sequence[int], events: Sequence[Row]
) -> int | None:
    """SEM 4.2, 4.3, 9.4: when all are admissible and every constraint and difference is certain."""
    among = [d for d in question.differences if {d.left[0], d.right[0]} <= set(chosen)]
    needed = [
        *(certain_from(question, pair, chosen, instants, events) for pair in question.constraints),
        *(differences.certain_from(difference, chosen, instants) for difference in among),
        *(situation.admissible for situation in chosen.values()),
    ]
    return None if None in needed else max(needed)


def certain_from(
    question: Question,
    pair: tuple[str, str],
    chosen: Configuration,
    instants: Sequence[int],
    events: Sequence[Row],
) -> int | None:
    """SEM 4.2: the first instant at which both have started and all that is possible is asked for."""
    a, b = (chosen[symbol] for symbol in pair)
    asked = atoms(question.constraints[pair])
    for t in instants:
        if max(a.ts, b.ts) <= t and possible(question, *pair, a, b, t, events) <= asked:
            return t
    return None


def final_instant(chosen: Configuration) -> int | None:
    """SEM 4.5: the largest te; None while a situation is open. SEM 17.3: not before all are known."""
    ends = [situation.te for situation in chosen.values()]
    known = [situation.admissible for situation in chosen.values()]
    return None if None in ends else max(*ends, *known)


def absent_instant(
    question: Question, chosen: Configuration, at: int, of_any_length: Mapping[str, Sequence[Situation]]
) -> int | None:
    """SEM 11.5: not before the tick of every NO group."""
    for group in question.absences:
        tick = absence.absent_from(group, chosen, of_any_length[group.symbol], question)
        if tick is None:
            return None
        at = max(at, tick)
    return at


def decided_instant(
    question: Question,
    chosen: Configuration,
    at: int,
    of_any_length: Mapping[str, Sequence[Situation]],
) -> int | None:
    """SEM 14.3: the latest end of the undecided gaps in which `at` lies, else `at`; None: not decided."""
    concerned = [*chosen.values(), *(one for symbol in question.absent for one in of_any_length[symbol])]
    ends = [end for one in concerned for begin, end in one.undecided if begin <= at < (end or at + 1)]
    return None if None in ends else max(ends, default=at)
