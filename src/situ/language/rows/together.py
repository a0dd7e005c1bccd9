"""Which clauses of a row pattern go together (ROW 5.3, 6.3, 9.1, 9.2)."""

from __future__ import annotations

from situ.errors import RowPatternError
from situ.language.rows.ast import Skip
from situ.language.rows.draft import Draft


def check_strategy(draft: Draft) -> None:
    """What the skip strategies need and what they do not take (ROW 9.1, 9.2)."""
    if draft.strategy == "contiguous":
        return
    place, pattern = draft.strategy_place or draft.place, draft.pattern
    told = f"STRATEGY SKIP TILL {draft.strategy.upper()}"
    if draft.within is None:
        raise place.error(
            RowPatternError, f"{told} needs WITHIN", hint="say how long a match may take: WITHIN 5 minutes"
        )
    if pattern.anchor is not None:
        raise pattern.anchor.error(
            RowPatternError, f"^ and $ do not go with {told}", hint="leave the anchor out"
        )
    if draft.strategy == "any" and pattern.reluctant is not None:
        raise pattern.reluctant.error(
            RowPatternError,
            f"a reluctant quantifier says nothing under {told}: every match is found",
            hint="leave the ? out",
        )


def check_mode(draft: Draft) -> None:
    """Modes are for contiguous matches (ROW 5.3)."""
    if draft.mode is None or draft.strategy == "contiguous":
        return
    raise (draft.mode_place or draft.place).error(
        RowPatternError,
        f"{draft.mode.upper()} MATCH goes with STRATEGY CONTIGUOUS only",
        hint="leave one of them out",
    )


def check_unmatched(draft: Draft) -> None:
    """What WITH UNMATCHED ROWS does not go with (ROW 6.3)."""
    if draft.empty != "unmatched":
        return
    other = None
    if draft.pattern.exclusion is not None:
        other = "{- -}, which leaves rows of a match out"
    elif draft.mode is not None:
        other = f"{draft.mode.upper()} MATCH"
    elif draft.strategy != "contiguous":
        other = f"STRATEGY SKIP TILL {draft.strategy.upper()}"
    if other is not None:
        raise (draft.rows_place or draft.place).error(
            RowPatternError, f"WITH UNMATCHED ROWS does not go with {other}", hint="leave one of them out"
        )


def implied_skip(strategy: str, mode: str | None) -> Skip:
    """Where the search goes on if nothing is written (ROW 4.8, 5.3, 9.2, 9.5)."""
    return Skip("past last row" if strategy == "contiguous" and mode is None else "next row")


def skip_of(draft: Draft) -> Skip:
    """Where the search goes on, which some clauses imply."""
    implied = implied_skip(draft.strategy, draft.mode)
    if draft.skip_place is None:
        return implied
    if draft.skip != implied and (draft.mode is not None or draft.strategy == "any"):
        told = f"{draft.mode.upper()} MATCH" if draft.mode else "STRATEGY SKIP TILL ANY"
        raise draft.skip_place.error(
            RowPatternError,
            f"{told} is about every row a match may begin at, so it implies AFTER MATCH SKIP TO NEXT ROW",
            hint="leave AFTER MATCH out",
        )
    return draft.skip
