"""Streams for tests: micro-batches as files, run until nothing is left, results from a file sink."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import situ

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FileStream:
    """A folder of Parquet files, one micro-batch each, a checkpoint and a sink."""

    def __init__(
        self, spark: SparkSession, folder: Path, schema: pa.Schema, watermark: tuple[str, str] | None = None
    ):
        self.spark = spark
        self.folder = folder
        self.schema = schema
        self.watermark = watermark
        self.progress: list[dict[str, Any]] = []
        (folder / "in").mkdir(parents=True)

    def add(self, tables: Sequence[pa.Table]) -> None:
        """More micro-batches; the source takes files by their age."""
        n_files = len(list((self.folder / "in").iterdir()))
        for i, table in enumerate(tables, start=n_files):
            path = self.folder / "in" / f"{i:05}.parquet"
            pq.write_table(table.cast(self.schema), path)
            os.utime(path, (1e9 + i, 1e9 + i))

    def rows(self) -> DataFrame:
        from pyspark.sql.pandas.types import from_arrow_schema

        reader = self.spark.readStream.schema(from_arrow_schema(self.schema)).option("maxFilesPerTrigger", 1)
        rows = reader.parquet(str(self.folder / "in"))
        return rows if self.watermark is None else rows.withWatermark(*self.watermark)

    def run(self, text: str, call: Callable[..., Any] = situ.match, **options: Any) -> None:
        """From the checkpoint, if there is one, until every file is read."""
        self.write(call(self.rows(), situ.query(text), **options))

    def write(self, result: DataFrame) -> None:
        """What a stream gives, written by the checkpoint until every file is read."""
        writer = result.writeStream.format("parquet").option("path", str(self.folder / "out"))
        stream = (
            writer.option("checkpointLocation", str(self.folder / "state")).trigger(availableNow=True).start()
        )
        try:
            stream.awaitTermination()
        finally:
            stream.stop()
            self.progress += [dict(progress) for progress in stream.recentProgress]

    def results(self) -> pa.Table:
        return self.spark.read.parquet(str(self.folder / "out")).toArrow()

    def counts(self, name: str) -> int:
        """A count of the stateful operator, over all micro-batches."""
        observed = [row for p in self.progress for row in p["observedMetrics"].values()]
        return sum(row.asDict().get(name) or 0 for row in observed)


def canonical_rows(table: pa.Table) -> list[str]:
    """Rows in an order that does not matter, times without the session's zone."""
    return sorted(repr(sorted(row.items())) for row in _plain(table).to_pylist())


def _plain(table: pa.Table) -> pa.Table:
    def plain(kind: pa.DataType) -> pa.DataType:
        return pa.timestamp("us", "UTC") if pa.types.is_timestamp(kind) and kind.tz else kind

    return table.cast(pa.schema([(field.name, plain(field.type)) for field in table.schema]))
