"""Expressions of row patterns as text and as the oracle's data at once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from oracles.row_items import NUMBER, Aggregate, Expression, Item, Navigation, OfRow

Unions = dict[str, tuple[str, ...]]


class Piece(NamedTuple):
    """`combine` takes the values of the items."""

    text: str
    combine: Callable[..., Any]
    items: tuple[Item, ...]

    @property
    def expression(self) -> Expression:
        return Expression(self.combine, self.items)


class Of(NamedTuple):
    """A variable by the name it is written with, and the primary variables it stands for."""

    name: str = ""
    members: frozenset[str] | None = None

    def prefix(self) -> str:
        return f"{self.name}." if self.name else ""


ALL = Of()


def column(name: str) -> OfRow:
    return lambda row, _: row[name]


def classified(_: Any, variable: str | None) -> str | None:
    return variable


def itself(value: Any) -> Any:
    return value


def literal(text: str, value: Any) -> Piece:
    return Piece(text, lambda: value, ())


def col(name: str, of: Of = ALL) -> Piece:
    """`x` or `A.x`."""
    return Piece(f"{of.prefix()}{name}", itself, (Navigation(column(name), of.members),))


def logical(name: str, of: Of = ALL, first: bool = False, n: int = 0, mode: str = "") -> Piece:
    """FIRST and LAST; the mode is RUNNING, FINAL or nothing."""
    offset = f", {n}" if n else ""
    text = f"{'FIRST' if first else 'LAST'}({of.prefix()}{name}{offset})"
    item = Navigation(column(name), of.members, first, n, is_final=mode == "FINAL")
    return Piece(f"{mode} {text}".strip(), itself, (item,))


def physical(inside: Piece, shift: int) -> Piece:
    """PREV of a negative shift, NEXT of a positive one, around a column or a logical navigation."""
    mode, _, bare = inside.text.rpartition("FINAL ") if "FINAL " in inside.text else ("", "", inside.text)
    n = f", {abs(shift)}" if abs(shift) != 1 else ""
    text = f"{'PREV' if shift < 0 else 'NEXT'}({bare}{n})"
    (item,) = inside.items
    final = "FINAL " if isinstance(item, Navigation) and item.is_final else mode
    return Piece(f"{final}{text}", itself, (item._replace(shift=shift),))


def aggregate(
    function: str,
    name: str | None = None,
    of: Of = ALL,
    mode: str = "",
    distinct: bool = False,
    where: tuple[str, OfRow] | None = None,
) -> Piece:
    """Of a column, of `*` where there is no name, of CLASSIFIER() where that is the name."""
    if name == "CLASSIFIER":
        inside, read = f"CLASSIFIER({of.name})", classified
    elif name is None:
        inside, read = f"{of.prefix()}*", None
    else:
        inside, read = f"{of.prefix()}{name}", column(name)
    text = f"{function}({'DISTINCT ' if distinct else ''}{inside})"
    if where:
        text += f" FILTER (WHERE {of.prefix()}{where[0]})"
    item = Aggregate(function, read, of.members, distinct, where and where[1], mode == "FINAL")
    return Piece(f"{mode} {text}".strip(), itself, (item,))


def classifier(of: Of = ALL, first: bool | None = None, n: int = 0, mode: str = "") -> Piece:
    """CLASSIFIER(U), or FIRST(CLASSIFIER(U), n)."""
    text = f"CLASSIFIER({of.name})"
    if first is not None:
        text = f"{'FIRST' if first else 'LAST'}({text}{f', {n}' if n else ''})"
    item = Navigation(classified, of.members, bool(first), n, is_final=mode == "FINAL")
    return Piece(f"{mode} {text}".strip(), itself, (item,))


NUMBERED = Piece(NUMBER, itself, (NUMBER,))


def lifted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Null of null."""
    return lambda *values: None if None in values else function(*values)


def joined(text: str, function: Callable[[Any, Any], Any], left: Piece, right: Piece) -> Piece:
    n = len(left.items)

    def combine(*values: Any) -> Any:
        return function(left.combine(*values[:n]), right.combine(*values[n:]))

    return Piece(text, combine, (*left.items, *right.items))


SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
    "+": operator.add,
    "-": operator.sub,
}


def binary(left: Piece, sign: str, right: Piece | int | float | str) -> Piece:
    if not isinstance(right, Piece):
        right = literal(f"'{right}'" if isinstance(right, str) else str(right), right)
    return joined(f"{left.text} {sign} {right.text}", lifted(SIGNS[sign]), left, right)


def both(left: Piece, right: Piece) -> Piece:
    return joined(f"({left.text}) AND ({right.text})", conjunction, left, right)


def either(left: Piece, right: Piece) -> Piece:
    return joined(
        f"({left.text}) OR ({right.text})",
        lambda p, q: negation(conjunction(negation(p), negation(q))),
        left,
        right,
    )


def no(piece: Piece) -> Piece:
    return Piece(f"NOT ({piece.text})", lambda *values: negation(piece.combine(*values)), piece.items)


def is_null(piece: Piece) -> Piece:
    return Piece(f"{piece.text} IS NULL", lambda *values: piece.combine(*values) is None, piece.items)


def conjunction(p: bool | None, q: bool | None) -> bool | None:
    return False if False in (p, q) else None if None in (p, q) else True


def negation(p: bool | None) -> bool | None:
    return None if p is None else not p
