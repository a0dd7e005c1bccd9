"""The words of a pattern in order of preferment, straight from ROW 4.1 to 4.6; imports nothing from situ.

A pattern is nested tuples, as in `oracles.row_items`.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

Word = tuple[tuple[str, bool], ...]  # of each row its variable, and whether it is excluded


def words(pattern: Any, is_first: bool, left: int) -> list[Word]:
    """The words that can be derived at a start with `left` rows to the partition's end, first places only."""
    return _derived(pattern, 0, is_first, left, False)


def _derived(pattern: Any, taken: int, is_first: bool, left: int, is_excluded: bool) -> list[Word]:
    def of(part: Any, more: int) -> list[Word]:
        return _derived(part, taken + more, is_first, left, is_excluded)

    def in_turn(parts: tuple[Any, ...], more: int) -> list[Word]:
        if not parts:
            return [()]
        return [word + rest for word in of(parts[0], more) for rest in in_turn(parts[1:], more + len(word))]

    def repeated(done: int, more: int) -> list[Word]:
        _, body, least, most, is_reluctant = pattern
        if done < least:
            return _once(
                [word + rest for word in of(body, more) for rest in repeated(done + 1, more + len(word))]
            )
        iterations: list[Word] = []
        for word in of(body, more) if most is None or done < most else []:
            iterations += [word + rest for rest in repeated(done + 1, more + len(word))] if word else [()]
        return _once([(), *iterations] if is_reluctant else [*iterations, ()])

    match pattern:
        case str(name):
            return [((name, is_excluded),)] if taken < left else []
        case ("^",):
            return [()] if taken == 0 and is_first else []
        case ("$",):
            return [()] if taken == left else []
        case ("cat", *parts):
            return _once(in_turn(tuple(parts), 0))
        case ("alt", *parts):
            return _once([word for part in parts for word in of(part, 0)])
        case ("permute", *parts):
            return _once([word for order in permutations(parts) for word in in_turn(order, 0)])
        case ("exclude", body):
            return _derived(body, taken, is_first, left, True)
        case ("repeat", *_):
            return repeated(0, 0)
        case other:
            raise AssertionError(other)


def _once(found: list[Word]) -> list[Word]:
    return list(dict.fromkeys(found))
