"""Query text to clauses, by a reader that shares nothing with situ.

It takes well-formed queries only, so a misreading by situ's own parser shows as a disagreement with the
oracles instead of cancelling out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.patterns import Constraints, pattern

CLAUSES = (
    "FROM|WHERE|ORDER BY|PARTITION BY|SYMBOL BY|STARTING|ENDING|ID BY|DEFINE|PATTERN|WITHIN|EMIT|RETURN"
).replace(" ", r"\s+")
MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
UNITS = {"mic": "us", "mil": "ms", "sec": "s", "min": "m", "hou": "h", "day": "d"}
DURATION = r"(?:INTERVAL\s+)?'?[\d.]+'?\s*[a-z]*"
BOUNDS = {
    "least": rf"\sAT\s+LEAST\s+({DURATION})$",
    "most": rf"\sAT\s+MOST\s+({DURATION})$",
    "both": rf"\sBETWEEN\s+({DURATION})\s+AND\s+({DURATION})$",
}

Item = tuple[str, str, str | None]


@dataclass(frozen=True)
class Asked:
    """The clauses of a query: durations in ticks, SQL still as text, RETURN expressions over `_item_<i>`."""

    source: str  # the name conditions may qualify columns with
    symbols: tuple[str, ...]
    conditions: dict[str, str]  # empty where SYMBOL BY gives the symbols
    at_least: dict[str, int]
    at_most: dict[str, int]
    constraints: Constraints
    items: tuple[Item, ...]
    returns: tuple[tuple[str, str], ...]  # (expression, name)
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
    parts = clauses(text)
    constraints, met = pattern(parts.get("PATTERN", ""))
    defined = [define(entry) for entry in split(parts.get("DEFINE", ""))]
    symbols = tuple(name for name, *_ in defined) or met
    items, returned = returns(parts.get("RETURN", "*"), symbols)
    return Asked(
        source=parts["FROM"].split()[-1],
        symbols=symbols,
        conditions={name: condition for name, condition, _, _ in defined},
        at_least={name: least for name, _, least, _ in defined if least is not None},
        at_most={name: most for name, _, _, most in defined if most is not None},
        constraints=constraints,
        items=items,
        returns=returned,
        where=parts.get("WHERE"),
        order_by=columns(parts.get("ORDER BY", "")),
        partition_by=columns(parts.get("PARTITION BY", "")),
        within=ticks(parts["WITHIN"]) if "WITHIN" in parts else None,
        emit=parts.get("EMIT", "EARLY").upper(),
        **{
            name.replace(" ", "_").lower(): unquoted(parts[name]) if name in parts else None
            for name in ("SYMBOL BY", "STARTING", "ENDING", "ID BY")
        },
    )


def clauses(text: str) -> dict[str, str]:
    text = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    starts = list(re.finditer(rf"\b({CLAUSES})\b", text, re.I))
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


def ticks(text: str) -> int:
    """SEM 7: a plain number of ticks, or a number and a unit in microseconds."""
    number, unit = re.fullmatch(r"(?:INTERVAL\s+)?'?([\d.]+)'?\s*([a-z]*)", text.strip(), re.I).groups()
    if not unit:
        return int(number)
    unit = unit.lower()
    return round(float(number) * MICROSECONDS[UNITS.get(unit[:3], unit)])


def define(entry: str) -> tuple[str, str, int | None, int | None]:
    """`A AS condition [bounds]` as (A, condition, at least, at most)."""
    name, condition = re.fullmatch(r"(\w+|`[^`]+`)\s+AS\s+(.*)", entry, re.I | re.S).groups()
    for kind, bound in BOUNDS.items():
        if found := re.search(bound, condition, re.I):
            least = None if kind == "most" else ticks(found[1])
            most = None if kind == "least" else ticks(found[found.lastindex])
            return unquoted(name), condition[: found.start()], least, most
    return unquoted(name), condition, None, None


def returns(text: str, symbols: tuple[str, ...]) -> tuple[tuple[Item, ...], tuple[tuple[str, str], ...]]:
    """The items a RETURN clause asks for, each once, and its expressions over them."""
    if text.strip() == "*":
        text = ", ".join(f"{symbol}.{end} AS {symbol}_{end}" for symbol in symbols for end in ("ts", "te"))
    one_of, attribute = "|".join(symbols), r"\.(\w+|`[^`]+`)"
    functions = "first|last|count|sum|avg|min|max|stddev|median|percentile|collect_list"
    aggregated = rf"\b({functions})\s*\(\s*({one_of})(?:{attribute})?\s*(?:,\s*([\d.]+)\s*)?\)"
    bare = rf"\b({one_of}){attribute}"
    items: dict[Item, None] = {}

    def column(found: re.Match[str]) -> str:
        function, symbol, inner, fraction, bare_symbol, outer = found.groups()
        if function:
            called = f"{function.lower()} {fraction}" if fraction else function.lower()
            item: Item = (called, symbol, inner and unquoted(inner))
        elif outer in ("ts", "te", "duration"):
            item = (outer, bare_symbol, None)
        else:
            item = ("value", bare_symbol, unquoted(outer))
        items.setdefault(item)
        return f"_item_{list(items).index(item)}"

    returned = []
    for entry in split(text):
        expression, name = re.fullmatch(r"(.*)\s+AS\s+(\w+|`[^`]+`)", entry, re.I | re.S).groups()
        returned.append((re.sub(f"{aggregated}|{bare}", column, expression, flags=re.I), unquoted(name)))
    return tuple(items), tuple(returned)
