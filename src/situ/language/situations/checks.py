"""A draft becomes a `Query` once everything that can be known without a schema is right (SEM 2, 3, 5)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.algebra.network import Network
from situ.algebra.relations import ALL, converse, names_of
from situ.errors import (
    DisconnectedPatternError,
    DuplicateNameError,
    DuplicateSymbolError,
    EndpointInConditionError,
    InconsistentPatternError,
    IntervalQueryError,
    MixedDurationsError,
    QuerySyntaxError,
    UnusedSymbolError,
)
from situ.language.situations.absent import (
    absence_of,
    absent_symbols,
    check_certain,
    check_followed,
    check_gaps_beside,
    is_followed,
)
from situ.language.situations.ast import Absence, Constraint, Difference, Item, Query, ReturnItem, Symbol
from situ.language.situations.composed import check_present, check_row_patterns
from situ.language.situations.define import MAX_SYMBOLS, too_many_symbols
from situ.language.situations.draft import Draft, Pattern, Written
from situ.language.situations.having import HavingReader
from situ.language.situations.lengths import check_lengths
from situ.language.situations.returns import ItemReader, unknown_symbol
from situ.language.situations.silence import check_silent
from situ.language.situations.tightest import tightest, with_lengths
from situ.language.text.looking import refuse_prev
from situ.language.text.nodes import Duration, Expression
from situ.language.text.places import Place
from situ.language.text.sql import lambda_names, paths
from situ.language.text.tokens import span_of
from situ.language.text.words import ITEM_ENDPOINTS, quote


def assemble(draft: Draft) -> Query:
    """Check the parts of a query against each other and put them together."""
    symbols, pattern = _symbols(draft), draft.pattern
    names = [symbol.name for symbol in symbols]
    absent: list[str] = []
    constraints: tuple[Constraint, ...] = ()
    differences: tuple[Difference, ...] = ()
    absences: tuple[Absence, ...] = ()
    _check_conditions(draft, names)
    if pattern is not None:
        _check_mentions(draft, pattern, names)
    _check_durations(draft, symbols)
    check_row_patterns(draft.definitions, is_intervals=draft.is_intervals)
    check_silent(draft.definitions, is_intervals=draft.is_intervals)
    if pattern is not None:
        order = {name: number for number, name in enumerate(names)}
        symbols = with_lengths(symbols, pattern.lengths)
        absent = absent_symbols(pattern)
        absences = tuple(map(absence_of, pattern.groups, absent, [order] * len(absent)))
        constraints = _constraints(pattern, names)
        differences = tightest(pattern.distances, order)
        check_followed(symbols, pattern)
        check_gaps_beside(symbols, pattern, absent)
        check_present(symbols, pattern, absent)
        _check_connected(pattern, [name for name in names if name not in absent])
        _check_consistent(pattern, names)
    items, returns, having = _returns(draft, names, absent)
    query = Query(
        source=draft.source,
        symbols=symbols,
        constraints=constraints,
        where=draft.where,
        order_by=draft.order_by,
        partition_by=draft.partition_by,
        intervals=draft.intervals,
        within=draft.within,
        emit=draft.emit,
        items=items,
        returns=returns,
        differences=differences,
        absences=absences,
        having=having,
        sources=draft.sources,
    )
    if pattern is not None:
        for absence, group in zip(absences, pattern.groups, strict=True):
            check_certain(absence, group.place)
    defined = {definition.symbol.name: definition.place for definition in draft.definitions}
    check_lengths(query, pattern, draft.within_place, defined)
    return query


def _symbols(draft: Draft) -> tuple[Symbol, ...]:
    by_column = draft.intervals is not None and draft.intervals.symbol_by is not None
    if by_column:
        if draft.pattern is None:
            raise draft.place.error(
                IntervalQueryError,
                "with SYMBOL BY the symbols are those of PATTERN, and there is none",
                hint="add PATTERN, or define the symbols: DEFINE A AS kind = 'A'",
            )
        mentioned = dict.fromkeys(mention.name for mention in draft.pattern.mentions)
        symbols = tuple(Symbol(name) for name in mentioned)
    else:
        symbols = _defined(draft)
    most = MAX_SYMBOLS - len(draft.sources)  # each of several sources takes the place of a symbol
    if len(symbols) > most:
        place = draft.definitions[most].place if draft.definitions else draft.place
        raise too_many_symbols(place, len(symbols), len(draft.sources))
    return symbols


def _defined(draft: Draft) -> tuple[Symbol, ...]:
    if not draft.definitions:
        if draft.is_intervals:
            raise draft.place.error(
                IntervalQueryError,
                "nothing says which interval is what",
                hint="write SYMBOL BY and the column that names the kind, or DEFINE A AS kind = 'A'",
            )
        raise draft.place.error(
            QuerySyntaxError,
            "DEFINE is missing",
            hint="say what to look for: situations, as in DEFINE A AS speed > 70, "
            "or a row pattern, as in FROM cars MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B+) ...)",
        )
    seen: set[str] = set()
    for definition in draft.definitions:
        name = definition.symbol.name
        if name in seen:
            raise definition.place.error(
                DuplicateSymbolError,
                f'the symbol "{name}" is defined twice',
                hint="give the second one another name; to widen the first, join the conditions with OR",
            )
        seen.add(name)
    return tuple(definition.symbol for definition in draft.definitions)


def _check_conditions(draft: Draft, names: Sequence[str]) -> None:
    """Start and end of a situation are not known while its condition is being evaluated."""
    # the variables of a row pattern are its own, and may be called like symbols
    written = [definition.written for definition in draft.definitions if definition.symbol.rows is None]
    if draft.where_written is not None:
        refuse_prev(*draft.where_written, "the condition of WHERE")
    qualifier = quote(draft.sources[0].alias) if draft.sources else draft.source
    for source, tokens in [*written, *([draft.where_written] if draft.where_written else [])]:
        variables = lambda_names(tokens)
        for first, last in paths(tokens):
            parts = [token.value for token in tokens[first : last + 1 : 2]]
            is_endpoint = len(parts) == 2 and parts[0] in names and parts[1].lower() in ITEM_ENDPOINTS
            if is_endpoint and parts[0].lower() not in variables:
                path = ".".join(parts)
                raise source.error(
                    EndpointInConditionError,
                    f"{path} is a start, end or length of a situation, but a condition sees only one row",
                    span_of(tokens[first : last + 1]),
                    hint="compare starts and ends in PATTERN, bound a length with AT LEAST or AT MOST; "
                    f"a field of a column called {parts[0]} is written {qualifier}.{path}",
                )


def _check_durations(draft: Draft, symbols: Sequence[Symbol]) -> None:
    bounds: list[tuple[Duration | None, Place | None]] = []
    for symbol in symbols:
        gap = None if symbol.ignoring is None else symbol.ignoring.duration
        window = None if symbol.rows is None else symbol.rows.within
        bounds += [(bound, None) for bound in (symbol.at_least, symbol.at_most, gap, window)]
    if draft.pattern is not None:
        for part in (draft.pattern, *draft.pattern.groups):
            bounds += [(one.difference.bound, one.place) for one in part.distances]
            bounds += [(bound, one.place) for one in part.lengths for bound in (one.at_least, one.at_most)]
    bounds.append((draft.within, draft.within_place))
    if len({bound.has_unit for bound, _ in bounds if bound is not None}) > 1:
        last = next((place for bound, place in reversed(bounds) if bound is not None and place), None)
        raise (last or draft.definitions[0].place).error(
            MixedDurationsError,
            "some durations of this query have a unit and others are plain numbers",
            hint="give all of them units for timestamps, or none of them for an integer time column",
        )


def _check_mentions(draft: Draft, pattern: Pattern, names: Sequence[str]) -> None:
    known = set(names)
    for mention in pattern.mentions:
        if mention.name not in known:
            raise unknown_symbol(mention.place, mention.name, names)
    mentioned = {mention.name for mention in pattern.mentions}
    for definition in draft.definitions:
        name = definition.symbol.name
        if name not in mentioned:
            raise definition.place.error(
                UnusedSymbolError,
                f'the symbol "{name}" is defined but PATTERN does not mention it',
                hint=f"relate it to another symbol in PATTERN, or remove the definition of {name}",
            )
    if draft.is_intervals:
        for written in pattern.written:
            if is_followed(written.relations):
                raise written.place.error(
                    IntervalQueryError,
                    "followed-by and follows ask for the events between, and intervals have none",
                    hint="use before or after",
                )


def _constraints(pattern: Pattern, names: Sequence[str]) -> tuple[Constraint, ...]:
    """One constraint per pair: the intersection, left before right in symbol order, sorted."""
    order = {name: number for number, name in enumerate(names)}
    pairs: dict[tuple[int, int], tuple[int, list[Written]]] = {}
    for written in pattern.written:
        left, right, relations = order[written.left], order[written.right], written.relations
        if left > right:
            left, right, relations = right, left, converse(relations)
        allowed, earlier = pairs.get((left, right), (ALL, []))
        if not allowed & relations:
            raise _contradiction(names[left], names[right], [*earlier, written])
        pairs[left, right] = (allowed & relations, [*earlier, written])
    return tuple(
        Constraint(names[left], names[right], relations)
        for (left, right), (relations, _) in sorted(pairs.items())
    )


def _contradiction(left: str, right: str, written: Sequence[Written]) -> Exception:
    texts = " and ".join(f'"{one.place.text}"' for one in written)
    return written[-1].place.error(
        InconsistentPatternError,
        f"the constraints between {left} and {right} exclude each other: {texts}",
        hint="if either may hold, separate them with ; instead of AND",
    )


def _check_connected(pattern: Pattern, names: Sequence[str]) -> None:
    """`names` are those of the symbols of the match."""
    neighbours: dict[str, set[str]] = {name: set() for name in names}
    for left, right, _ in pattern.related:
        neighbours[left].add(right)
        neighbours[right].add(left)
    reached, waiting = {names[0]}, [names[0]]
    while waiting:
        fresh = neighbours[waiting.pop()] - reached
        reached |= fresh
        waiting.extend(fresh)
    loose = [name for name in names if name not in reached]
    if loose:
        place = next(
            (mention.place for mention in pattern.mentions if mention.name == loose[0]), pattern.place
        )
        together = ", ".join(name for name in names if name in reached)
        raise place.error(
            DisconnectedPatternError,
            f"nothing relates {', '.join(loose)} to {together}: every combination would match",
            hint=f"add a constraint such as {quote(names[0])} before {quote(loose[0])}",
        )


def _check_consistent(pattern: Pattern, names: Sequence[str]) -> None:
    order = {name: number for number, name in enumerate(names)}
    network = Network(len(names))
    for written in pattern.written:
        network.constrain(order[written.left], order[written.right], written.relations)
    conflict = network.propagate().conflict
    if conflict is None:
        return
    involved = [pattern.written[number] for number in conflict.constraints]
    left, right = names[conflict.pair.left], names[conflict.pair.right]
    others = " and ".join(f'"{one.place.text}"' for one in involved[:-1])
    allowed = ";".join(names_of(conflict.allowed))
    raise involved[-1].place.error(
        InconsistentPatternError,
        f'no {left} and {right} can be as "{involved[-1].place.text}" says, because of {others}',
        hint=f"together these leave only: {left} {allowed} {right}" if allowed else None,
    )


def _returns(
    draft: Draft, names: Sequence[str], absent: Sequence[str]
) -> tuple[tuple[Item, ...], tuple[ReturnItem, ...], Expression | None]:
    """The items that RETURN, and behind them those that only HAVING asks for; both over them."""
    positive = [name for name in names if name not in absent]
    reader = ItemReader(positive, is_intervals=draft.is_intervals, absent=absent)
    if draft.returns is None:
        items, returns = default_returns(positive)
        reader.items = {item: number for number, item in enumerate(items)}
        places = [draft.place] * len(returns)
    else:
        returns = tuple(reader.read(text) for text in draft.returns)
        places = [text.place for text in draft.returns]
    _check_output_names(draft, returns, places)
    having = None
    if draft.having is not None:
        behind = HavingReader(positive, is_intervals=draft.is_intervals, items=reader.items, absent=absent)
        having = behind.condition(draft.having, returns)
    return tuple(reader.items), returns, having


def default_returns(names: Sequence[str]) -> tuple[tuple[Item, ...], tuple[ReturnItem, ...]]:
    """What `RETURN *` stands for (SEM 5.1)."""
    items = tuple(Item(end, name) for name in names for end in ("ts", "te"))
    returns = tuple(
        ReturnItem(f"{item.symbol}_{item.function}", Expression(f"_item_{number}", (f"_item_{number}",)))
        for number, item in enumerate(items)
    )
    return items, returns


def _check_output_names(draft: Draft, returns: Sequence[ReturnItem], places: Sequence[Place]) -> None:
    taken = {column.lower(): f"the partition column {column}" for column in draft.partition_by}
    taken["match_time"] = "the time of the match, which situ adds"
    for item, place in zip(returns, places, strict=True):
        name = item.name.lower()
        if name in taken:
            raise place.error(
                DuplicateNameError,
                f'two output columns are called "{item.name}" (case does not matter): '
                f"{taken[name]} is the other",
                hint="choose another name"
                if draft.returns is not None
                else "list the items in RETURN with other names",
            )
        taken[name] = f"the item {item.name}"
