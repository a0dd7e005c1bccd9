"""A query's pattern as numbers: the relation matrix, written and reduced."""

from __future__ import annotations

import numpy as np

from situ.algebra.composition import IntArray
from situ.algebra.network import Network, Reduced
from situ.algebra.relations import ALL, EQUALS, converse
from situ.language.situations.ast import Query


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
