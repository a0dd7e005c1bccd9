"""SEM 3 and 4.2: Allen's relations by definition, and which are still possible at an instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oracles.derive import Situation
from oracles.question import Question, Row

ALLEN = [
    *("before", "meets", "overlaps", "finished-by", "contains", "starts", "equals"),
    *("started-by", "during", "finishes", "overlapped-by", "met-by", "after"),  # the converses, backwards
]
SPLIT = {"before": {"before-only", "followed-by"}, "after": {"after-only", "follows"}}  # SEM 3.4


def atoms(names: Iterable[str]) -> set[str]:
    """The atoms a set of names stands for: before and after have two each."""
    return {atom for name in names for atom in SPLIT.get(name, {name})}


def allen(a_ts: int, a_te: int, b_ts: int, b_te: int) -> str:
    """The table of SEM 3, line by line; the other six are converses."""
    if a_te < b_ts:
        return "before"
    if a_te == b_ts:
        return "meets"
    if a_ts < b_ts < a_te < b_te:
        return "overlaps"
    if a_ts < b_ts and a_te == b_te:
        return "finished-by"
    if a_ts < b_ts and b_te < a_te:
        return "contains"
    if a_ts == b_ts and a_te < b_te:
        return "starts"
    if a_ts == b_ts and a_te == b_te:
        return "equals"
    return ALLEN[-1 - ALLEN.index(allen(b_ts, b_te, a_ts, a_te))]


def possible(
    question: Question, a: str, b: str, s: Situation, z: Situation, t: int, events: Sequence[Row]
) -> set[str]:
    """The atoms of situation s (of symbol a) to z (of b) that knowledge up to t allows; both have started.

    An end that has not occurred may come at any later instant: two candidates give every order of the two.
    """
    found = set()
    for s_te in (t + 1, t + 2) if s.te_known_at(t) is None else (s.te,):
        for z_te in (t + 1, t + 2) if z.te_known_at(t) is None else (z.te,):
            name = allen(s.ts, s_te, z.ts, z_te)
            if name == "before":
                name = "followed-by" if nothing_between(question, a, b, s_te, z.ts, events) else "before-only"
            if name == "after":
                name = "follows" if nothing_between(question, a, b, z_te, s.ts, events) else "after-only"
            found.add(name)
    return found


def nothing_between(
    question: Question, a: str, b: str, since: int, until: int, events: Sequence[Row]
) -> bool:
    """SEM 3.4: no event in [since, until) satisfies the raw condition of a or of b."""
    between = [event for event in events if since <= event[question.time] < until]
    conditions = [question.holds[symbol] for symbol in (a, b) if symbol in question.holds]
    return not any(holds(event) is True for event in between for holds in conditions)
