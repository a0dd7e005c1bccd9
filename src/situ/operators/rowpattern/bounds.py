"""How many rows a match can have, as far as the pattern alone decides it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from situ.operators.rowpattern.automaton import END, Automaton


class Bounds(NamedTuple):
    """The least and the most rows of a match; None for any number."""

    least: int
    most: int | None


def bounds_of(automaton: Automaton) -> Bounds | None:
    """None where the pattern matches nothing, whatever the rows (ROW 10.3)."""
    if not automaton.start:
        return None
    return Bounds(_shortest(automaton), _longest(automaton))


def _shortest(automaton: Automaton) -> int:
    reached = {way.to for way in automaton.start}
    n_rows, seen = 0, set(reached)
    while END not in reached:
        reached = {way.to for position in reached for way in automaton.follow[position]} - seen
        seen |= reached
        n_rows += 1
    return n_rows


def _longest(automaton: Automaton) -> int | None:
    """Positions are taken once all those before them were; of a loop that never comes to be."""
    targets = [{way.to for way in ways} - {END} for ways in automaton.follow]
    n_before = Counter(to for behind in targets for to in behind)
    ready = [position for position in range(automaton.n_positions) if not n_before[position]]
    depth = [1] * automaton.n_positions
    for position in ready:
        for to in targets[position]:
            depth[to] = max(depth[to], depth[position] + 1)
            n_before[to] -= 1
            if not n_before[to]:
                ready.append(to)
    return max(depth, default=0) if len(ready) == automaton.n_positions else None
