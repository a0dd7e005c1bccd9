"""A draft becomes a `RowQuery` once everything that can be known without a schema is right."""

from __future__ import annotations

from collections.abc import Collection

from situ.errors import (
    DuplicateNameError,
    DuplicateSymbolError,
    NavigationError,
    RowPatternError,
    UnknownVariableError,
)
from situ.language.rows.ast import Definition, Item, MatchNumber, Measure, RowQuery, Subset
from situ.language.rows.draft import Draft, Mention
from situ.language.rows.items import ItemReader
from situ.language.rows.names import variable_text
from situ.language.rows.onerow import Names
from situ.language.rows.skips import always_at_first_row
from situ.language.rows.together import check_mode, check_strategy, check_unmatched, skip_of
from situ.language.text.nodes import Expression
from situ.language.text.tokens import did_you_mean


def assemble(draft: Draft) -> RowQuery:
    """Check the parts of a query against each other and put them together."""
    primaries = dict.fromkeys(mention.name for mention in draft.pattern.mentions)
    subsets = _subsets(draft, primaries)
    _check_defined(draft, primaries, subsets)
    check_strategy(draft)
    check_mode(draft)
    check_unmatched(draft)
    reader = ItemReader(Names(primaries | dict.fromkeys(subset.name for subset in subsets), draft.scope))
    measures = tuple(
        Measure(one.name, reader.read(one.expression, "MEASURES", f"the measure {one.name}"))
        for one in draft.measures
    )
    definitions = tuple(
        Definition(
            one.variable.name,
            reader.read(one.condition, "DEFINE", f"the condition of {variable_text(one.variable.name)}"),
        )
        for one in draft.definitions
    )
    _check_output_names(draft)
    query = RowQuery(
        source=draft.source,
        order_by=draft.order_by,
        pattern=draft.pattern.pattern,
        partition_by=draft.partition_by,
        items=tuple(reader.items),
        measures=measures,
        definitions=definitions,
        subsets=subsets,
        rows=draft.rows,
        empty=draft.empty,
        skip=skip_of(draft),
        strategy=draft.strategy,
        mode=draft.mode,
        within=draft.within,
        where=draft.where,
        alias=draft.alias,
    )
    _check_skip(draft, query)
    _check_match_number(draft, query)
    return query


# -- variables


def _subsets(draft: Draft, primaries: dict[str, None]) -> tuple[Subset, ...]:
    """The union variables (ROW 2.2)."""
    unions = {subset.name.name for subset in draft.subsets}
    seen: set[str] = set()
    for subset in draft.subsets:
        name, place = subset.name
        if name in primaries:
            raise place.error(
                RowPatternError,
                f"{variable_text(name)} is a variable of PATTERN already",
                hint="give the union another name",
            )
        if name in seen:
            raise place.error(DuplicateSymbolError, f"SUBSET has {variable_text(name)} twice")
        seen.add(name)
        for member in subset.members:
            if member.name in unions:
                raise member.place.error(
                    RowPatternError,
                    f"{variable_text(member.name)} is a union itself, and a union is of variables of PATTERN",
                    hint="list the variables of both",
                )
            if member.name not in primaries:
                raise _unknown(member, primaries, "SUBSET")
    return tuple(
        Subset(one.name.name, tuple(dict.fromkeys(member.name for member in one.members)))
        for one in draft.subsets
    )


def _check_defined(draft: Draft, primaries: dict[str, None], subsets: tuple[Subset, ...]) -> None:
    """DEFINE is about variables of PATTERN, each once (ROW 2.1)."""
    seen: set[str] = set()
    unions = {subset.name for subset in subsets}
    for mention in draft.pattern.mentions:
        if mention.name in unions:
            raise mention.place.error(
                RowPatternError,
                f"{variable_text(mention.name)} is a union, and PATTERN is made of its members",
                hint="write its members as alternatives: (A | B)",
            )
    for definition in draft.definitions:
        name, place = definition.variable
        if name in unions:
            raise place.error(
                RowPatternError,
                f"{variable_text(name)} is a union: its rows are those of its members",
                hint="define the members",
            )
        if name not in primaries:
            raise _unknown(definition.variable, primaries, "DEFINE")
        if name in seen:
            raise place.error(
                DuplicateSymbolError,
                f"the variable {variable_text(name)} is defined twice",
                hint="join the conditions with AND or OR; an unquoted name stands for its upper case",
            )
        seen.add(name)


def _unknown(mention: Mention, primaries: Collection[str], clause: str) -> Exception:
    listed = ", ".join(map(variable_text, primaries))
    return mention.place.error(
        UnknownVariableError,
        f"{clause} names {variable_text(mention.name)}, which is not in PATTERN",
        hint=did_you_mean(mention.name, primaries)
        or (f"the variables are {listed}" if listed else "the pattern has no variables"),
    )


def _check_skip(draft: Draft, query: RowQuery) -> None:
    """SKIP TO a variable that there is, and not always to the row where the match began (ROW 4.9)."""
    skip, place = query.skip, draft.skip_place or draft.place
    if skip.variable is None:
        return
    known = [*query.variables, *(subset.name for subset in query.subsets)]
    if skip.variable not in known:
        raise _unknown(Mention(skip.variable, place), known, "AFTER MATCH")
    if always_at_first_row(query.pattern, query.members(skip.variable), skip.to == "first"):
        name = variable_text(skip.variable)
        which = "the first" if skip.to == "first" else "a"
        raise place.error(
            RowPatternError,
            f"SKIP TO {skip.to.upper()} {name} would go on at the row where the match began: "
            f"{which} row of {name} can only be the first row of a match",
            hint="write AFTER MATCH SKIP TO NEXT ROW",
        )


# -- expressions


def _check_match_number(draft: Draft, query: RowQuery) -> None:
    """Conditions do not know the number where it depends on matches not yet found (ROW 3.5)."""
    if query.mode != "incremental" and query.strategy != "any":
        return
    told = "INCREMENTAL MATCH" if query.mode else "STRATEGY SKIP TILL ANY"
    for text, definition in zip(draft.definitions, query.definitions, strict=True):
        if any(isinstance(item, MatchNumber) for item in items_of(query, definition.condition)):
            raise text.variable.place.error(
                NavigationError,
                f"the condition of {variable_text(definition.variable)} uses MATCH_NUMBER(), "
                f"which {told} gives matches only when all are known",
                hint="use MATCH_NUMBER() in MEASURES",
            )


def items_of(query: RowQuery, expression: Expression) -> list[Item]:
    """The items that an expression of DEFINE or MEASURES reads."""
    return [query.items[int(column.removeprefix("_item_"))] for column in expression.columns]


def _check_output_names(draft: Draft) -> None:
    """What is known of the output without a schema (ROW 6.5)."""
    taken = {column.lower(): f"the PARTITION BY column {column}" for column in draft.partition_by}
    if draft.rows == "all":
        for order in draft.order_by:
            taken.setdefault(order.name.lower(), f"the ORDER BY column {order.name}")
    for measure in draft.measures:
        if (other := taken.get(measure.name.lower())) is not None:
            raise measure.place.error(
                DuplicateNameError,
                f'two output columns are called "{measure.name}" (case does not matter): '
                f"{other} is the other",
                hint="choose another name",
            )
        taken[measure.name.lower()] = f"the measure {measure.name}"
