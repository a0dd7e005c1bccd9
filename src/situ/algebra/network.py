"""Path consistency over a whole pattern: what its constraints imply together (SEM 3.5).

For every three symbols i, k, j the relations from i to j are cut down to those that some relation via
k allows, until nothing changes. A pair left with nothing means that the pattern can never match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.algebra.composition import IntArray, compose_allen_arrays, from_allen, to_allen
from situ.algebra.relations import ALL, EQUALS, NAMES, converse


class Between(NamedTuple):
    """Symbol number `left` stands to symbol number `right` in one of `relations`."""

    left: int
    right: int
    relations: int


@dataclass(frozen=True)
class Conflict:
    """Why no match can exist.

    `constraints` are the numbers (order of `Network.constrain`) of constraints that exclude each other;
    leave any one of them out and the rest no longer does. `pair` is what the last of them relates,
    `allowed` what the others leave possible for it, from `pair.left` to `pair.right`.
    """

    pair: Between
    constraints: tuple[int, ...]
    allowed: int


@dataclass(frozen=True)
class Reduced:
    """The outcome of path consistency.

    `matrix[i, j]` are the relations still possible from i to j (read-only; ALL where nothing is known,
    `equals` on the diagonal). `removed` lists, per constrained pair, written relations that no match
    can have; `inferred` lists what follows for pairs that were not constrained. Both have left < right.
    With a conflict the matrix is the written one and both lists are empty.
    """

    matrix: IntArray
    removed: tuple[Between, ...]
    inferred: tuple[Between, ...]
    conflict: Conflict | None = None


class Network:
    """The constraints of a pattern over symbols 0 .. n-1, kept one by one so that errors can name them."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._constraints: list[Between] = []

    @property
    def constraints(self) -> tuple[Between, ...]:
        """What was constrained, in order."""
        return tuple(self._constraints)

    def constrain(self, left: int, right: int, relations: int) -> int:
        """Add "left stands to right in one of relations" and return the number of this constraint."""
        if left == right or not (0 <= left < self.n and 0 <= right < self.n):
            raise ValueError(f"no constraint from symbol {left} to symbol {right} among {self.n} symbols")
        self._constraints.append(Between(left, right, relations))
        return len(self._constraints) - 1

    def propagate(self) -> Reduced:
        """Path consistency over all constraints; of a contradiction, the reason."""
        written = _written(self.n, self._constraints)
        result, emptied = _close(to_allen(written))
        if emptied is not None:
            _freeze(written)
            return Reduced(written, (), (), self._explain())
        # SEM 3.4: reduction only ever decides about `before` as a whole; which half was written stays.
        matrix = _freeze(from_allen(result) & written)
        removed, inferred = [], []
        for i, j in np.argwhere(np.triu(matrix != written, k=1)).tolist():
            if written[i, j] == ALL:
                inferred.append(Between(i, j, int(matrix[i, j])))
            else:
                removed.append(Between(i, j, int(written[i, j] & ~matrix[i, j])))
        return Reduced(matrix, tuple(removed), tuple(inferred))

    def _explain(self) -> Conflict:
        """Shrink the constraints to a set that is contradictory and of which none can be left out."""
        numbers = self._suspects()
        for number in list(numbers):
            rest = [other for other in numbers if other != number]
            if _are_contradictory(self.n, [self._constraints[other] for other in rest]):
                numbers = rest
        last = self._constraints[numbers[-1]]
        others = [self._constraints[number] for number in numbers[:-1]]
        # One relation at a time: path consistency alone would leave more than the others really allow.
        allowed = 0
        for relations in NAMES.values():
            if not _are_contradictory(self.n, [*others, last._replace(relations=relations)]):
                allowed |= relations
        return Conflict(last, tuple(numbers), allowed)

    def _suspects(self) -> list[int]:
        """The constraints that took part in emptying the pair that was emptied first: a small superset."""
        reasons = np.zeros((self.n, self.n, len(self._constraints)), dtype=bool)
        for number, (left, right, _) in enumerate(self._constraints):
            reasons[left, right, number] = reasons[right, left, number] = True
        _, emptied = _close(to_allen(_written(self.n, self._constraints)), reasons)
        assert emptied is not None
        numbers: list[int] = np.flatnonzero(reasons[emptied]).tolist()
        return numbers


def _are_contradictory(n: int, constraints: list[Between]) -> bool:
    """Whether these constraints alone leave no match."""
    matrix = _written(n, constraints)
    if not matrix.all():
        return True
    # A symbol tied to at most one other can always be placed: only cycles contradict, so peel the rest off.
    kept = np.arange(n)
    while True:
        tied = matrix[np.ix_(kept, kept)] != ALL  # the diagonal is tied to itself
        in_cycle = tied.sum(1) > 2
        if in_cycle.all():
            return len(kept) > 0 and _close(to_allen(matrix[np.ix_(kept, kept)]))[1] is not None
        kept = kept[in_cycle]


def _written(n: int, constraints: list[Between]) -> IntArray:
    matrix = np.full((n, n), ALL, dtype=np.int32)
    np.fill_diagonal(matrix, 1 << EQUALS)
    for left, right, relations in constraints:
        matrix[left, right] &= relations
        matrix[right, left] &= converse(relations)
    return matrix


def propagate(matrix: npt.ArrayLike) -> Reduced:
    """Path consistency of an n x n matrix of relation sets (ALL: unconstrained); see `Reduced`.

    Constraints are numbered row by row over the pairs i < j; `matrix[j, i]` is intersected in.
    """
    written = np.asarray(matrix, dtype=np.int32)
    network = Network(len(written))
    for i in range(network.n):
        for j in range(i + 1, network.n):
            relations = int(written[i, j]) & converse(int(written[j, i]))
            if relations != ALL:
                network.constrain(i, j, relations)
    return network.propagate()


def _freeze(matrix: IntArray) -> IntArray:
    matrix.flags.writeable = False
    return matrix


def _close(
    matrix: IntArray, reasons: npt.NDArray[np.bool_] | None = None
) -> tuple[IntArray, tuple[int, int] | None]:
    """Make a matrix of 13-bit sets path consistent; stops at the first emptied pair and names it.

    `reasons[i, j]` (which constraints took part in narrowing the pair) is kept up to date in place.
    One round takes every k as the middle symbol, all pairs at once; rounds repeat until one changes nothing.
    """
    matrix = matrix.copy()
    empty = _first_empty(matrix)
    changed = True
    while changed and empty is None:
        changed = False
        for k in range(len(matrix)):
            narrowed = matrix & compose_allen_arrays(matrix[:, k, None], matrix[None, k, :])
            pairs = np.nonzero(narrowed != matrix)
            if not len(pairs[0]):
                continue
            changed = True
            if reasons is not None:
                reasons[pairs] |= reasons[pairs[0], k] | reasons[k, pairs[1]]
            matrix = narrowed
            empty = _first_empty(matrix)
            if empty is not None:
                break
    return matrix, empty


def _first_empty(matrix: IntArray) -> tuple[int, int] | None:
    if matrix.all():
        return None
    i, j = np.argwhere(matrix == 0)[0].tolist()
    return i, j
