"""Random connected patterns with sizes and selectivities."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from situ.algebra.relations import ALL, NAMES, converse

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


def matrix(n: int, constraints: dict[tuple[int, int], str]) -> Ints:
    """The relation matrix of constraints such as {(0, 1): "meets;overlaps"}."""
    result = np.full((n, n), ALL, dtype=np.int32)
    for (i, j), names in constraints.items():
        bits = 0
        for name in names.split(";"):
            bits |= NAMES[name]
        result[i, j], result[j, i] = bits, converse(bits)
    return result


def random_pattern(rng: random.Random, n: int) -> tuple[Ints, Floats, Floats]:
    """A spanning tree and some more constraints, sizes over four orders of magnitude."""
    constraints = {(rng.randrange(j), j): _names(rng) for j in range(1, n)}
    for _ in range(rng.randrange(n)):
        i, j = sorted(rng.sample(range(n), 2))
        constraints[i, j] = _names(rng)
    relations = matrix(n, constraints)
    sizes = np.array([10 ** rng.uniform(0, 4) for _ in range(n)])
    selectivities = np.ones((n, n))
    for i, j in constraints:
        selectivities[i, j] = selectivities[j, i] = 10 ** rng.uniform(-4, 0)
    return relations, sizes, selectivities


def _names(rng: random.Random) -> str:
    return ";".join(rng.sample(list(NAMES), rng.randint(1, 4)))
