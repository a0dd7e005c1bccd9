"""What the stages of a query leave behind, as lines to read: one function for each kind of result.

Nothing is worked out here. A line that said more than the result holds could be right where the result
is wrong, and it is the result that one looks for.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from situ.algebra.certainty import Trigger
from situ.algebra.composition import IntArray
from situ.algebra.network import Reduced
from situ.algebra.relations import ALL, names_of, words_of
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery
from situ.language.situations.composed import row_pattern_text
from situ.language.situations.draft import Conjunction, Draft
from situ.language.situations.gaps import gaps_text
from situ.language.situations.printer import absence_text, constraint_text, difference_text, item_text
from situ.language.situations.silence import SILENCE
from situ.language.text.clauses import Clause
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration
from situ.language.text.places import Phrase
from situ.language.text.tokens import Source, Token
from situ.language.text.words import quote
from situ.plan.explain import instants, lasting, plan_section, relation_text, symbols_section
from situ.plan.plan import Plan
from situ.plan.render import Table, table_lines

_WIDTH = 96
_NO_PATTERN = "There is no PATTERN: situations are derived, and none are matched."

Lines = Iterator[str]


def text_lines(text: str) -> Lines:
    """The text itself, moved to the left as a whole."""
    yield from textwrap.dedent(text).strip("\n").splitlines() or ["(nothing)"]


def token_lines(source: Source) -> Lines:
    """Every token in brackets, as it was written: what stands between two of them is a blank or a comment."""
    line = ""
    for token in source.tokens[:-1]:
        shown = f"[{_written(source, [token])}]"
        if line and len(line) + 1 + len(shown) > _WIDTH:
            yield line
            line = ""
        line = f"{line} {shown}" if line else shown
    yield line or "(none)"


def clause_lines(source: Source, clauses: Mapping[str, Clause]) -> Lines:
    """Which words belong to which clause."""
    rows = [(name, _written(source, clause.tokens)) for name, clause in clauses.items()]
    yield from _table(("clause", "its words"), rows)


def draft_lines(draft: Draft) -> Lines:
    """What each clause was read as, beside how it was written where that is kept."""
    yield from _table(("part", "as written", "read as"), [row for row in _parts(draft) if row[2]])


def _parts(draft: Draft) -> Iterator[tuple[str, str, str]]:
    given = draft.intervals
    yield "FROM", "", f"intervals of {draft.source}" if draft.is_intervals else f"events of {draft.source}"
    if given is not None:
        yield "STARTING", "", given.starting
        yield "ENDING", "", given.ending
        yield "SYMBOL BY", "", given.symbol_by or ""
        yield "ID BY", "", given.id_by or ""
    if draft.where is not None and draft.where_written is not None:
        yield "WHERE", _phrase(draft.where_written), draft.where.sql
    for table in draft.sources:
        of_table = table.where.sql if table.where is not None else ""
        yield f"WHERE of {table.alias}", "", of_table
        yield f"ORDER BY of {table.alias}", "", ", ".join(table.order_by)
        yield f"PARTITION BY of {table.alias}", "", ", ".join(table.partition_by)
    if not draft.sources:
        yield "ORDER BY", "", ", ".join(draft.order_by)
        yield "PARTITION BY", "", ", ".join(draft.partition_by)
    for symbol, _, written in draft.definitions:
        bounds = lasting(symbol.at_least, symbol.at_most)
        condition = SILENCE if symbol.condition is None else symbol.condition.sql
        if symbol.rows is not None:
            condition = " ".join(row_pattern_text(symbol.rows, draft.source).split())
        ignoring = "" if symbol.ignoring is None else f", {gaps_text(symbol.ignoring).lower()}"
        yield f"DEFINE {symbol.name}", _phrase(written), f"{condition}, lasting {bounds}{ignoring}"
    if draft.pattern is not None:
        yield from _pattern_parts("PATTERN", draft.pattern)
        for group in draft.pattern.groups:
            yield from _pattern_parts("NO", group)
    if draft.within is not None:
        yield "WITHIN", "", duration_text(draft.within)
    yield "EMIT", "", draft.emit
    if draft.returns is None:
        yield "RETURN", "", "start and end of every symbol"
    for item in draft.returns or ():
        yield "RETURN", _written(item.source, item.tokens), f"column {item.name}, not yet understood"
    if draft.having is not None:
        yield "HAVING", _phrase(draft.having), "not yet understood"


def _pattern_parts(name: str, said: Conjunction) -> Iterator[tuple[str, str, str]]:
    for left, right, relations, place in said.written:
        yield name, place.text, f"{left} {'; '.join(words_of(relations))} {right}"
    for difference, place in said.distances:
        yield name, place.text, difference_text(difference)
    for symbol, low, high, place in said.lengths:
        yield name, place.text, f"{symbol} lasting {lasting(low, high)}"


def query_lines(query: Query) -> Lines:
    """Symbols, the one constraint of each pair, and the output columns with what they are made from."""
    symbols = symbols_section(query).table
    assert symbols is not None
    yield from table_lines(symbols)
    if query.constraints:
        yield ""
        yield from _table(("constraint of the pair",), [(constraint_text(one),) for one in query.constraints])
    if query.differences:
        yield ""
        yield from _table(("distance",), [(difference_text(one),) for one in query.differences])
    if query.absences:
        yield ""
        yield from _table(("absent",), [(absence_text(one),) for one in query.absences])
    yield ""
    yield from _table(("item", "asks for"), [(f"_item_{i}", item_text(x)) for i, x in enumerate(query.items)])
    yield ""
    returns = [(item.name, item.expression.sql) for item in query.returns]
    yield from _table(("output column", "is"), returns)
    if query.having is not None:
        yield ""
        yield f"Reported where {query.having.sql}."


def bound_lines(query: Query, bound: BoundQuery) -> Lines:
    """The columns that names stand for, the ticks that durations stand for, and the types of the items."""
    uses = (
        ("the time", (bound.time,)),
        ("a partition", bound.partition),
        ("decides equal times", bound.ties),
        ("an attribute", bound.attributes),
    )
    columns = [(use, column.name, column.type) for use, found in uses for column in found]
    yield from _table(("column for", "is", "of type"), columns)
    is_integer = bound.time.counts_ticks
    yield f"A tick of {bound.time.name} is {'1, whatever it counts' if is_integer else 'a microsecond'}."
    for before, after in zip(query.symbols, bound.query.symbols, strict=True):
        if before.condition != after.condition and after.condition is not None:
            bounds = lasting(after.at_least, after.at_most)
            yield (
                f"BETWEEN behind a boolean is a length: "
                f"{after.name} goes on while {after.condition.sql}, and lasts {bounds}."
            )
    lengths = list(_lengths(bound))
    if lengths:
        yield ""
        yield from _table(("length", "ticks"), lengths)
    yield ""
    kinds = zip(bound.query.items, bound.item_types, strict=True)
    yield from _table(("item", "of type"), [(item_text(item), kind) for item, kind in kinds])


def _lengths(bound: BoundQuery) -> Iterator[tuple[str, str]]:
    for symbol, least, most in zip(bound.query.symbols, bound.at_least, bound.at_most, strict=True):
        yield from _length(f"{quote(symbol.name)} AT LEAST", symbol.at_least, least)
        yield from _length(f"{quote(symbol.name)} AT MOST", symbol.at_most, most)
    yield from _length("WITHIN", bound.query.within, bound.within)


def _length(what: str, duration: Duration | None, ticks: int | None) -> Iterator[tuple[str, str]]:
    if duration is not None and ticks is not None:
        yield f"{what} {duration_text(duration)}", f"{ticks:,}"


def relation_lines(query: Query, matrix: IntArray) -> Lines:
    """The cells of the matrix that say something, each beside the one that says it the other way round."""
    names = query.symbol_names
    rows = [
        (relation_text(names, int(matrix[i, j]), i, j), relation_text(names, int(matrix[j, i]), j, i))
        for i, j in _said(matrix)
    ]
    if rows:
        yield from _table(("relations", "the other way round"), rows)
    else:
        yield "No symbol is related to another."


def reduced_lines(query: Query, reduced: Reduced) -> Lines:
    """What is left possible for each pair, and what path consistency did to it."""
    names = query.symbol_names
    removed = {(left, right): bits for left, right, bits in reduced.removed}
    inferred = {(left, right) for left, right, _ in reduced.inferred}
    rows = []
    for pair in _said(reduced.matrix):
        gone = ", ".join(names_of(removed.get(pair, 0)))
        how = "follows from the others" if pair in inferred else f"{gone} removed" if gone else "as written"
        rows.append((relation_text(names, int(reduced.matrix[pair]), *pair), how))
    if rows:
        yield from _table(("relations left", "how"), rows)
    else:
        yield "There is nothing to reduce."


def _said(matrix: IntArray) -> list[tuple[int, int]]:
    n = len(matrix)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if matrix[i, j] != ALL]


def trigger_lines(query: Query, triggers: Sequence[Trigger]) -> Lines:
    """Symbol by symbol, the instants at which a match can be reported."""
    if not query.can_match:
        yield _NO_PATTERN
        return
    rows = [
        (symbol.name, " or ".join(instants([symbol], [trigger])) or "never")
        for symbol, trigger in zip(query.symbols, triggers, strict=True)
    ]
    yield from _table(("symbol", "can complete a match at"), rows)


def plan_lines(query: Query, plan: Plan | None) -> Lines:
    """The order for whole batches with its estimates, and the orders that set out from one new situation."""
    if plan is None:
        yield _NO_PATTERN
        return
    section, names = plan_section(query, plan), query.symbol_names
    assert section.table is not None
    yield from section.lines
    yield from table_lines(section.table)
    yield ""
    rows = [(names[first], ", ".join(names[s] for s in plan.orders[first])) for first in plan.anchors]
    yield from _table(("a new situation of", "is joined in the order"), rows)


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    return table_lines(Table(columns, tuple(rows)))


def _phrase(phrase: Phrase) -> str:
    return _written(phrase.source, phrase.tokens)


def _written(source: Source, tokens: Sequence[Token]) -> str:
    """Tokens as they were written, on one line: a blank where anything stood between two of them."""
    parts: list[str] = []
    for number, token in enumerate(tokens):
        apart = number > 0 and tokens[number - 1].end < token.start
        parts.append(" " * apart + source.text[token.start : token.end])
    return " ".join("".join(parts).splitlines())
