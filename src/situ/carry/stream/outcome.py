"""What a bucket gives back from a micro-batch."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from situ.rows.kernels.numbers import NEVER


@dataclass
class Outcome:
    """Results as tables of the output's columns, late rows as they came, and counts for the metrics."""

    tables: list[pa.Table] = field(default_factory=list)
    late_rows: list[pa.Array] = field(default_factory=list)  # structs, kept only where asked for
    n_late: int = 0
    earliest_late: int = int(NEVER)
    n_ignored: int = 0  # rows of what the window has forgotten (SEM 6.3)
    n_tied: int = 0  # rows left out because a later one of their partition has the same time (SEM 1.3)

    @property
    def n_found(self) -> int:
        return sum(table.num_rows for table in self.tables)

    @property
    def is_empty(self) -> bool:
        return not (self.n_found or self.n_late or self.n_ignored or self.n_tied)
