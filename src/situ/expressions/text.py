"""Functions of text. Positions and lengths count code points; what is searched for must be a literal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import sqlglot.expressions as exp

from situ.errors import UnsupportedExpressionError
from situ.expressions import casing
from situ.expressions import types as t
from situ.expressions.evaluate import unary
from situ.expressions.node import Node, constant, operation, rows_of
from situ.expressions.refusals import refuse_predicates
from situ.expressions.regexes import rlike
from situ.expressions.rules import Rules
from situ.expressions.strings import searching
from situ.expressions.vectors import Frame, Mask, Values, Vector, both, loader, to_arrow

if TYPE_CHECKING:
    from situ.expressions.bind import Binder

_TRIMS: Final = {"LEADING": "utf8_ltrim", "TRAILING": "utf8_rtrim", "BOTH": "utf8_trim", "": "utf8_trim"}
_SEARCHES: Final[dict[type[exp.Expression], tuple[str, str]]] = {
    exp.StartsWith: ("STARTSWITH", "starts_with"),
    exp.EndsWith: ("ENDSWITH", "ends_with"),
    exp.Contains: ("CONTAINS", "match_substring"),
}
_WHOLE: Final = (1 << 31) - 1  # the length Spark takes where none is given


def _text(binder: Binder, tree: exp.Expression) -> Node:
    """An argument Spark would cast to a string."""
    return binder.rules.cast(binder.bind(tree), t.STRING)


def _literal(node: Node, what: str) -> Node:
    if not node.folded and not node.is_null:
        raise UnsupportedExpressionError(f"{what} that is not a literal")
    return node


def _on_text(child: Node, compute: Callable[[Values], Values], *literals: Node) -> Node:
    """A text computed from a text; null where a literal is."""
    if child.is_null or any(literal.is_null for literal in literals):
        return constant(t.STRING, None)
    return unary(t.STRING, child, lambda values, valid: (compute(values), valid))


def _upper(binder: Binder, tree: exp.Expression) -> Node:
    change = casing.upper if isinstance(tree, exp.Upper) else casing.lower
    return change(_text(binder, tree.this))


def _length(binder: Binder, tree: exp.Expression) -> Node:
    read = loader(t.INT)
    return unary(
        t.INT, _text(binder, tree.this), lambda values, valid: (read(pc.utf8_length(values))[0], valid)
    )


# TRIM


def _trim(binder: Binder, tree: exp.Expression) -> Node:
    unwanted = [binder.bind(tree.expression)] if tree.args.get("expression") else []
    return _trimmed(
        binder.rules, binder.bind(tree.this), *unwanted, function=_TRIMS[tree.args.get("position") or ""]
    )


def _trimmed(rules: Rules, node: Node, unwanted: Node | None = None, *, function: str = "utf8_trim") -> Node:
    """Without the unwanted characters at the ends: blanks (U+0020 and no others) where none are given."""
    given = constant(t.STRING, " ") if unwanted is None else rules.cast(unwanted, t.STRING)
    characters = _literal(given, "TRIM of characters")
    trim = getattr(pc, function)
    child = rules.cast(node, t.STRING)
    return _on_text(child, lambda values: trim(values, characters=characters.value), characters)


# CONCAT


def _concat(binder: Binder, tree: exp.Expression) -> Node:
    if not tree.args.get("safe"):  # 'a' 'b' and 'a''b' are one tree, and to Spark two texts
        raise UnsupportedExpressionError(
            f"string literals in a row, {tree.sql(dialect='spark')!r},", hint="Write one literal, or concat."
        )
    return _joined([_text(binder, item) for item in tree.expressions])


def _pipes(binder: Binder, tree: exp.Expression) -> Node:
    refuse_predicates(tree)
    if isinstance(tree.expression, exp.Add | exp.Sub):  # Spark groups || + - from the left
        raise UnsupportedExpressionError(
            f"{tree.sql(dialect='spark')!r}, a sum behind || without parentheses,", hint="Write parentheses."
        )
    return _joined([_text(binder, tree.this), _text(binder, tree.expression)])


def _joined(parts: list[Node]) -> Node:
    """One after the other, null where one is null; like Spark it evaluates all of them."""
    runs = [rows_of(part) for part in parts]

    def run(frame: Frame) -> Vector:
        texts: list[Values] = []
        valid: Mask | None = None
        for part in runs:
            values, part_valid = part(frame)
            texts.append(values)
            valid = both(valid, part_valid)
        return pc.binary_join_element_wise(*texts, "", null_handling="emit_null"), valid

    return operation(t.STRING, run, *parts)


def _concat_ws(binder: Binder, tree: exp.Expression) -> Node:
    """Texts with a separator between them, nulls left out; null where the separator is."""
    separator, *parts = [_text(binder, item) for item in tree.expressions]
    nodes = [separator, *parts]

    def run(frame: Frame) -> Vector:
        between, *texts = [to_arrow(node.run(frame), t.STRING, frame.n) for node in nodes]
        # Arrow loses the rows whose texts are all null; there an empty one is joined.
        all_null = pc.is_null(pc.coalesce(*texts)) if texts else pa.repeat(pa.scalar(True), frame.n)
        texts.append(pc.if_else(all_null, "", pa.scalar(None, t.STRING)))
        joined = pc.binary_join_element_wise(*texts, between, null_handling="skip")
        return joined, np.asarray(between.is_valid())

    return operation(t.STRING, run, *nodes)


# Parts of a text


def _integer(binder: Binder, tree: exp.Expression | None, what: str) -> Node:
    node = constant(t.INT, _WHOLE) if tree is None else binder.bind(tree)
    if node.type != t.NULL and not t.is_integral(node.type):
        raise UnsupportedExpressionError(f"{what} of type {t.name_of(node.type)}")
    return _literal(binder.rules.cast(node, t.INT), what)


def _substring(binder: Binder, tree: exp.Expression) -> Node:
    start = _integer(binder, tree.args["start"], "SUBSTRING from a position")
    length = _integer(binder, tree.args.get("length"), "SUBSTRING of a length")
    return _part(_text(binder, tree.this), start, length)


def _left(binder: Binder, tree: exp.Expression) -> Node:
    length = _integer(binder, tree.expression, "LEFT of a length")
    return _part(_text(binder, tree.this), constant(t.INT, 1), length)


def _right(binder: Binder, tree: exp.Expression) -> Node:
    length = _integer(binder, tree.expression, "RIGHT of a length")
    child, whole = _text(binder, tree.this), constant(t.INT, _WHOLE)
    if length.is_null:
        return constant(t.STRING, None)
    if length.value <= 0:
        return _part(child, whole, constant(t.INT, 0))
    return _part(child, constant(t.INT, -int(length.value)), whole)


def _part(child: Node, start: Node, length: Node) -> Node:
    """`length` characters from the `start`-th on: 0 is the first too, and negative ones count from the end,
    where those before the first count as well (`substring('abc', -5, 3)` is 'a')."""
    if start.is_null or length.is_null:
        return constant(t.STRING, None)
    position, count = int(start.value), int(length.value)
    first = position - 1 if position > 0 else position
    end: int | None = first + max(count, 0)
    if first < 0 and first + count >= 0:
        end = None
    return _on_text(child, lambda values: pc.utf8_slice_codeunits(values, start=first, stop=end))


def _replace(binder: Binder, tree: exp.Expression) -> Node:
    child, wanted = _text(binder, tree.this), _text(binder, tree.expression)
    by = tree.args.get("replacement")
    replacement = constant(t.STRING, "") if by is None else _text(binder, by)
    _literal(wanted, "REPLACE of a text")
    _literal(replacement, "REPLACE by a text")

    def compute(values: Values) -> Values:
        if wanted.value == "":
            return values
        return pc.replace_substring(values, pattern=wanted.value, replacement=replacement.value)

    return _on_text(child, compute, wanted, replacement)


# Searches


def _search(binder: Binder, tree: exp.Expression) -> Node:
    name, function = _SEARCHES[type(tree)]
    child = _text(binder, tree.this)
    wanted = _literal(_text(binder, tree.expression), f"{name} of a text")
    if child.is_null or wanted.is_null:
        return constant(t.BOOLEAN, None)
    found = searching(function, wanted.value)
    return unary(t.BOOLEAN, child, lambda values, valid: (found(values), valid))


def _rlike(binder: Binder, tree: exp.Expression) -> Node:
    refuse_predicates(tree)
    return _regexp(binder.rules, binder.bind(tree.this), binder.bind(tree.expression))


def _regexp(rules: Rules, child: Node, pattern: Node) -> Node:
    return rlike(rules.cast(child, t.STRING), rules.cast(pattern, t.STRING))


_BOTH = ("this", "expression")

# Node class -> what binds it, and the arguments that is known to honour.
HANDLERS: Final[dict[type[exp.Expression], tuple[Callable[[Binder, Any], Node], tuple[str, ...]]]] = {
    exp.Upper: (_upper, ("this",)),
    exp.Lower: (_upper, ("this",)),
    exp.Length: (_length, ("this",)),
    exp.Trim: (_trim, (*_BOTH, "position")),
    exp.Concat: (_concat, ("expressions", "safe")),
    exp.DPipe: (_pipes, (*_BOTH, "safe")),
    exp.ConcatWs: (_concat_ws, ("expressions", "safe", "coalesce", "flatten")),
    exp.Substring: (_substring, ("this", "start", "length")),
    exp.Left: (_left, _BOTH),
    exp.Right: (_right, _BOTH),
    exp.Replace: (_replace, (*_BOTH, "replacement")),
    exp.StartsWith: (_search, _BOTH),
    exp.EndsWith: (_search, _BOTH),
    exp.Contains: (_search, _BOTH),
    exp.RegexpLike: (_rlike, _BOTH),
}

# Functions sqlglot has no class for: name -> what builds them of their arguments, and how many there may be.
FUNCTIONS: Final[dict[str, tuple[Callable[..., Node], tuple[int, ...]]]] = {
    "btrim": (_trimmed, (1, 2)),
    "regexp": (_regexp, (2,)),
}
