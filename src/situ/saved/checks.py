"""Saved state, checked after reading: what the rest of situ takes for granted is so, or a StateError.

Bytes can be forged, checksum and all, and operators do not look twice: kernels run without bounds checks.
So whoever reads something checks it here, once, by arrays. A false but possible state (another time,
another count) cannot be told from a true one, and does no harm beyond its answers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from situ.errors import StateError

CONDITIONS_FAULT = "a condition holds that the query does not have"


def require(holds: bool | np.bool_, fault: str) -> None:
    """A StateError that names the fault, unless the rule holds."""
    if not holds:
        raise StateError(
            f"saved state is damaged: {fault}",
            hint="restore it from another copy, or start from the beginning of the input",
        )


def check_masks(mask: npt.NDArray[np.unsignedinteger], n_conditions: int) -> None:
    """Only conditions that the query has can hold."""
    if n_conditions < 64 and len(mask):
        held = int(np.bitwise_or.reduce(mask))
        require(held >> n_conditions == 0, CONDITIONS_FAULT)


def are_slots(codes: npt.NDArray[np.int64], n_slots: int) -> bool:
    """Whether all are positions of `n_slots` slots."""
    return not len(codes) or (int(codes.min()) >= 0 and int(codes.max()) < n_slots)


def require_ascending(values: npt.NDArray[np.int64], what: str) -> None:
    """Each must be larger than the one before it."""
    require(bool((values[1:] > values[:-1]).all()), f"{what} are out of order")
