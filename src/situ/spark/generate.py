"""Traffic data made by Spark in parallel: one task per file, files in time order, memory flat."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from situ.errors import OptionError
from situ.sources.clock import DEFAULT_START
from situ.sources.traffic import TRAFFIC_SCHEMA, traffic_block

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ROWS_PER_BLOCK = 500_000  # what a task holds at once, a few dozen megabytes
_ROWS_PER_BATCH = 50_000
_ROWS_PER_FILE = 5_000_000
_SPARK_SCHEMA = (
    "car_id int, ts timestamp, speed double, accel double, lane tinyint, segment smallint, position double"
)


def traffic(
    spark: SparkSession,
    cars: int,
    seconds: int,
    *,
    seed: int = 0,
    start: datetime = DEFAULT_START,
    files: int | None = None,
) -> DataFrame:
    """Return the reports of `cars` cars over `seconds` seconds, in time order over `files` partitions.

    Partition i holds an earlier stretch of time than partition i + 1, so written as it is the table has
    time-ordered files. The rows depend on the seed, cars and seconds alone. Without `files` there are as many
    as keep each below about five million rows, and at least one per core.
    """
    if cars < 1 or seconds < 1:
        raise OptionError(f"cars={cars}, seconds={seconds}: both must be 1 or more.")
    block_s = max(1, min(seconds, _ROWS_PER_BLOCK // cars))
    n_blocks = -(-seconds // block_s)
    wanted = files or max(spark.sparkContext.defaultParallelism, -(-cars * seconds // _ROWS_PER_FILE))

    def make(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for block in batch.column(0).to_pylist():
                offset = block * block_s
                length = min(block_s, seconds - offset)
                table = traffic_block(seed, cars, length, offset=offset, start=start)
                yield from table.to_batches(max_chunksize=_ROWS_PER_BATCH)

    assert TRAFFIC_SCHEMA.names == [field.split()[0] for field in _SPARK_SCHEMA.split(", ")]
    blocks = spark.range(0, n_blocks, 1, numPartitions=min(wanted, n_blocks))
    return blocks.mapInArrow(make, _SPARK_SCHEMA)
