"""What a join order is expected to cost (dissertation 5.5.4, equations 5.2 - 5.5).

The size of an intermediate result is estimated as the product of the buffer sizes and of the
selectivities of its constraints. One correction to the published formula: a constraint that two others
of the same result already imply (A before C beside A before B, B before C) filters nothing more and is
not counted, so the estimate depends on which symbols are joined but not on their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from situ.algebra import relations as r
from situ.algebra.composition import IntArray, compose_allen_arrays, to_allen

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Order = tuple[int, ...]

INITIAL_SIZE: Final = 100.0
"""Situations per symbol and window before anything is known; Table 5.3 fits buffers of this size."""

LEAST_SIZE: Final = 1e-3

# Table 5.3. `followed-by` pairs each situation with at most one other, as `overlaps` does, and what it
# takes is taken from `before`.
_BY_ATOM: Final = np.zeros(r.N_ATOMS)
_BY_ATOM[[r.BEFORE_ONLY, r.AFTER_ONLY]] = 0.435
_BY_ATOM[[r.FOLLOWED_BY, r.FOLLOWS]] = 0.01
_BY_ATOM[[r.CONTAINS, r.DURING]] = 0.03
_BY_ATOM[[r.OVERLAPS, r.OVERLAPPED_BY]] = 0.01
_BY_ATOM[[r.STARTS, r.STARTED_BY, r.FINISHES, r.FINISHED_BY, r.MEETS, r.MET_BY]] = 0.0049
_BY_ATOM[r.EQUALS] = 0.0006

# Where a candidate can start, seen from a bound situation, in time order: an index range cannot cut
# finer than this, and covers everything between the first and the last of them that is asked for.
_RANGES: Final = (
    r.AFTER,
    1 << r.MET_BY,
    1 << r.DURING | 1 << r.FINISHES | 1 << r.OVERLAPPED_BY,
    1 << r.STARTS | 1 << r.EQUALS | 1 << r.STARTED_BY,
    1 << r.OVERLAPS | 1 << r.FINISHED_BY | 1 << r.CONTAINS,
    1 << r.MEETS,
    r.BEFORE,
)


@dataclass(frozen=True)
class Weights:
    """Relative cost of the steps of a join; looking at one candidate is 1."""

    search: float = 0.5  # each halving of a binary search
    build_pair: float = 3.0  # finding, storing and indexing one pair
    probe: float = 2.0  # looking up one situation among the pairs


@dataclass(frozen=True)
class Estimates:
    """What an order is expected to do, per depth: candidates looked at, and results that survive."""

    candidates: tuple[float, ...]
    results: tuple[float, ...]
    cost: float


def selectivity_of(relations: int) -> float:
    """The share of all pairs expected to stand in one of `relations`, before anything was measured."""
    return float(sum(_BY_ATOM[atom] for atom in r.atoms_of(relations)))


def index_range_of(relations: int) -> int:
    """The relations of the candidates in the index range that a range join walks for `relations`."""
    wanted = [i for i, bits in enumerate(_RANGES) if bits & relations]
    hull = 0
    for i in range(wanted[0], wanted[-1] + 1) if wanted else ():
        hull |= _RANGES[i]
    return hull


@dataclass(frozen=True, eq=False)
class CostModel:
    """The pattern as the cost model sees it; `relations` is the n x n matrix, ALL where nothing is asked."""

    relations: IntArray
    weights: Weights = Weights()

    @property
    def n(self) -> int:
        """Number of symbols."""
        return len(self.relations)

    @cached_property
    def is_constrained(self) -> Bools:
        """Whether something is asked of a pair."""
        constrained: Bools = self.relations != r.ALL
        np.fill_diagonal(constrained, False)
        return constrained

    @cached_property
    def initial_selectivities(self) -> Floats:
        """Table 5.3 for every pair; 1 where nothing is asked."""
        return self._for_pairs(selectivity_of)

    @cached_property
    def widening(self) -> Floats:
        """How many candidates an index range holds for each one that fits the pair's constraint."""
        return self._for_pairs(lambda bits: selectivity_of(index_range_of(bits)) / selectivity_of(bits))

    @cached_property
    def implied_via(self) -> Bools:
        """`[i, j, k]`: the constraint of i and j adds nothing where k is joined to both.

        Of a triangle in which each constraint follows from the other two only one is dropped, the one
        that follows most often, then the least selective, so that no constraint is lost in a circle.
        """
        constrained = self.is_constrained
        allen = to_allen(self.relations)
        via = compose_allen_arrays(allen[:, None, :], allen.T[None, :, :])  # [i, j, k] = i to k to j
        implied: Bools = (via & ~allen[:, :, None]) == 0
        implied &= constrained[:, :, None] & constrained[:, None, :] & constrained.T[None, :, :]
        symbols = np.arange(self.n)
        pair_number = np.minimum.outer(symbols, symbols) * self.n + np.maximum.outer(symbols, symbols)
        keys = (pair_number.ravel(), self.initial_selectivities.ravel(), implied.sum(2).ravel())
        rank = np.empty(self.n * self.n, dtype=np.int64)
        rank[np.lexsort(keys)] = np.arange(self.n * self.n)
        rank = np.maximum(rank.reshape(self.n, self.n), rank.reshape(self.n, self.n).T)
        return implied & (rank[:, :, None] > rank[:, None, :]) & (rank[:, :, None] > rank.T[None, :, :])

    @cached_property
    def _implied_triples(self) -> tuple[npt.NDArray[np.intp], ...]:
        """`implied_via` as three lists of numbers: few patterns have any."""
        return np.nonzero(self.implied_via)

    def estimate(self, order: Order, sizes: Floats, selectivities: Floats) -> Estimates:
        """What the range join does along `order`, a permutation of the symbols."""
        along = np.array(order)
        grid = np.ix_(along, along)
        buffers, passing = floored(sizes[along], selectivities[grid])
        results = bounded_exp(np.cumsum(np.log(buffers) + self._log_filter(along, np.log(passing))))
        bound = np.concatenate(([1.0], results[:-1]))
        earlier = np.tril(self.is_constrained[grid], -1)
        widening = np.where(earlier, self.widening[grid], 1.0).prod(1)
        candidates = np.minimum(results * widening, bound * buffers)
        searches = bound * earlier.sum(1) * np.log2(1 + buffers)
        cost = float(candidates.sum() + self.weights.search * searches.sum())
        return Estimates(tuple(candidates.tolist()), tuple(results.tolist()), cost)

    def estimate_pairs(self, order: Order, sizes: Floats, selectivities: Floats) -> float:
        """The cost of the pair join: all pairs of each constraint once, then joined by look-up.

        Each result is extended by the partners of the constraint that leaves fewest; the other
        constraints on the new symbol are looked up for each of these.
        """
        along = np.array(order)
        grid = np.ix_(along, along)
        buffers, passing = floored(sizes[along], selectivities[grid])
        earlier = np.tril(self.is_constrained[grid], -1)
        n_pairs = (np.outer(buffers, buffers) * passing)[earlier].sum()
        n_searches = np.outer(np.log2(1 + buffers), buffers)[earlier].sum()
        bound = np.array(self.estimate(order, sizes, selectivities).results[:-1])
        partners = (np.where(earlier, passing, 1.0).min(1) * buffers)[1:]
        others = np.maximum(earlier.sum(1) - 1, 0)[1:]
        walk = bound * (self.weights.probe * (1 + partners * others) + partners)
        return float(self.weights.build_pair * n_pairs + self.weights.search * n_searches + walk.sum())

    def _for_pairs(self, function: Callable[[int], float]) -> Floats:
        result = np.ones((self.n, self.n))
        values: dict[int, float] = {}
        for i, j in np.argwhere(self.is_constrained).tolist():
            bits = int(self.relations[i, j])
            if bits not in values:
                values[bits] = function(bits)
            result[i, j] = values[bits]
        return result

    def _log_filter(self, along: npt.NDArray[np.intp], log_selectivities: Floats) -> Floats:
        """Per depth, the log of what the constraints let through that come into force there.

        A constraint leaves again at the depth that joins a symbol by which it is implied.
        """
        n = len(along)
        depth_of = np.empty(n, dtype=np.intp)
        depth_of[along] = np.arange(n)
        implied_from = np.full((n, n), n)
        i, j, k = self._implied_triples
        np.minimum.at(implied_from, (depth_of[i], depth_of[j]), depth_of[k])
        earlier, later = np.nonzero(np.triu(self.is_constrained[np.ix_(along, along)], 1))
        logs = log_selectivities[earlier, later]
        leaving = np.maximum(later, implied_from[earlier, later])
        gained = np.bincount(later, logs, minlength=n)
        lost = np.bincount(leaving, logs, minlength=n + 1)[:n]
        return np.asarray(gained - lost, dtype=np.float64)


def floored(sizes: Floats, selectivities: Floats) -> tuple[Floats, Floats]:
    """Both with a floor: an empty buffer or a constraint that never held must not make every order free."""
    return np.maximum(sizes, LEAST_SIZE), np.maximum(selectivities, 1e-6)


def bounded_exp(logs: Floats) -> Floats:
    """exp that stays finite: an estimate beyond 1e260 results says enough."""
    return np.exp(np.minimum(logs, 600.0))
