"""A query's pattern as numbers: the relation matrix, and when its situations may be used."""

from __future__ import annotations

import numpy as np

from situ.algebra.certainty import Admissible
from situ.algebra.composition import IntArray
from situ.algebra.network import Network, Reduced
from situ.algebra.relations import ALL, EQUALS, converse
from situ.language.ast import Query


def relation_matrix(query: Query) -> IntArray:
    """`[i, j]`: the relations asked from symbol i to j, in symbol order; ALL where nothing is asked."""
    position = {name: i for i, name in enumerate(query.symbol_names)}
    matrix = np.full((len(position), len(position)), ALL, dtype=np.int32)
    np.fill_diagonal(matrix, 1 << EQUALS)
    for constraint in query.constraints:
        left, right = position[constraint.left], position[constraint.right]
        matrix[left, right] = constraint.relations
        matrix[right, left] = converse(constraint.relations)
    return matrix


def reduce_pattern(query: Query) -> Reduced:
    """Path consistency over the constraints of a query."""
    position = {name: i for i, name in enumerate(query.symbol_names)}
    network = Network(len(position))
    for constraint in query.constraints:
        network.constrain(position[constraint.left], position[constraint.right], constraint.relations)
    return network.propagate()


def admissible_of(query: Query) -> tuple[Admissible, ...]:
    """Per symbol, when a situation may first be used (SEM 2.4, 6.3)."""
    return tuple(_admissible(query, i) for i in range(len(query.symbols)))


def _admissible(query: Query, i: int) -> Admissible:
    symbol = query.symbols[i]
    # Intervals without begin punctuations are known from their end on; with them, from either.
    if symbol.at_most is not None or (query.intervals is not None and query.intervals.id_by is None):
        return Admissible.AT_END
    if query.intervals is not None or (symbol.at_least is not None and symbol.at_least.value > 0):
        return Admissible.DELAYED
    return Admissible.AT_START
