"""Which shuffle partition a key goes to: the same on every path, and even.

Spark places a row by its own hash of the column it is repartitioned by. So each bucket goes under a
label, a number that Spark's hash sends to the shuffle partition of the bucket's number: with as many
buckets as partitions, each partition gets exactly one.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Words = npt.NDArray[np.uint64]

_NULL = np.uint64(0x5D1E5A17)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SPARK_SEED = 42


def buckets_of(keys: Sequence[pa.Array], n_buckets: int) -> npt.NDArray[np.int64]:
    """The bucket of each key, from its values alone."""
    if not keys:
        return np.zeros(1, np.int64)
    words = np.zeros(len(keys[0]), np.uint64)
    for column in keys:
        words = _mixed(words * _GOLDEN + _words(column))
    return (words % np.uint64(n_buckets)).astype(np.int64)


def _words(column: pa.Array) -> Words:
    """A number for each value, equal for equal values of whatever width or unit."""
    kind = column.type
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
        words = np.where(np.isnan(values), np.nan, values).view(np.uint64)
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind):
        number = column.cast(pa.int32()) if pa.types.is_date32(kind) else column
        words = number.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False).view(np.uint64)
    elif pa.types.is_timestamp(kind):
        ticks = column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()).fill_null(0)
        words = ticks.to_numpy(zero_copy_only=False).view(np.uint64)
    else:
        words = _digests(column)
    return np.where(np.asarray(column.is_null()), _NULL, words)


def _digests(column: pa.Array) -> Words:
    """Of keys without a fixed width; there is one value for each key, not for each row."""
    if not pa.types.is_binary(column.type) and not pa.types.is_large_binary(column.type):
        column = pc.cast(column, pa.string()).cast(pa.binary())
    return np.fromiter((zlib.crc32(value or b"") for value in column.to_pylist()), np.uint64, len(column))


def _mixed(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return words ^ (words >> np.uint64(32))


def labels(n_buckets: int) -> npt.NDArray[np.int32]:
    """For each bucket the smallest int that Spark's hash partitioning sends to partition `bucket`."""
    found = np.full(n_buckets, -1, np.int32)
    start, step = 0, 64 * n_buckets
    while (found < 0).any():
        candidates = np.arange(start, start + step, dtype=np.int32)
        partition = spark_hash(candidates).astype(np.int64) % n_buckets
        where, first = np.unique(partition, return_index=True)
        fresh = found[where] < 0
        found[where[fresh]] = candidates[first[fresh]]
        start += step
    return found


def spark_hash(values: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Spark SQL's `hash(int)`: Murmur3, 32 bits, seed 42."""
    with np.errstate(over="ignore"):
        k = values.astype(np.uint32) * np.uint32(0xCC9E2D51)
        k = _rotated(k, 15) * np.uint32(0x1B873593)
        h = _rotated(np.uint32(_SPARK_SEED) ^ k, 13) * np.uint32(5) + np.uint32(0xE6546B64)
        h = h ^ np.uint32(4)
        h = (h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        h = (h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return (h ^ (h >> np.uint32(16))).view(np.int32)


def _rotated(words: npt.NDArray[np.uint32], by: int) -> npt.NDArray[np.uint32]:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))
