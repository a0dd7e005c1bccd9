"""Random relation sets and patterns."""

from __future__ import annotations

from hypothesis import strategies as st

from situ.algebra.relations import ALL, NAMES

ALLEN_NAMES = tuple(NAMES)[:13]

named_sets = st.sets(st.sampled_from(tuple(NAMES)), min_size=1)
allen_sets = st.sets(st.sampled_from(ALLEN_NAMES), min_size=1)


def bits_of(names: set[str]) -> int:
    bits = 0
    for name in names:
        bits |= NAMES[name]
    return bits


@st.composite
def patterns(
    draw: st.DrawFn, n: int, sets: st.SearchStrategy[set[str]] = allen_sets
) -> dict[tuple[int, int], set[str]]:
    """Constraints over random pairs i < j of n symbols, as sets of names."""
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
    return {pair: draw(sets) for pair in sorted(chosen)}


def matrix_of(n: int, pattern: dict[tuple[int, int], set[str]]) -> list[list[int]]:
    """The matrix of a pattern, written on one side of the diagonal only."""
    matrix = [[ALL] * n for _ in range(n)]
    for (i, j), names in pattern.items():
        matrix[i][j] = bits_of(names)
    return matrix
