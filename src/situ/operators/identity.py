"""A deterministic id for a match, the same on every path (SEM 5.4, ROW 6.6).

It depends on three things and on nothing else: the canonical text of the query, the values of the
partition columns, and numbers that tell its matches apart: of situations the start of every symbol's one.
"""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.rows.keys import encode, hashable

Words = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@lru_cache(maxsize=64)
def fingerprint(query: Hashable) -> bytes:
    """16 bytes that stand for a query: of its canonical text, `str(query)`.

    So queries that mean the same may differ in it: another FROM name or other parentheses are other texts.
    """
    return hashlib.blake2b(str(query).encode(), digest_size=16).digest()


def match_ids(
    query: Hashable, keys: Sequence[pa.Array], numbers: Sequence[npt.NDArray[np.int64]]
) -> pa.Array:
    """32 hexadecimal digits for each match, from the query's text, its partition and its own numbers."""
    codes, values = encode([_plain(column) for column in keys], len(numbers[0]))
    seeds = [
        hashlib.blake2b(_text(key), digest_size=16, key=fingerprint(query)).digest()
        for key in hashable(values)
    ]
    words = np.frombuffer(b"".join(seeds), "<u8").reshape(-1, 2).astype(np.uint64)[codes]
    for number in numbers:
        for half in (0, 1):
            words[:, half] = mixed(words[:, half] * _GOLDEN + number.view(np.uint64) + np.uint64(half + 1))
    digits = binascii.hexlify(words.astype(">u8").tobytes())
    offsets = np.arange(len(words) + 1, dtype=np.int32) * 32
    return pa.StringArray.from_buffers(len(words), pa.py_buffer(offsets), pa.py_buffer(digits))


def _plain(column: pa.Array) -> pa.Array:
    """Instants as microseconds, so that a time zone or unit of the carrier does not show."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
    return column


def _text(key: tuple[object, ...]) -> bytes:
    """A key as bytes; lengths keep its values apart, whatever is in them."""
    texts = [f"{type(value).__name__}:{value}".encode() for value in key]
    return b"".join(len(text).to_bytes(8, "little") + text for text in texts)


def mixed(words: Words) -> Words:
    """The finalizer of splitmix64: every input bit changes about half of the output bits."""
    words = (words ^ (words >> np.uint64(30))) * _MIX_1
    words = (words ^ (words >> np.uint64(27))) * _MIX_2
    return words ^ (words >> np.uint64(31))
