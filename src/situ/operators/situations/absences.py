"""NO groups as the numbers that kernels read: every choice of relations as a closed network (SEM 11.4).

Of a group the endpoints are nodes: those of the absent symbol first, then those of each positive symbol in
it. `x - y <= bound` is an edge. A network that is closed, every bound the tightest that all others imply,
needs no look at more than two nodes at a time: whatever of its nodes is known fits exactly if every two do,
and what is known bounds each of the others directly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.algebra.relations import BEFORE, N_ALLEN, atoms_of, relation
from situ.language.situations.ast import Absence, Difference, Endpoint
from situ.language.situations.binder import BoundQuery
from situ.rows.kernels.numbers import NEVER, UNBOUNDED

C_TS, C_TE = 0, 1  # the absent symbol's nodes
_ENDS = {"ts": 0, "te": 1}


class Bound(NamedTuple):
    """How far one node may lie behind another; a strict bound is the tighter at equal ticks."""

    ticks: int
    is_strict: bool = False

    def and_then(self, other: Bound) -> Bound:
        """The bound of the way over both."""
        return Bound(self.ticks + other.ticks, self.is_strict or other.is_strict)

    def is_below(self, other: Bound | None) -> bool:
        """Whether this is the tighter one."""
        if other is None:
            return True
        return (self.ticks, not self.is_strict) < (other.ticks, not other.is_strict)


Network = dict[tuple[int, int], Bound]  # (x, y): x - y is bounded; what is missing is free


class Groups(NamedTuple):
    """All groups of a query; G groups of at most P positive symbols, N = 2 + 2P nodes, H choices in all."""

    absent: npt.NDArray[np.int64]  # [G]: the absent symbol
    positive: npt.NDArray[np.int64]  # [G, P]: positive symbols, -1 for none
    choices: npt.NDArray[np.int64]  # [G + 1]: group g has choices[g] .. choices[g + 1]
    bound: npt.NDArray[np.int64]  # [H, N, N]: NEVER where free
    is_strict: npt.NDArray[np.bool_]  # [H, N, N]
    earliest: npt.NDArray[np.int64]  # [G, P, 2]: how far before a positive's ts a C's ts, te may lie; NEVER
    latest: npt.NDArray[np.int64]  # [G, P, 2]: how far behind its ts, te a C's ts may lie, >= 0; NEVER


def make_groups(bound: BoundQuery) -> Groups:
    """The groups of a bound query, whose absent symbols stand behind the positive ones."""
    query = bound.query
    position = {name: i for i, name in enumerate(query.symbol_names)}
    several = [_Group.of(absence, bound, position) for absence in query.absences]
    most = max((len(group.positives) for group in several), default=0)
    n_nodes = 2 + 2 * most
    n_choices = sum(len(group.networks) for group in several)
    groups = Groups(
        absent=np.array([group.absent for group in several], np.int64),
        positive=np.full((len(several), most), -1, np.int64),
        choices=np.cumsum([0, *(len(group.networks) for group in several)], dtype=np.int64),
        bound=np.full((n_choices, n_nodes, n_nodes), NEVER),
        is_strict=np.zeros((n_choices, n_nodes, n_nodes), bool),
        earliest=np.full((len(several), most, 2), NEVER),
        latest=np.full((len(several), most, 2), NEVER),
    )
    for g, group in enumerate(several):
        groups.positive[g, : len(group.positives)] = group.positives
        for h, network in enumerate(group.networks, start=int(groups.choices[g])):
            for (x, y), (ticks, is_strict) in network.items():
                groups.bound[h, x, y] = ticks
                groups.is_strict[h, x, y] = is_strict
        own = slice(int(groups.choices[g]), int(groups.choices[g + 1]))
        for p in range(len(group.positives)):
            first = 2 + 2 * p
            groups.earliest[g, p] = groups.bound[own, first, :2].max(axis=0, initial=-(2**62))
            groups.latest[g, p] = groups.bound[own, 0, first : first + 2].max(axis=0, initial=0)
    return groups


class _Group(NamedTuple):
    absent: int
    positives: list[int]
    networks: list[Network]

    @classmethod
    def of(cls, absence: Absence, bound: BoundQuery, position: dict[str, int]) -> _Group:
        names = list(dict.fromkeys(_others(absence)))
        nodes = {absence.symbol: 0, **{name: 2 + 2 * i for i, name in enumerate(names)}}
        absent = position[absence.symbol]
        always: Network = {}
        for first in nodes.values():
            _tighten(always, (first, first + 1), Bound(0, True))  # ts < te
        least, most = bound.at_least[absent], bound.at_most[absent]
        if least:
            _tighten(always, (C_TS, C_TE), Bound(-least))
        if most is not None:
            _tighten(always, (C_TE, C_TS), Bound(most))
        for one in absence.differences:
            left, right = _node(nodes, one.left), _node(nodes, one.right)
            _tighten(always, (left, right), Bound(one.bound.value, one.is_strict))
        sets = [
            [(nodes[constraint.right], order) for order in _orders(constraint.relations)]
            for constraint in absence.constraints
        ]
        networks = []
        for choice in product(*sets):
            network = dict(always)
            for of, order in choice:
                for (x, y), edge in order.items():
                    _tighten(network, (_of_pair(x, of), _of_pair(y, of)), edge)
            if _close(network, 2 * len(nodes)):
                networks.append(network)
        return cls(absent, [position[name] for name in names], networks)


def how_far_back(bound: BoundQuery) -> dict[int, int]:
    """For each absent symbol D of SEM 11.7, by its position: UNBOUNDED where there is none."""
    position = {name: i for i, name in enumerate(bound.query.symbol_names)}
    reach: dict[int, int] = {}
    for absence in bound.query.absences:
        symbol, own = position[absence.symbol], int(UNBOUNDED)
        if any(constraint.relations & BEFORE != BEFORE for constraint in absence.constraints):
            own = 0
        else:
            bounds = [max(0, d.bound.value) for d in absence.differences if d.right.symbol == absence.symbol]
            own = min(bounds, default=own)
        earlier = reach.get(symbol, own)
        reach[symbol] = int(UNBOUNDED) if UNBOUNDED in (own, earlier) else max(own, earlier)
    return reach


def _others(absence: Absence) -> Iterator[str]:
    for constraint in absence.constraints:
        yield constraint.right
    for one in absence.differences:
        yield _other(one, absence.symbol)


def _other(difference: Difference, symbol: str) -> str:
    """The symbol at a difference's other end."""
    return difference.right.symbol if difference.left.symbol == symbol else difference.left.symbol


