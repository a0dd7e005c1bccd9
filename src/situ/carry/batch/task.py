"""What a worker of a batch needs to know: an operator and the limits of its work, as picklable data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.buckets import labels
from situ.carry.contract import Operator, emitted_schema
from situ.rows.needs import Needs
from situ.rows.tied import Tied


@dataclass(frozen=True)
class Task:
    """One question on one DataFrame."""

    operator: Operator
    warns: bool  # is told of rows left out as ties
    labels: tuple[int, ...]  # one for each bucket (see buckets.py)
    limit: int  # bytes of rows a worker holds at a time
    n_slices: int = 1  # into which an unpartitioned input is cut at the most
    least_rows: int = 1  # of such a slice
    has_splits: bool = False  # does a last column tell splits apart
    clock: int | None = None  # how far time has come at the end of the input, where that is known before

    @property
    def needs(self) -> Needs:
        """Of the operator."""
        return self.operator.needs

    @cached_property
    def output(self) -> pa.Schema:
        """The columns workers give back, keys under names that cannot clash."""
        return emitted_schema(self.operator, key_names(self.needs))

    @cached_property
    def tied(self) -> Tied:
        """Rows left out by this worker that nobody has asked for yet."""
        return Tied()

    @property
    def n_buckets(self) -> int:
        """How many there are."""
        return len(self.labels)

    @cached_property
    def label_of(self) -> npt.NDArray[np.int32]:
        """Each bucket's label."""
        return np.array(self.labels, np.int32)

    @cached_property
    def slice_labels(self) -> npt.NDArray[np.int32]:
        """Labels that spread slices evenly over as many shuffle partitions."""
        return labels(self.n_slices)


def key_names(needs: Needs) -> list[str]:
    """The names under which workers give partition columns back."""
    return [f"_key_{i}" for i in range(len(needs.partition))]
