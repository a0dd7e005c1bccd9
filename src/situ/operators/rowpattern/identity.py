"""What tells the matches of a row pattern apart, as numbers that their ids are made of (ROW 6.6)."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa

from situ.language.rows.bound import BoundRows
from situ.operators.identity import mixed
from situ.operators.rowpattern.matched import Matched
from situ.rows.keys import encode, hashable
from situ.rows.prepared import Positions

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def ordering_columns(bound: BoundRows) -> tuple[str, ...]:
    """The ORDER BY columns whose values tell rows of a partition apart: its time, and others but keys."""
    keys = {column.name for column in bound.partition}
    first = None if bound.time is None else bound.time.name
    return tuple(column.name for column in bound.order if column.name == first or column.name not in keys)


def telling_numbers(bound: BoundRows, matched: Matched, match: Positions) -> list[Positions]:
    """Numbers of these matches that no two of one partition have in common.

    The ORDER BY values of the first and last row; under SKIP TILL ANY of every row, with its variable.
    """
    if bound.query.strategy != "any":
        return [number for place in matched.ends(match) for number in _numbers(bound, matched, place)]
    found = matched.found
    n_rows = found.offset[match + 1] - found.offset[match]
    depth = np.arange(n_rows.sum()) - np.repeat(np.cumsum(n_rows) - n_rows, n_rows)
    entry = np.repeat(found.offset[match], n_rows) + depth
    numbers = [matched.layout.variable[found.position[entry]]]
    numbers += _numbers(bound, matched, found.row[entry])
    return _summed(numbers, depth, np.repeat(np.arange(len(match)), n_rows), len(match))


def _summed(numbers: list[Positions], depth: Positions, match: Positions, n: int) -> list[Positions]:
    """Two numbers of each match, from numbers of each of its rows: sums of what each mixes with its depth."""
    sums = []
    for half in (1, 2):
        words = mixed(depth.view(np.uint64) * _GOLDEN + np.uint64(half))
        for number in numbers:
            words = mixed(words * _GOLDEN + number.view(np.uint64))
        total = np.zeros(n, np.uint64)
        np.add.at(total, match, words)
        sums.append(total.view(np.int64))
    return sums


def _numbers(bound: BoundRows, matched: Matched, place: Positions) -> list[Positions]:
    numbers: list[Positions] = []
    for name in ordering_columns(bound):
        if bound.time is not None and name == bound.time.name:
            numbers.append(matched.ordered.time[place])
        else:
            numbers += _of_column(matched.column(name, place))
    return numbers


def _of_column(column: pa.Array) -> list[Positions]:
    """Values as numbers that equal others where the values do, and which of them are null."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz)).view(pa.int64())
    elif pa.types.is_date(column.type):
        column = column.cast(pa.date32()).view(pa.int32())
    is_null = np.asarray(column.is_null()).astype(np.int64)
    if pa.types.is_integer(column.type):
        return [is_null, column.cast(pa.int64()).fill_null(0).to_numpy()]
    if pa.types.is_floating(column.type):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0  # no -0.0
        return [is_null, np.where(np.isnan(values), np.nan, values).view(np.int64)]
    codes, distinct = encode([column], len(column))
    told = [hashlib.blake2b(repr(value).encode(), digest_size=8).digest() for value in hashable(distinct)]
    return [is_null, np.frombuffer(b"".join(told), "<i8").astype(np.int64)[codes]]
