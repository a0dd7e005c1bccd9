"""A query's pattern as numbers: the relation matrix, written and reduced, and what is made of it at first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from situ.algebra.certainty import Trigger, trigger_endpoints
from situ.algebra.composition import IntArray
from situ.algebra.network import Network, Reduced
from situ.algebra.relations import ALL, EQUALS, converse
from situ.language.situations.ast import Query
from situ.plan.plan import Plan, Planner


def positive_part(query: Query) -> Query:
    """The query without its NO groups and their symbols: what is joined (SEM 11.1)."""
    return replace(query, symbols=query.positives, absences=())


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


def triggers_of(query: Query, written: IntArray) -> tuple[Trigger, ...]:
    """Per symbol, which of its instants can complete a match; `written` is the relation matrix."""
    return trigger_endpoints(written, admissible=query.admissible, final=query.emit == "FINAL")


def initial_plan(query: Query, written: IntArray, reduced: Reduced) -> Plan | None:
    """The plan before anything is known of the data; None where there is no pattern to match.

    Pairs that the query does not relate stay free, whatever follows for them: a join compares what is asked.
    """
    if len(query.positives) > 1 and not query.constraints and not query.differences:
        return None
    return Planner(np.where(written == ALL, ALL, reduced.matrix)).plan
