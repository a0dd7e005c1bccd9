"""What is said of a match that cannot be decided: where, of which variable, and what to do (ROW 10.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from situ.errors import MatchError, SituError
from situ.operators.rowpattern.engine import Trouble
from situ.operators.rowpattern.kernels import every, scan
from situ.operators.rowpattern.ordering import Sequenced
from situ.rows.keys import shown
from situ.rows.needs import Needs
from situ.rows.schema import time_text

if TYPE_CHECKING:
    from situ.operators.rowpattern.operator import RowOperator


def raised(trouble: Trouble, operator: RowOperator, now: Sequenced) -> SituError:
    """The error; the carrier adds the partition's values."""
    query, engine = operator.asked.bound.query, operator.engine
    slot = int(now.slot[trouble.history])
    start = row_text(operator.needs, now, trouble.start)
    if trouble.code in (scan.SKIPS_TO_NOTHING, scan.SKIPS_TO_ITSELF):
        to, variable = query.skip.to.upper(), query.skip.variable
        found = f"match {trouble.number}, which begins at {start},"
        if trouble.code == scan.SKIPS_TO_NOTHING:
            return MatchError(
                f"AFTER MATCH SKIP TO {to} {variable}: {found} has no row of {variable}",
                hint="skip to a variable that every match has, or write AFTER MATCH SKIP PAST LAST ROW",
                slot=slot,
            )
        return MatchError(
            f"AFTER MATCH SKIP TO {to} {variable}: {found} would begin again at its own first row",
            hint="skip to a variable behind the first row, or write AFTER MATCH SKIP TO NEXT ROW",
            slot=slot,
        )
    variable = engine.automaton.variables[engine.automaton.variable[trouble.position]]
    if trouble.code == scan.FAILED_TEST:
        test = int(engine.shape.test[trouble.position])
        low, high = (int(one[trouble.history]) for one in (now.histories.low, now.histories.high))
        cause = engine.conditions.error(test, now.ordered, trouble.row, low, high, trouble.path)
        where = row_text(operator.needs, now, trouble.row)
        return MatchError(
            f"{cause.message}, at row {where} of a match that would begin at {start}",
            hint=cause.hint,
            slot=slot,
        )
    if trouble.code == every.TOO_MANY_MATCHES:
        return MatchError(
            f"more than {engine.most_matches:,} matches begin at {start}",
            hint="make WITHIN shorter or conditions stricter, or raise max_matches",
            slot=slot,
        )
    return MatchError(
        f"the search from {start} took more than {engine.most_steps:,} steps, the last at {variable}",
        hint="conditions that read the path (LAST of another variable, running aggregates) can make it long: "
        "make WITHIN shorter or conditions stricter, or raise max_steps",
        slot=slot,
    )


def row_text(needs: Needs, now: Sequenced, row: int) -> str:
    """A row by its ORDER BY values."""
    columns = now.ordered.columns
    values = []
    if not needs.is_timeless:
        values.append(f"{needs.time.name} {time_text(int(now.ordered.time[row]), needs.time.told)}")
    values += [f"{one.name} {shown(columns[one.name][row])}" for one in needs.ties if one.name in columns]
    return ", ".join(values) or f"row {row + 1}"
