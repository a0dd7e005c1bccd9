"""A bound query as the numbers that kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from situ.algebra import relations as r
from situ.algebra.certainty import trigger_endpoints
from situ.algebra.network import propagate
from situ.operators.situations.kernels.layout import Spec
from situ.operators.situations.kernels.relate import bounds_of
from situ.plan.pattern import relation_matrix
from situ.rows.kernels.numbers import UNBOUNDED

if TYPE_CHECKING:
    from situ.language.situations.binder import BoundQuery


def make_spec(bound: BoundQuery, *, forget_after: int | None = None) -> Spec:
    """The query as numbers."""
    query = bound.query
    matrix = relation_matrix(query).astype(np.int64)
    np.fill_diagonal(matrix, r.ALL)  # a symbol's situations stand to each other as they like
    n = len(matrix)
    reduced = propagate(matrix).matrix
    lower, upper = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for a, b in np.argwhere(matrix != r.ALL):
        lower[a, b], upper[a, b] = bounds_of(int(reduced[a, b]))
    followed = [(a, b) for a, b in np.argwhere(matrix != r.ALL) if _splits_before(int(matrix[a, b]))]
    verdict_of = np.full((n, n), -1, np.int64)
    for pair, (a, b) in enumerate(followed):
        verdict_of[a, b] = pair
    triggers = trigger_endpoints(matrix, admissible=query.admissible, final=query.emit == "FINAL")
    return Spec(
        relations=matrix,
        lower=lower,
        upper=upper,
        at_least=np.array([d or 0 for d in bound.at_least], np.int64),
        at_most=np.array([UNBOUNDED if d is None else d for d in bound.at_most], np.int64),
        followed=np.array(followed, np.int64).reshape(-1, 2),
        ending=np.array(sorted({int(symbol) for pair in followed for symbol in pair}), np.int64),
        verdict_of=verdict_of,
        trigger_ts=np.array([trigger.ts for trigger in triggers]),
        trigger_te=np.array([trigger.te for trigger in triggers]),
        trigger_admissible=np.array([trigger.admissible for trigger in triggers]),
        within=np.int64(UNBOUNDED if bound.within is None else bound.within),
        forget_after=np.int64(UNBOUNDED if forget_after is None else forget_after),
        final=query.emit == "FINAL",
    )


def _splits_before(bits: int) -> bool:
    """Does the set hold one half of `before` only, so that followed-by has to be told apart?"""
    return bits & r.BEFORE not in (0, r.BEFORE)
