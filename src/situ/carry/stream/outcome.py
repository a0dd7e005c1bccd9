"""What a bucket gives back from a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.rows.kernels.numbers import NEVER
from situ.rows.tied import Tied

Positions = npt.NDArray[np.int64]


class Emitted(NamedTuple):
    """Matches or situations: their slots, their columns without the partition's, every symbol's ts."""

    slot: Positions
    columns: list[pa.Array]
    starts: list[Positions]


class Stepped(NamedTuple):
    """What is known after a step, and what the step gave."""

    known: Any
    emitted: list[Emitted]
    n_ignored: int = 0
    tied: Tied | None = None  # rows that were left out


@dataclass
class Outcome:
    """Results as tables of the output's columns, late rows as they came, and counts for the metrics."""

    tables: list[pa.Table] = field(default_factory=list)
    late_rows: list[pa.Array] = field(default_factory=list)  # structs, kept only where asked for
    n_late: int = 0
    earliest_late: int = int(NEVER)
    n_ignored: int = 0  # rows that close intervals forgotten by the window (SEM 6.3)
    n_tied: int = 0  # rows left out because a later one of their partition has the same time (SEM 1.3)

    @property
    def n_found(self) -> int:
        return sum(table.num_rows for table in self.tables)

    @property
    def is_empty(self) -> bool:
        return not (self.n_found or self.n_late or self.n_ignored or self.n_tied)
