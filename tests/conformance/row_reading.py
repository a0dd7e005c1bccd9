"""Text of a well-formed row pattern query to clauses, by a reader that shares nothing with situ."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.lengths import ticks
from conformance.reading import named, split, unquoted
from conformance.row_patterns import mentioned, read_pattern
from oracles.row_items import Pattern

CLAUSES = (
    "PARTITION BY|ORDER BY|MEASURES|ONE ROW PER MATCH|ALL ROWS PER MATCH|AFTER MATCH SKIP|STRATEGY"
    "|MAXIMAL MATCH|INCREMENTAL MATCH|PATTERN|WITHIN|SUBSET|DEFINE"
).replace(" ", r"\s+")
EMPTY = {"SHOW": "show", "OMIT": "omit", "WITH": "unmatched"}


@dataclass(frozen=True)
class RowAsked:
    """The clauses: SQL still as text, variables as ROW 2.1 reads them."""

    where: str | None
    partition_by: tuple[str, ...]
    order_by: tuple[tuple[str, bool, bool], ...]  # column, descending, nulls last
    measures: tuple[tuple[str, str], ...]  # expression, name
    rows: str
    empty: str
    skip: tuple[str, ...]  # past, next, first or last, with a variable
    strategy: str
    mode: str | None
    pattern: Pattern
    within: int | None
    unions: dict[str, tuple[str, ...]]
    conditions: dict[str, str]

    @property
    def variables(self) -> tuple[str, ...]:
        return mentioned(self.pattern)


def is_row_pattern(text: str) -> bool:
    return bool(re.search(r"\bMATCH_RECOGNIZE\b", text, re.I))


def read_rows(text: str) -> RowAsked:
    """The clauses of a well-formed query."""
    text = re.sub(r"--[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    source, inside = re.fullmatch(
        r"\s*(?:SELECT\s+\*\s+)?FROM\s+(.*?)\bMATCH_RECOGNIZE\s*\((.*)\)[^)]*", text, re.I | re.S
    ).groups()
    parts = clauses(inside)
    where = re.search(r"\bWHERE\b(.*)\)", source, re.I | re.S)
    shown = parts.get("ALL ROWS PER MATCH")
    mode = next(
        (name.split()[0].lower() for name in parts if name.endswith(" MATCH") and " ROW" not in name), None
    )
    strategy = parts.get("STRATEGY", "CONTIGUOUS").split()[-1].lower()
    return RowAsked(
        where=where and where[1],
        partition_by=tuple(map(unquoted, split(parts.get("PARTITION BY", "")))),
        order_by=tuple(map(ordered, split(parts["ORDER BY"]))),
        measures=tuple(named(parts.get("MEASURES", ""))),
        rows="one" if shown is None else "all",
        empty=EMPTY[shown.split()[0].upper()] if shown else "show",
        skip=skip(parts.get("AFTER MATCH SKIP"), strategy != "contiguous" or mode is not None),
        strategy=strategy,
        mode=mode,
        pattern=read_pattern(parts["PATTERN"].strip()[1:-1]),
        within=ticks(parts["WITHIN"]) if "WITHIN" in parts else None,
        unions=dict(map(union, split(parts.get("SUBSET", "")))),
        conditions=dict(map(condition, split(parts.get("DEFINE", "")))),
    )


def clauses(text: str) -> dict[str, str]:
    """What stands behind each keyword that is in no brackets and no string."""
    masked = re.sub(r"'[^']*'|`[^`]*`", lambda found: "_" * len(found[0]), text)
    depth, open_at = 0, []
    for token in masked:
        depth -= token == ")"
        open_at.append(depth)
        depth += token == "("
    starts = [
        found for found in re.finditer(rf"\b({CLAUSES})\b", masked, re.I) if open_at[found.start()] == 0
    ]
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return {
        " ".join(start[1].upper().split()): text[start.end() : end].strip()
        for start, end in zip(starts, ends, strict=True)
    }


def ordered(entry: str) -> tuple[str, bool, bool]:
    """ROW 1.5: nulls first of ascending ones, last of descending ones, unless told."""
    name, *rest = re.findall(r"`[^`]+`|\w+", entry)
    words = [word.upper() for word in rest]
    descending = "DESC" in words
    nulls_last = "LAST" in words if "NULLS" in words else descending
    return unquoted(name), descending, nulls_last


def skip(text: str | None, to_next: bool) -> tuple[str, ...]:
    words = (text or ("TO NEXT ROW" if to_next else "PAST LAST ROW")).split()
    if words[0].upper() == "PAST":
        return ("past",)
    if [word.upper() for word in words[1:]] == ["NEXT", "ROW"]:
        return ("next",)
    return ("first" if len(words) == 3 and words[1].upper() == "FIRST" else "last", variable(words[-1]))


def variable(name: str) -> str:
    """ROW 2.1."""
    return name.strip()[1:-1] if name.strip().startswith("`") else name.strip().upper()


def union(entry: str) -> tuple[str, tuple[str, ...]]:
    name, members = re.fullmatch(r"(.*?)\s*=\s*\((.*)\)", entry, re.S).groups()
    return variable(name), tuple(map(variable, split(members)))


def condition(entry: str) -> tuple[str, str]:
    name, text = re.fullmatch(r"(\w+|`[^`]+`)\s+AS\s+(.*)", entry, re.I | re.S).groups()
    return variable(name), text