def _node(nodes: dict[str, int], endpoint: Endpoint) -> int:
    return nodes[endpoint.symbol] + _ENDS[endpoint.end]


def _of_pair(node: int, of: int) -> int:
    """A node of a pair (C.ts, C.te, P.ts, P.te), P's nodes beginning at `of`."""
    return node if node < 2 else of + node - 2


def _orders(relations: int) -> list[Network]:
    """What a set of relations asks of C.ts, C.te, P.ts, P.te: one network, or one for each relation.

    One will do where what all members have in common admits no relation beside them, as of `while`.
    """
    each = {atom: _order(atom) for atom in sorted({_allen(atom) for atom in atoms_of(relations)})}
    common = {
        edge: max((order[edge] for order in each.values()), key=lambda b: (b.ticks, not b.is_strict))
        for edge in set.intersection(*(set(order) for order in each.values()))
    }
    admitted = {atom for atom in range(N_ALLEN) if _close(_joined(common, _order(atom)), 4)}
    return [common] if admitted == set(each) else list(each.values())


def _allen(atom: int) -> int:
    """A half of before or after is the whole: followed-by takes no part in a group (SEM 11.6)."""
    return atom if atom < N_ALLEN else {13: 0, 14: 12}[atom]


def _order(atom: int) -> Network:
    """The order of four endpoints under one relation."""
    intervals = [(ts, te) for ts in range(4) for te in range(ts + 1, 4)]
    c, p = next((c, p) for c, p in product(intervals, intervals) if relation(*c, *p) == atom)
    ends = (*c, *p)
    pairs = product(range(4), repeat=2)
    return {(x, y): Bound(0, ends[x] < ends[y]) for x, y in pairs if x != y and ends[x] <= ends[y]}


def _joined(first: Network, second: Network) -> Network:
    network = dict(first)
    for edge, bound in second.items():
        _tighten(network, edge, bound)
    return network


def _tighten(network: Network, edge: tuple[int, int], bound: Bound) -> None:
    if bound.is_below(network.get(edge)):
        network[edge] = bound


def _close(network: Network, n_nodes: int) -> bool:
    """Make every bound the tightest that all imply, in place; False where they contradict each other."""
    nodes: Sequence[int] = range(n_nodes)
    for via in nodes:
        for x, y in product(nodes, nodes):
            first, second = network.get((x, via)), network.get((via, y))
            if first is not None and second is not None:
                _tighten(network, (x, y), first.and_then(second))
    circles = [network.pop((x, x), Bound(0)) for x in nodes]
    return not any(circle.is_below(Bound(0)) for circle in circles)
