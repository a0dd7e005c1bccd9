"""Random patterns, as the derivations oracle has them and as situ has them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from situ.language.rows.ast import (
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)

VARIABLES = ("A", "B", "C")

COUNTERS = [(0, None), (1, None), (0, 1), (0, 2), (2, 2), (1, 2), (2, None), (1, 3), (3, 3), (0, 3)]


def pattern_of(drawn: Any) -> Pattern:
    """The oracle's pattern as situ's."""
    match drawn:
        case str(name):
            return Variable(name)
        case ("cat",):
            return Empty()
        case ("^",) | ("$",):
            return Anchor(drawn == ("^",))
        case ("cat", *parts):
            return Concatenation(tuple(map(pattern_of, parts)))
        case ("alt", *parts):
            return Alternation(tuple(map(pattern_of, parts)))
        case ("permute", *parts):
            return Permutation(tuple(map(pattern_of, parts)))
        case ("exclude", body):
            return Exclusion(pattern_of(body))
        case ("repeat", body, *counter):
            return Repetition(pattern_of(body), *counter)
        case other:
            raise AssertionError(other)


def patterns(*, anchors: bool = True) -> st.SearchStrategy[Any]:
    """Nested patterns of every operator, small enough that all their words can be listed."""
    take = st.sampled_from(VARIABLES)
    leaves = [take, take, take, st.just(("cat",))]
    if anchors:
        leaves.append(st.sampled_from([("^",), ("$",)]))
    return st.recursive(st.one_of(leaves), _larger, max_leaves=7)


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def several(kind: str, most: int) -> st.SearchStrategy[Any]:
        return st.lists(inner, min_size=2, max_size=most).map(lambda parts: (kind, *parts))

    repeat = st.builds(
        lambda body, counter, is_reluctant: ("repeat", body, *counter, is_reluctant),
        inner,
        st.sampled_from(COUNTERS),
        st.booleans(),
    )
    return st.one_of(
        several("cat", 4),
        several("cat", 4),
        several("alt", 3),
        repeat,
        repeat,
        several("permute", 3),
        st.tuples(st.just("exclude"), inner),
    )
