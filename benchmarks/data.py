"""Input as arrays: the synthetic generator's columns as one mask per event, times as whole seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.sources import synthetic_chunks


class Events(NamedTuple):
    """N events in time order; bit i of the mask is set where condition i holds."""

    time: npt.NDArray[np.int64]
    mask: npt.NDArray[np.unsignedinteger]


def mask_type(n_symbols: int) -> np.dtype[np.unsignedinteger]:
    """The narrowest mask situ's engine takes."""
    return np.dtype(np.uint8 if n_symbols <= 8 else np.uint64)


def synthetic_masks(
    n_symbols: int,
    events: int,
    *,
    seed: int,
    batch: int = 1_000_000,
    duration: tuple[int, int] = (10, 100),
    gap: tuple[int, int] = (10, 50),
) -> Iterator[Events]:
    """The generator of tpstream 6.1 in batches: one event a second, boolean columns packed into a mask."""
    chunks = synthetic_chunks(n_symbols, events, seed=seed, duration=duration, gap=gap, chunk_events=batch)
    for chunk in chunks:
        yield Events(seconds_of(chunk["ts"]), packed([chunk[f"s{i}"] for i in range(n_symbols)]))


def seconds_of(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """A timestamp column as whole seconds."""
    return column.cast(pa.int64()).to_numpy() // 1_000_000


def packed(columns: list[pa.ChunkedArray]) -> npt.NDArray[np.unsignedinteger]:
    """Boolean columns as one mask."""
    kind = mask_type(len(columns))
    mask = np.zeros(len(columns[0]), kind)
    for bit, column in enumerate(columns):
        mask |= column.to_numpy().astype(kind) << kind.type(bit)
    return mask


def names(n_symbols: int) -> list[str]:
    """Symbol names A, B, ... Z, S26, ..."""
    return [chr(65 + i) if i < 26 else f"S{i}" for i in range(n_symbols)]


def query_text(n_symbols: int, pattern: str, within: int, *, emit: str = "EARLY", time: str = "t") -> str:
    """A query over boolean columns s0, s1, ... and an integer time column."""
    define = ", ".join(f"{name} AS s{i}" for i, name in enumerate(names(n_symbols)))
    return f"FROM events ORDER BY {time} DEFINE {define} PATTERN {pattern} WITHIN {within} EMIT {emit}"
