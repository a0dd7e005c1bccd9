"""Query text to clauses, by a reader that shares nothing with situ.

It takes well-formed queries only, so a misreading by situ's own parser shows as a disagreement with the
oracles instead of cancelling out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from conformance.lengths import BOUNDS, DURATION, bounds, ticks
from conformance.patterns import Constraints, pattern
from oracles.question import Absence, Difference, Gaps, Item

CLAUSES = (
    "FROM|WHERE|ORDER BY|PARTITION BY|SYMBOL BY|STARTING|ENDING|ID BY|DEFINE|PATTERN|WITHIN|EMIT"
    "|RETURN|HAVING"
).replace(" ", r"\s+")
ANY_LENGTH = "|".join(re.sub(r"\((?!\?)", "(?:", bound) for bound in BOUNDS.values())
LENGTH = rf"\s({ANY_LENGTH})$"
IGNORING = rf"\sIGNORING\s+GAPS\s+UP\s+TO\s+(?:(\d+)\s+EVENTS?|({DURATION}))$"
PREV = r"\bprev\s*\(((?:[^(),]|\([^()]*\))*)(?:,\s*(\d+)\s*)?\)"


@dataclass(frozen=True)
class Table:
    """One of several sources: its FROM name, what the query calls it, and its columns (SEM 13)."""

    name: str
    alias: str
    order_by: tuple[str | None, ...]  # None: a column that breaks ties in other sources
    partition_by: tuple[str, ...]


@dataclass(frozen=True)
class Defined:
    """One entry of DEFINE; `condition` is None for SILENCE, `on` the name behind ON."""

    name: str
    condition: str | None
    at_least: int | None = None
    at_most: int | None = None
    ignoring: Gaps | None = None
    on: str | None = None


@dataclass(frozen=True)
class Asked:
    """The clauses of a query: durations in ticks, SQL still as text, RETURN expressions over `_item_<i>`."""

    source: str  # the name conditions may qualify columns with
    symbols: tuple[str, ...]  # the positive ones
    conditions: dict[str, str]  # empty where SYMBOL BY gives the symbols
    at_least: dict[str, int]
    at_most: dict[str, int]
    constraints: Constraints
    differences: tuple[Difference, ...]
    absences: tuple[Absence, ...]
    silences: frozenset[str]
    gaps: dict[str, Gaps]
    on: dict[str, str]
    items: tuple[Item, ...]  # those of RETURN
    returns: tuple[tuple[str, str], ...]  # (expression, name)
    patterns: dict[str, str]  # SEM 17: what stands inside MATCH_RECOGNIZE
    having: str | None  # over `_item_<i>` of `having_items`
    having_items: tuple[Item, ...]
    tables: tuple[Table, ...]  # empty where there is one source
    where: str | None
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    within: int | None
    emit: str
    symbol_by: str | None
    starting: str | None
    ending: str | None
    id_by: str | None


def read(text: str) -> Asked:
    """The clauses of a well-formed query."""
    text, inside = without_patterns(text)
    parts = clauses(text)
    said = pattern(parts.get("PATTERN", ""))
    defined = [define(entry) for entry in split(parts.get("DEFINE", ""))]
    absent = {group.symbol for group in said.absences}
    symbols = tuple(one.name for one in defined if one.name not in absent) or said.positive
    reader = Items(symbols)
    returned = returns(parts.get("RETURN", "*"), symbols, reader)
    of_having = Items(symbols)
    tables = sources(parts["FROM"], parts.get("PARTITION BY", ""), parts.get("ORDER BY", ""))
    return Asked(
        source=parts["FROM"].split()[-1],
        symbols=symbols,
        conditions={one.name: one.condition for one in defined if one.condition not in (None, *inside)},
        at_least=tighter({one.name: one.at_least for one in defined}, said.at_least, max),
        at_most=tighter({one.name: one.at_most for one in defined}, said.at_most, min),
        constraints=said.constraints,
        differences=said.differences,
        absences=said.absences,
        silences=frozenset(one.name for one in defined if one.condition is None),
        gaps={one.name: one.ignoring for one in defined if one.ignoring is not None},
        on={one.name: one.on for one in defined if one.on is not None},
        items=tuple(reader.found),
        returns=returned,
        patterns={one.name: inside[one.condition] for one in defined if one.condition in inside},
        having=having(parts["HAVING"], parts.get("RETURN", ""), of_having) if "HAVING" in parts else None,
        having_items=tuple(of_having.found),
        tables=tables,
        where=parts.get("WHERE"),
        order_by=tables[0].order_by if tables else columns(parts.get("ORDER BY", "")),
        partition_by=tables[0].partition_by if tables else columns(parts.get("PARTITION BY", "")),
        within=ticks(parts["WITHIN"]) if "WITHIN" in parts else None,
        emit=parts.get("EMIT", "EARLY").upper(),
        **{
            name.replace(" ", "_").lower(): unquoted(parts[name]) if name in parts else None
            for name in ("SYMBOL BY", "STARTING", "ENDING", "ID BY")
        },
    )


def without_patterns(text: str) -> tuple[str, dict[str, str]]:
    """The text with a name in place of each row pattern, and what these stand for (SEM 17.1)."""
    found: dict[str, str] = {}
    while begin := re.search(r"\bAS\s+(MATCH_RECOGNIZE\s*\()", text, re.I):
        depth, end = 1, begin.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        name = f"pattern_{len(found)}"
        found[name] = text[begin.end() : end - 1]
        text = text[: begin.start(1)] + name + text[end:]
    return text, found


def tighter(
    defined: dict[str, int | None], of_pattern: dict[str, int], choose: Callable[[int, int], int]
) -> dict[str, int]:
    """The bounds of DEFINE and of PATTERN together."""
    found = {name: bound for name, bound in defined.items() if bound is not None}
    return found | {name: choose(bound, found.get(name, bound)) for name, bound in of_pattern.items()}


def sources(of_from: str, partition_by: str, order_by: str) -> tuple[Table, ...]:
    """SEM 13.2, 13.4: `FROM weather AS w, flights AS f`, columns by name or paired."""
    named = [re.split(r"\s+(?:AS\s+)?", entry, flags=re.I) for entry in split(of_from)]
    if len(named) == 1:
        return ()
    return tuple(
        Table(name[0], name[-1], own(order_by, name[-1]), own(partition_by, name[-1])) for name in named
    )


def own(text: str, alias: str) -> tuple[str | None, ...]:
    """Of every entry the column of this source: the one qualified by it, or a bare one; None: it has none."""
    chosen = []
    for entry in split(text):
        names = [name.strip().split(".") for name in entry.split("=")]
        of_source = [unquoted(name[-1]) for name in names if len(name) == 1 or unquoted(name[0]) == alias]
        chosen.append(of_source[0] if of_source else None)
    return tuple(chosen)


def clauses(text: str) -> dict[str, str]:
    text = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    starts = list(re.finditer(rf"(?<!apart[\s-])\b({CLAUSES})\b", text, re.I))  # SEM 10.1: `apart from`
    ends = [start.start() for start in starts[1:]] + [len(text)]
    pieces = zip(starts, ends, strict=True)
    return {" ".join(start[1].upper().split()): text[start.end() : end].strip() for start, end in pieces}


def split(text: str) -> list[str]:
    """Cut at commas outside parentheses and strings."""
    pieces, depth = [""], 0
    for token in re.findall(r"'[^']*'|.", text, re.S):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += token
    return [piece.strip() for piece in pieces] if text.strip() else []


def columns(text: str) -> tuple[str, ...]:
    """Column names, without the FROM name that may qualify them."""
    return tuple(unquoted(name.rsplit(".")[-1]) for name in split(text))


def unquoted(name: str) -> str:
    return name.strip("` ")


def define(entry: str) -> Defined:
    """`A [ON w] AS condition [length] [IGNORING GAPS ...]`."""
    name, on, condition = re.fullmatch(
        r"(\w+|`[^`]+`)(?:\s+ON\s+(\w+))?\s+AS\s+(.*)", entry, re.I | re.S
    ).groups()
    ignoring, least, most = None, None, None
    if found := re.search(IGNORING, condition, re.I):
        ignoring = Gaps(events=int(found[1])) if found[1] else Gaps(ticks=ticks(found[2]))
        condition = condition[: found.start()]
    if found := re.search(LENGTH, condition, re.I):
        least, most = bounds(found[1])
        condition = condition[: found.start()]
    is_silence = condition.strip().upper() == "SILENCE"
    return Defined(unquoted(name), None if is_silence else condition, least, most, ignoring, on)


class Items:
    """The items that expressions ask for, each once; in the expressions they become `_item_<i>`."""

    def __init__(self, symbols: tuple[str, ...]) -> None:
        one_of, attribute = "|".join(symbols), r"\.(\w+|`[^`]+`)"
        functions = "first|last|count|sum|avg|min|max|stddev|median|percentile|collect_list"
        aggregated = rf"\b({functions})\s*\(\s*({one_of})(?:{attribute})?\s*(?:,\s*([\d.]+)\s*)?\)"
        self.forms = rf"{aggregated}|\b({one_of}){attribute}"
        self.found: dict[Item, None] = {}

    def replaced(self, expression: str) -> str:
        return re.sub(self.forms, self._column, expression, flags=re.I)

    def _column(self, found: re.Match[str]) -> str:
        function, symbol, inner, fraction, bare_symbol, outer = found.groups()
        if function:
            called = f"{function.lower()} {fraction}" if fraction else function.lower()
            item: Item = (called, symbol, inner and unquoted(inner))
        elif outer in ("ts", "te", "duration"):
            item = (outer, bare_symbol, None)
        else:
            item = ("value", bare_symbol, unquoted(outer))
        self.found.setdefault(item)
        return f"_item_{list(self.found).index(item)}"


def named(text: str) -> list[tuple[str, str]]:
    """The entries of RETURN as (expression, name)."""
    entries = (re.fullmatch(r"(.*)\s+AS\s+(\w+|`[^`]+`)", entry, re.I | re.S) for entry in split(text))
    return [(found[1], unquoted(found[2])) for found in entries]


def returns(text: str, symbols: tuple[str, ...], items: Items) -> tuple[tuple[str, str], ...]:
    """The expressions of RETURN over its items, with their names."""
    if text.strip() == "*":
        text = ", ".join(f"{symbol}.{end} AS {symbol}_{end}" for symbol in symbols for end in ("ts", "te"))
    return tuple((items.replaced(expression), name) for expression, name in named(text))


def having(text: str, of_return: str, items: Items) -> str:
    """SEM 13.1: a condition over items, in which names of RETURN stand for their expressions."""
    for expression, name in named(of_return) if of_return.strip() not in ("", "*") else []:
        text = re.sub(rf"(?<![\w.`])`?{name}`?(?!\w|\s*[.(])", f"({expression})", text)
    return items.replaced(text)
