"""The error for an exact aggregate that its Spark type cannot hold."""

from __future__ import annotations

from decimal import Decimal
from typing import NoReturn

from situ.aggregate.arrays import Numbers
from situ.errors import DataError


class AggregateOverflowError(DataError):
    """An aggregate's exact value does not fit its Spark type, and `ansi` is on."""


def refuse_overflow(what: str, spark_type: str, limbs: Numbers, *, scale: int) -> NoReturn:
    """Raise for one total that does not fit; `limbs` as in kernels.exact."""
    total = sum(int(limb) << (32 * level) for level, limb in enumerate(limbs))
    raise AggregateOverflowError(
        f"{what} of a situation does not fit its type {spark_type}: the values add up to "
        f"{Decimal(total).scaleb(-scale) if scale else total}",
        hint="cast the attribute to double or to a wider decimal before matching, or set ansi=False",
    )
