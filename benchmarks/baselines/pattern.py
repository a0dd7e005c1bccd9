"""A situ query as the arrays that the baselines read; what a baseline cannot express is refused."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import situ
from benchmarks.experiment import CannotExpressError
from situ.algebra import relations as r
from situ.algebra.certainty import trigger_endpoints
from situ.algebra.network import propagate
from situ.language.situations.ast import Query
from situ.language.situations.binder import bind
from situ.language.text.types import Column
from situ.operators.situations.program import relation_matrix
from situ.plan.plan import Planner

FREE = (1 << r.N_ALLEN) - 1  # all thirteen relations: no constraint
PUBLISHED = 1 << 16  # rows of the block that results are published to, over and over
Matrix = npt.NDArray[np.int64]


class Pattern(NamedTuple):
    """n symbols; `relations[a, b]` holds Allen's relations as bits 0 to 12."""

    relations: Matrix
    reduced: Matrix  # what path consistency leaves of them
    orders: Matrix  # orders[s]: in which order to join, beginning with s
    trigger_ts: npt.NDArray[np.bool_]
    trigger_te: npt.NDArray[np.bool_]
    within: int

    @property
    def n(self) -> int:
        return len(self.relations)


def pattern_of(text: str) -> Pattern:
    """The pattern of a query without durations and followed-by, which the papers' algorithms leave out."""
    query: Query = situ.query(text)
    if any(s.at_least is not None or s.at_most is not None for s in query.symbols):
        raise CannotExpressError("the baseline is written without duration constraints")
    matrix = relation_matrix(query)
    if any(bits & r.BEFORE not in (0, r.BEFORE) for bits in matrix.flat):
        raise CannotExpressError("the baseline does not know followed-by")
    triggers = trigger_endpoints(matrix, final=query.emit == "FINAL")
    plan = Planner(matrix, join="range").plan
    schema = (Column("t", "bigint"), *(Column(f"s{i}", "boolean") for i in range(len(matrix))))
    within = bind(query, schema).within
    assert within is not None
    return Pattern(
        matrix & FREE,
        propagate(matrix).matrix & FREE,
        np.array(plan.orders, np.int64),
        np.array([t.ts for t in triggers]),
        np.array([t.te for t in triggers]),
        within,
    )
