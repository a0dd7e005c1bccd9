"""Matches that tell where their candidates are lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from situ.operators.situations.why import Tally, differences_of, plan_order, tally
from situ.operators.situations.why_report import Why
from situ.rows.needs import Needs
from situ.rows.prepared import Prepared
from situ.rows.tied import Tied, Ties

if TYPE_CHECKING:
    from situ.operators.situations.question import AskedSituations


class TellsOfMatches:
    """What the operators of matches share: they count alike, whatever their situations come from."""

    asked: AskedSituations
    needs: Needs
    engine: Any
    looking: Any

    def no_tally(self) -> Tally:
        """Of no rows."""
        return Tally.nothing(self.asked.bound.query)

    def tally(self, rows: Prepared, tied: Tied, complete: int | None = None) -> Tally:
        """Situations, pairs and prefixes of the plan, counted."""
        return tally(self.engine, self.needs, rows, tied, complete, self.looking)

    def told(self, tally: Tally, ties: Ties | None, reported: int | None = None) -> Why:
        """In words and counts."""
        query = self.asked.whole or self.asked.bound.query
        order, differences = plan_order(self.engine), differences_of(self.engine)
        return Why(query, self.asked.bound, order, tuple(differences), tally, ties, reported)
