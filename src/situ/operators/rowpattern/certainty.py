"""Whether a match is always certain at its last row, as far as the pattern alone decides it (ROW 8.3, 8.4).

A complete candidate waits for another partial one that goes on: a more preferred one of its start, or one of
an earlier start that must be settled first. Two candidates that take the same rows are a pair of positions,
the one to wait for and the complete one. If no pair that the ways allow makes one wait, none ever does.
Where both can go to the same position they fare alike from there on, unless conditions read the path: then
the partial one has a match too, preferred to all that it would do less gladly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from situ.operators.rowpattern.automaton import END, Automaton, Way

MOST_STEPS = 200_000  # beyond them a match is said to wait


def is_certain_at_last_row(automaton: Automaton, *, waits_for_starts: bool, reads_path: bool) -> bool:
    """Of conditions that read no row ahead: those wait for it besides.

    `waits_for_starts`: an earlier start must be settled first. `reads_path`: conditions depend on the rows
    that were taken, so that two candidates at one position may go on differently.
    """
    if any(way.at_last for ways in automaton.follow for way in ways):
        return False  # only the end of input shows the last row
    follow = automaton.follow
    going = [_going(ways) for ways in follow]  # where a candidate may go that has no match yet
    ends = [any(way.to == END for way in ways) for ways in follow]
    can_be_empty = any(way.to == END for way in automaton.start)
    if any(going[position] and end for position, end in enumerate(ends)):
        return False
    if can_be_empty and any(going[position] for position in _going(automaton.start)):
        return False
    waiting = [pair for ways in (automaton.start, *follow) for pair in _diverging(ways)]
    if waits_for_starts:
        starts = _positions(automaton.start)
        if can_be_empty and any(going[position] for ways in going for position in ways):
            return False
        waiting += [pair for ways in going for pair in _together(ways, starts, reads_path)]
    seen: set[tuple[int, int]] = set()
    n_steps = 0
    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        partial, complete = pair
        if ends[complete] and going[partial]:
            return False
        before = len(waiting)
        waiting += _together(going[partial], _positions(follow[complete]), reads_path)
        n_steps += len(waiting) - before
        if n_steps > MOST_STEPS:
            return False
    return True


def _going(ways: Sequence[Way]) -> tuple[int, ...]:
    """The positions that are preferred to END."""
    found: list[int] = []
    for way in ways:
        if way == Way(END):
            break
        if way.to != END:
            found.append(way.to)
    return tuple(found)


def _positions(ways: Sequence[Way]) -> list[int]:
    return [way.to for way in ways if way.to != END]


def _together(going: Sequence[int], others: Sequence[int], reads_path: bool) -> Iterator[tuple[int, int]]:
    """Where a partial candidate and another may be one row on."""
    for other in others:
        for one in going:
            if one == other and not reads_path:
                break
            yield one, other


def _diverging(ways: Sequence[Way]) -> Iterator[tuple[int, int]]:
    """Two ways on from one place, the preferred one first; it has no match before."""
    targets = _positions(ways)
    for place, preferred in enumerate(_going(ways)):
        for other in targets[place + 1 :]:
            yield preferred, other
