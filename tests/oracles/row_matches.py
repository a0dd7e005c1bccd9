"""ROW 4.8, 5, 8.3, 8.8 and 9.3: of the candidates of a history, which are its matches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from oracles.row_items import Known, Navigation, Path, Pattern, RowQuestion, Taken
from oracles.rows import State, search, walk


class SkipError(Exception):
    """ROW 4.9: (match number, variables)."""


class Match(NamedTuple):
    number: int
    start: int
    path: Path


class Tried(NamedTuple):
    """A start that no earlier match skips, and what became of it."""

    start: int
    number: int  # of the match sought
    path: Path | None  # None: it has no match


def certain(known: Known) -> list[Match]:
    """The matches that are certain at the horizon (ROW 8.3)."""
    question = known.question
    if question.strategy == "any":
        return every(known)
    if question.mode == "incremental":
        return incremental(known)
    return [Match(one.number, one.start, one.path) for one in tried(known) if one.path is not None]


def timeouts(known: Known) -> Iterator[tuple[int, str]]:
    """ROW 8.8: the start and `furthest` of each start that only the window has ended."""
    for start, number, path in tried(known):
        if path is None and known.horizon is not None and known.end(start) <= known.horizon:
            if known.question.strategy == "next":
                partial = till_next(known, start, number, is_partial=True)
                if partial is not None and partial.path:
                    yield start, partial.path[-1].variable
                continue
            candidates = search(known, start, number)._replace(is_open=True).candidates()
            ended = next((one.path for one in candidates if one.is_beyond and one.path), None)
            if ended is not None:
                yield start, ended[-1].variable


def tried(known: Known) -> Iterator[Tried]:
    """The starts that are decided, in order (ROW 4.8)."""
    question = known.question
    is_free = question.skip == ("next",) and not question.uses_number
    find = till_next if question.strategy == "next" else maximal if question.mode else preferred
    start, number = 0, 1
    while start < known.size:
        state = find(known, start, number)
        if state is None:
            yield Tried(start, number, None)
            start += 1
        elif state.is_certain and can_be_told(known, Match(number, start, state.path)):
            yield Tried(start, number, state.path)
            start = resumed(question, Match(number, start, state.path))
            number += 1
        elif is_free:
            start += 1
        else:
            return


def resumed(question: RowQuestion, match: Match) -> int:
    """ROW 4.8, 4.9: the next start."""
    to, *of = question.skip
    if not match.path or to == "next":
        return match.start + 1
    if to == "past":
        return match.path[-1].row + 1
    rows = [one.row for one in match.path if one.variable in of[0]]
    if not rows or (rows[0] if to == "first" else rows[-1]) == match.start:
        raise SkipError(match.number, of[0])
    return rows[0] if to == "first" else rows[-1]


def can_be_told(known: Known, match: Match) -> bool:
    """ROW 8.3: are so many rows behind its last row known as its measures look ahead?"""
    items = [item for measure in known.question.measures for item in measure.items]
    ahead = max((item.shift for item in items if isinstance(item, Navigation)), default=0)
    if known.horizon is None or not match.path or ahead <= 0:
        return True
    return match.path[-1].row + ahead < known.size


def told(question: RowQuestion, match: Match) -> list[int]:
    """Of which places of the path a row is put out; of an empty match -1 (ROW 6.1 to 6.4)."""
    if question.rows == "one" or not match.path:
        return [len(match.path) - 1]
    return [place for place, one in enumerate(match.path) if not one.is_excluded]


def preferred(known: Known, start: int, number: int) -> State | None:
    """ROW 4.5."""
    return next(search(known, start, number).candidates(), None)


def maximal(known: Known, start: int, number: int) -> State | None:
    """ROW 5.1, 8.3: nothing is certain while anything is alive."""
    states = [one for one in search(known, start, number).candidates() if one.path]
    doubtful = [one for one in states if not one.is_certain]
    longest = max((len(one.path) for one in states), default=0)
    return next(iter(doubtful), next((one for one in states if len(one.path) == longest), None))


def incremental(known: Known) -> list[Match]:
    """ROW 5.2: of each end the smallest start, of those the most preferred."""
    by_end: dict[int, State] = {}
    for start in range(known.size):
        for state in search(known, start, 0).candidates():
            if state.path and not state.is_beyond:
                by_end.setdefault(state.path[-1].row, state)
    return numbered(known, [by_end[end] for end in sorted(by_end)])


def every(known: Known) -> list[Match]:
    """ROW 9.2, 9.6: all candidates, those with the same rows and variables once."""
    mention = known.question.variables.index
    found: dict[object, State] = {}
    for start in range(known.size):
        for state in search(known, start, 0).candidates():
            if state.path:
                rows = tuple(one.row for one in state.path)
                names = tuple(mention(one.variable) for one in state.path)
                found.setdefault((rows[-1], rows, names), state)
    return numbered(known, [found[key] for key in sorted(found)])


def numbered(known: Known, states: list[State]) -> list[Match]:
    matches = []
    for state in states:
        match = Match(len(matches) + 1, state.path[0].row, state.path)
        if state.is_certain and can_be_told(known, match):
            matches.append(match)
        elif known.question.uses_number:
            break
    return matches


class Word(NamedTuple):
    """Derivations that begin with these variables; what comes next stands behind them."""

    variables: tuple[str, ...]

    def take(self, state: State, name: str, is_excluded: bool) -> Iterator[State]:
        at = len(state.path)
        if at > len(self.variables):
            yield state
        elif at == len(self.variables) or self.variables[at] == name:
            yield State((*state.path, Taken(at, name, is_excluded)))


@cache
def ways_on(pattern: Pattern, word: tuple[str, ...]) -> list[str | None]:
    """ROW 9.3: in order of preferment, each once; None is END."""
    n = len(word)
    paths = [state.path for state in walk(pattern, State(), Word(word)) if len(state.path) >= n]
    ways = list(dict.fromkeys(path[n].variable if len(path) > n else None for path in paths))
    if not word:
        return [way for way in ways if way is not None]  # ROW 9.4: END is disregarded
    return ways[: ways.index(None) + 1] if None in ways else ways


def till_next(known: Known, start: int, number: int, is_partial: bool = False) -> State | None:
    """ROW 9.3, 9.4: the match of a start; with `is_partial` all that it takes."""
    at = search(known, start, number)
    path: Path = ()
    ending: Path = ()
    while True:
        ways = ways_on(known.question.pattern, tuple(one.variable for one in path))
        if None in ways:
            ending = path
        if ways and ways[0] is None:
            return State(placed(known.question.pattern, path))
        for row in at.next_rows(path):
            verdicts = {way: known.holds((*path, Taken(row, way)), number) for way in ways if way is not None}
            decided = next((way for way, holds in verdicts.items() if holds is not False), None)
            if decided is None:
                continue
            if verdicts[decided] is None:
                return State(path, is_maybe=True)
            path = (*path, Taken(row, decided))
            break
        else:
            break
    if not path:
        return None
    if at.is_open:
        return State(path, is_beyond=True)
    if is_partial:
        return State(path)
    return State(placed(known.question.pattern, ending)) if ending else None


def placed(pattern: Pattern, path: Path) -> Path:
    """ROW 9.1: with what its most preferred derivation says of {- -}."""
    word = Word(tuple(one.variable for one in path))
    derived = next(state.path for state in walk(pattern, State(), word) if len(state.path) == len(path))
    return tuple(one._replace(is_excluded=at.is_excluded) for one, at in zip(path, derived, strict=True))
