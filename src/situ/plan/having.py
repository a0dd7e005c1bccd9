"""What `explain` says of HAVING (SEM 13.1)."""

from __future__ import annotations

from situ.algebra.certainty import Admissible
from situ.algebra.composition import IntArray
from situ.algebra.relations import (
    BEFORE,
    DURING,
    EQUALS,
    FINISHED_BY,
    FINISHES,
    MEETS,
    OVERLAPS,
    STARTS,
)
from situ.language.situations.ast import Query
from situ.language.situations.having import equal_firsts, read_items
from situ.language.situations.printer import having_text, item_text

# Of two that stand so the first has ended once that is certain: none of the prefix groups is among them.
_ENDS_FIRST = (
    BEFORE | 1 << MEETS | 1 << OVERLAPS | 1 << STARTS | 1 << DURING | 1 << EQUALS | 1 << FINISHES
    | 1 << FINISHED_BY
)  # fmt: skip


def having_lines(query: Query) -> list[str]:
    """What is reported, and what is tested before all situations of a match are there."""
    if query.having is None:
        return []
    equal = [f"first({a}.{x}) = first({b}.{y})" for (a, x), (b, y) in equal_firsts(query)]
    early = [f"Situations are not joined where {one} does not hold, if both have one type." for one in equal]
    return [f"Only matches with {having_text(query)} are reported (HAVING).", *early]


def open_notes(query: Query, reduced: IntArray) -> list[str]:
    """A warning where HAVING reads what may still change of a situation that goes on when it is judged."""
    if query.emit != "EARLY":
        return []
    order = {name: number for number, name in enumerate(query.symbol_names)}
    items = [query.items[i] for i in sorted(read_items(query))]
    notes = []
    for item in items:
        is_end = item.function in ("te", "duration")
        grows = item.function not in ("ts", "first") and query.intervals is None
        if (is_end or grows) and _may_be_open(query, reduced, order[item.symbol]):
            notes.append(
                f"HAVING reads {item_text(item)}, and {item.symbol} may still be open when a match is "
                f"reported (EMIT EARLY): then it is {'null' if is_end else 'that of its events so far'}. "
                "With EMIT FINAL all situations of a match have ended."
            )
    return notes


def _may_be_open(query: Query, reduced: IntArray, symbol: int) -> bool:
    if query.admissible[symbol] is Admissible.AT_END:
        return False
    others = [other for other in range(len(query.symbols)) if other != symbol]
    return not any(int(reduced[symbol, other]) & ~_ENDS_FIRST == 0 for other in others)
