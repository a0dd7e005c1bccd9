"""Result rows in canonical order (SEM 5.3), and when two such lists count as equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

ResultRow = tuple[Any, ...]


def canonical(rows: Sequence[ResultRow], n_keys: int) -> list[ResultRow]:
    """Sorted by partition columns, match_time, then the rest; null before everything else."""
    return sorted(rows, key=lambda row: tuple(map(sort_key, (*row[:n_keys], row[-1], *row[n_keys:-1]))))


def sort_key(value: Any) -> tuple[bool, bool, Any]:
    """Orders values of one column; floats by nine digits, so that a last-bit difference moves no row."""
    if value is None:
        return (False, False, 0)
    if isinstance(value, float):
        return (True, math.isnan(value), 0.0 if math.isnan(value) else float(f"{value:.8e}"))
    return (True, False, value)


def differences(actual: Sequence[ResultRow], expected: Sequence[ResultRow]) -> list[str]:
    """What a reader needs to see when two canonical lists are not equal; empty when they are."""
    missing, extra = list(expected), []
    for row in actual:
        position = next((i for i, other in enumerate(missing) if same_row(row, other)), None)
        if position is None:
            extra.append(row)
        else:
            del missing[position]
    return [f"missing {row}" for row in missing] + [f"not expected {row}" for row in extra]


def same_row(left: ResultRow, right: ResultRow) -> bool:
    return len(left) == len(right) and all(map(same, left, right))


def same(left: Any, right: Any) -> bool:
    """Equal, or floats within 1e-9 relative (SEM 5.3)."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) and isinstance(right, int | float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)
