"""A bound query as the numbers that kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from situ.algebra import relations as r
from situ.algebra.certainty import trigger_endpoints
from situ.algebra.network import propagate
from situ.operators.situations.kernels.layout import LEFT, RIGHT, Spec
from situ.operators.situations.kernels.relate import LINKED, bounds_of
from situ.plan.pattern import relation_matrix
from situ.rows.kernels.numbers import UNBOUNDED

if TYPE_CHECKING:
    from situ.language.situations.ast import Query
    from situ.language.situations.binder import BoundQuery

Positions = npt.NDArray[np.int64]


def make_spec(bound: BoundQuery, *, forget_after: int | None = None) -> Spec:
    """The query as numbers."""
    query = bound.query
    matrix = relation_matrix(query).astype(np.int64)
    np.fill_diagonal(matrix, r.ALL)  # a symbol's situations stand to each other as they like
    n = len(matrix)
    differences, differ_from, differ_to = _differences(query)
    reduced = propagate(matrix).matrix
    lower, upper = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for a, b in np.argwhere(matrix != r.ALL):
        lower[a, b], upper[a, b] = bounds_of(int(reduced[a, b]))
    followed = [(a, b) for a, b in np.argwhere(matrix != r.ALL) if _splits_before(int(matrix[a, b]))]
    gapped = {i for i, symbol in enumerate(query.symbols) if symbol.ignoring is not None}
    verdict_of = np.full((n, n), -1, np.int64)
    for pair, (a, b) in enumerate(followed):
        verdict_of[a, b] = pair
    is_final = query.emit == "FINAL"
    # lengths of absent symbols are judged with their groups, those of silences where these are derived
    free = [symbol.is_silence or symbol.name in query.absent_names for symbol in query.symbols]
    triggers = trigger_endpoints(matrix, admissible=query.admissible, final=is_final)
    trigger_ts = np.array([trigger.ts for trigger in triggers])
    trigger_te = np.array([trigger.te for trigger in triggers])
    for x_of, x_end, y_of, y_end, _, at_y in [] if is_final else differences.tolist():
        # SEM 9.4: a difference can be certain at either start, at x, and of given intervals at y
        trigger_ts[[x_of, y_of]] = True
        trigger_te[x_of] |= x_end == 1
        trigger_te[y_of] |= at_y == 1 and y_end == 1
    for x_of, y_of in differences[:, [LEFT, RIGHT]].tolist():
        if matrix[x_of, y_of] == r.ALL:
            matrix[x_of, y_of] = matrix[y_of, x_of] = LINKED
            lower[x_of, y_of], upper[x_of, y_of] = bounds_of(r.ALL)
            lower[y_of, x_of], upper[y_of, x_of] = bounds_of(r.ALL)
    return Spec(
        relations=matrix,
        lower=lower,
        upper=upper,
        at_least=np.array([0 if free else d or 0 for d, free in zip(bound.at_least, free, strict=True)]),
        at_most=np.array(
            [UNBOUNDED if free or d is None else d for d, free in zip(bound.at_most, free, strict=True)]
        ),
        followed=np.array(followed, np.int64).reshape(-1, 2),
        ending=np.array(sorted({int(symbol) for pair in followed for symbol in pair} | gapped), np.int64),
        verdict_of=verdict_of,
        trigger_ts=trigger_ts,
        trigger_te=trigger_te,
        trigger_admissible=np.array([trigger.admissible for trigger in triggers]),
        within=np.int64(UNBOUNDED if bound.within is None else bound.within),
        forget_after=np.int64(UNBOUNDED if forget_after is None else forget_after),
        final=is_final,
        differences=differences,
        differ_from=differ_from,
        differ_to=differ_to,
        equal=np.full((n, n), -1, np.int64),
    )


def of_positives(spec: Spec, n: int) -> Spec:
    """What joins read: the first n symbols only, of which matches have a situation each."""
    if n == len(spec.at_least):
        return spec
    by_pair = {"relations", "lower", "upper", "verdict_of", "differ_from", "differ_to", "equal"}
    by_symbol = {"at_least", "at_most", "trigger_ts", "trigger_te", "trigger_admissible"}
    parts = spec._asdict()
    for name in by_pair | by_symbol:
        parts[name] = np.ascontiguousarray(parts[name][:n, :n] if name in by_pair else parts[name][:n])
    return Spec(**parts)


def _differences(query: Query) -> tuple[Positions, Positions, Positions]:
    """The rows of Spec.differences, and where those of each pair begin and end."""
    position = {name: i for i, name in enumerate(query.symbol_names)}
    rows = []
    for one in query.differences:
        x_of, y_of = position[one.left.symbol], position[one.right.symbol]
        bound = one.bound.value - one.is_strict  # ticks are whole
        at_y = query.intervals is not None and one.bound.value < 0
        rows.append((x_of, one.left.end == "te", y_of, one.right.end == "te", bound, at_y))
    rows.sort(key=lambda row: (min(row[0], row[2]), max(row[0], row[2])))
    table = np.array(rows, np.int64).reshape(-1, 6)
    n = len(position)
    begins, ends = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64)
    for number, (x_of, y_of) in enumerate(table[:, [LEFT, RIGHT]].tolist()):
        for a, b in ((x_of, y_of), (y_of, x_of)):
            begins[a, b] = number if ends[a, b] == 0 else begins[a, b]
            ends[a, b] = number + 1
    return table, begins, ends


def _splits_before(bits: int) -> bool:
    """Does the set hold one half of `before` only, so that followed-by has to be told apart?"""
    return bits & r.BEFORE not in (0, r.BEFORE)
