"""The pattern as positions with ordered follow lists: what every engine walks, and what passes end in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

END = -1  # as a way's target: the match may end here


class Way(NamedTuple):
    """Where a match may go next: to a position, or to END.

    `at_first`: only if no row has been passed of the partition; of ways from the start only. `at_last`: only
    after its last row; of ways to END only.
    """

    to: int
    at_first: bool = False
    at_last: bool = False


@dataclass(frozen=True)
class Automaton:
    """M positions: each an occurrence of a variable, counters written out.

    Ways stand in order of preferment (ROW 4.5), each once: of equal ones the first. Every position can be
    reached from the start, and END from every position.
    """

    variables: tuple[str, ...]  # in order of first mention
    variable: tuple[int, ...]  # of each position
    excluded: tuple[bool, ...]  # of each position: does it stand in {- -}
    start: tuple[Way, ...]
    follow: tuple[tuple[Way, ...], ...]  # of each position

    @property
    def n_positions(self) -> int:
        """M."""
        return len(self.variable)
