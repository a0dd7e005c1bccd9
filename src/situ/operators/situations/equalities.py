"""What HAVING asks to be equal of two situations, tested as soon as both are there (SEM 13.1).

`first(A.x) = first(B.y)` is decided when both have started, so a pair that differs is in no match that is
reported. Each situation gets a code of its value for the join to compare; HAVING itself is evaluated
afterwards all the same, and by Spark where Spark does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.algebra.relations import ALL
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery
from situ.language.situations.having import equal_firsts
from situ.operators.situations.kernels.layout import Spec
from situ.operators.situations.kernels.relate import LINKED, bounds_of

Codes = npt.NDArray[np.int64]

# The types of which equal values are surely those that Spark takes for equal, once floats are made alike.
_EXACT = {"boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "date"}
_NULL = -1


class Equality(NamedTuple):
    """A pair of symbols, and the items of theirs that must be equal one by one."""

    left: int
    right: int
    items: tuple[tuple[int, int], ...]


def equalities_of(bound: BoundQuery) -> list[Equality]:
    """One for each pair of symbols of which something must be equal that can be compared by codes."""
    query, position = bound.query, {name: i for i, name in enumerate(bound.query.symbol_names)}
    if len(query.sources) > 1:
        return []
    odd = {symbol.name for symbol in query.symbols if symbol.is_silence or symbol.ignoring is not None}
    odd |= {symbol.name for symbol in query.row_patterns}
    of_pair: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for (a, x), (b, y) in equal_firsts(query):
        left, right = _first_item(query, a, x), _first_item(query, b, y)
        kind = bound.item_types[left]
        if {a, b} & odd or kind != bound.item_types[right] or kind not in _EXACT:
            continue
        if position[a] > position[b]:
            a, b, left, right = b, a, right, left
        of_pair.setdefault((position[a], position[b]), []).append((left, right))
    return [Equality(*pair, tuple(items)) for pair, items in of_pair.items()]


def _first_item(query: Query, symbol: str, attribute: str) -> int:
    return next(
        i
        for i, item in enumerate(query.items)
        if (item.function, item.symbol, item.attribute) == ("first", symbol, attribute)
    )


def linked(spec: Spec, equalities: Sequence[Equality]) -> Spec:
    """What joins read, where two symbols are related that must agree, and where their codes are."""
    if not equalities:
        return spec
    relations, lower, upper = spec.relations.copy(), spec.lower.copy(), spec.upper.copy()
    equal = spec.equal.copy()
    for number, (a, b, _) in enumerate(equalities):
        equal[a, b] = len(spec.followed) + 2 * number
        equal[b, a] = equal[a, b] + 1
        if relations[a, b] == ALL:
            for one, other in ((a, b), (b, a)):
                relations[one, other] = LINKED
                lower[one, other], upper[one, other] = bounds_of(ALL)
    return spec._replace(relations=relations, lower=lower, upper=upper, equal=equal)


def codes_of(equalities: Sequence[Equality], width: int, value: Callable[[int, int], pa.Array]) -> Codes:
    """Two rows for each equality: numbers that are the same where the values of both symbols are.

    `value(symbol, item)` gives the values of all situations of a symbol.
    """
    codes = np.full((2 * len(equalities), width), _NULL, np.int64)
    for number, (a, b, items) in enumerate(equalities):
        values = [(value(a, left), value(b, right)) for left, right in items]
        n_left, code = len(values[0][0]), _alike(*values[0])
        for pair in values[1:]:
            part = _alike(*pair)
            is_null = (code == _NULL) | (part == _NULL)
            both = np.unique(code * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1]
            code = np.where(is_null, _NULL, both)  # as many codes as situations at most
        codes[2 * number, :n_left] = code[:n_left]
        of_right = code[n_left:]
        codes[2 * number + 1, : len(of_right)] = np.where(of_right == _NULL, _NULL - 1, of_right)
    return codes


def _alike(left: pa.Array, right: pa.Array) -> Codes:
    """Codes of the left values and the right ones behind them: NaN equals NaN, and 0.0 its negative."""
    both = pa.chunked_array([left, right]).combine_chunks()
    if pa.types.is_floating(both.type):
        both = pc.add(both, pa.scalar(0.0, both.type))
        both = pc.if_else(pc.is_nan(both), pa.scalar(float("nan"), both.type), both)
    indices: Codes = pc.fill_null(both.dictionary_encode().indices, _NULL).to_numpy().astype(np.int64)
    return indices
