"""Everything `situ.why` counts, by trying all pairs and all prefixes. Imports nothing from situ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from oracles import derive, intervals, match
from oracles.answer import partitions, situations_of
from oracles.derive import Situation
from oracles.question import Question, Row
from oracles.relations import atoms, possible

GROUPS = {
    frozenset({"overlaps", "finished-by", "contains"}): "overlaps, finished-by or contains (both still open)",
    frozenset({"starts", "equals", "started-by"}): "starts, equals or started-by (both still open)",
    frozenset({"during", "finishes", "overlapped-by"}): "during, finishes or overlapped-by (both still open)",
}


@dataclass
class Pairs:
    near: int = 0
    satisfied: int = 0
    in_time: int = 0
    far_satisfied: int = 0
    instead: Counter[str] = field(default_factory=Counter)
    spans: list[int] = field(default_factory=list)


@dataclass
class Brute:
    pairs: dict[tuple[str, str], Pairs]
    prefixes: list[list[int]]
    runs: Counter[str] = field(default_factory=Counter)
    situations: Counter[str] = field(default_factory=Counter)
    complete: int = 0


def count(rows: Sequence[Row], question: Question, order: Sequence[str]) -> Brute:
    """All counts over all partitions; `order` is the plan."""
    brute = Brute({pair: Pairs() for pair in question.constraints}, [[0, 0, 0] for _ in order])
    for _, part in partitions(rows, question):
        found, raw, instants = _situations(part, question)
        for symbol in question.symbols:
            brute.runs[symbol] += len(raw[symbol])
            brute.situations[symbol] += len(found[symbol])
        brute.complete += all(found.values())
        for a, b in question.constraints:
            for s in found[a]:
                for z in found[b]:
                    _count_pair(brute.pairs[a, b], question, a, b, s, z, instants, part)
        _count_prefixes(brute.prefixes, question, order, found, instants, part)
    return brute


def _situations(part: Sequence[Row], question: Question) -> tuple[Any, Any, list[int]]:
    loose = replace(question, at_least={}, at_most={})
    if question.is_over_intervals:
        instants = {intervals.instant_of(row, question) for row in part} | {
            row[question.time] for row in part
        }
        found, raw = intervals.given(part, question), intervals.given(part, loose)
    else:
        events = derive.in_order(part, question.time)
        instants = {event[question.time] for event in events}
        found, raw = situations_of(events, question), situations_of(events, loose)
    if question.emit == "FINAL":
        found = {symbol: [s for s in several if s.te is not None] for symbol, several in found.items()}
    return found, raw, sorted(instants)


def _count_pair(
    pairs: Pairs,
    question: Question,
    a: str,
    b: str,
    s: Situation,
    z: Situation,
    instants: list[int],
    part: Sequence[Row],
) -> None:
    names = question.constraints[a, b]
    now = instant(question, {a: s, b: z}, instants, part)
    begin, later = min(s.ts, z.ts), max(s.ts, z.ts)
    is_near = question.within is None or later - begin <= question.within
    pairs.near += is_near
    if now is not None:
        pairs.spans.append(now - begin)
        pairs.satisfied += is_near
        pairs.far_satisfied += not is_near
        pairs.in_time += is_near and (question.within is None or now - begin <= question.within)
    elif is_near:
        pairs.instead[_name(possible(question, a, b, s, z, instants[-1], part))] += 1
    stands = possible(question, a, b, s, z, instants[-1], part) <= atoms(names)
    assert stands == (now is not None)


def _name(left: set[str]) -> str:
    if len(left) > 1:
        return GROUPS[frozenset(left)]
    (atom,) = left
    return {"before-only": "before", "followed-by": "before", "after-only": "after", "follows": "after"}.get(
        atom, atom
    )


def instant(
    question: Question, chosen: dict[str, Situation], instants: list[int], part: Sequence[Row]
) -> int | None:
    """When the chosen situations are certain to stand as asked among themselves; None: never."""
    among = {pair: names for pair, names in question.constraints.items() if set(pair) <= set(chosen)}
    early = match.detection_instant(
        replace(question, constraints=among, emit="EARLY"), chosen, instants, part
    )
    return match.final_instant(chosen) if early is not None and question.emit == "FINAL" else early


def reachable(question: Question, begin: int | None, now: int | None, ts: int) -> bool:
    """Can a situation that starts at `ts` still join what began at `begin` and was certain at `now`?"""
    if question.within is None or begin is None or now is None:
        return True
    return now - question.within <= ts <= begin + question.within


def _count_prefixes(
    counts: list[list[int]],
    question: Question,
    order: Sequence[str],
    found: dict[str, list[Situation]],
    instants: list[int],
    part: Sequence[Row],
) -> None:
    prefixes: list[dict[str, Situation]] = [{}]
    for depth, symbol in enumerate(order):
        longer = []
        for prefix in prefixes:
            begin = min((s.ts for s in prefix.values()), default=None)
            now = instant(question, prefix, instants, part) if prefix else None
            for one in found[symbol]:
                if not reachable(question, begin, now, one.ts):
                    continue
                counts[depth][0] += 1
                chosen = {**prefix, symbol: one}
                at = instant(question, chosen, instants, part)
                if at is None:
                    continue
                counts[depth][1] += 1
                first = min(s.ts for s in chosen.values())
                if question.within is None or at - first <= question.within:
                    counts[depth][2] += 1
                    longer.append(chosen)
        prefixes = longer
