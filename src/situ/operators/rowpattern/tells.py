"""Row patterns that tell where their candidates are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from situ.operators.rowpattern.why import RowTally, tally
from situ.operators.rowpattern.why_report import RowWhy
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared
from situ.rows.tied import Tied, Ties

if TYPE_CHECKING:
    from situ.operators.rowpattern.question import AskedRows


class TellsOfRows:
    """What `situ.why` asks of an operator."""

    asked: AskedRows
    needs: Needs
    engine: Any

    def no_tally(self) -> RowTally:
        """Of no rows."""
        return RowTally.nothing(self.engine)

    def tally(self, rows: Prepared, tied: Tied, complete: int | None = None) -> RowTally:
        """Rows, matches and candidates that became none, counted."""
        return tally(self, rows)

    def told(self, tally: RowTally, ties: Ties | None, reported: int | None = None) -> RowWhy:
        """In words and counts."""
        time = None if self.needs.is_timeless else self.needs.time.told
        return RowWhy(self.asked.bound.query, self.asked.conditions, tally, time)
