"""The live part of `situ demo --stream`: files as a stream, matches printed when they are certain."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from situ.cli.common import counted
from situ.cli.inputs import for_spark

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from rich.console import Console

    from situ.language.situations.ast import Query


def stream_matches(
    session: SparkSession, folder: Path, query: Query, state: Path, console: Console
) -> pa.Table:
    """Stream the files of a folder, one a micro-batch, in the order of their names; print each match."""
    import pyarrow as pa

    from situ.public import match

    _in_order_of_names(folder)
    path = for_spark(folder)
    schema = session.read.parquet(path).schema
    reports = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(path)
    parts: list[pa.Table] = []
    begin = time.monotonic()

    def report(matches: DataFrame, batch: int) -> None:
        part = matches.toArrow().sort_by("match_time")
        parts.append(part)
        for row in part.to_pylist():
            console.print(
                f"{row['match_time']:%H:%M:%S}  car {row['car_id']:>4}  "
                f"braked at {row['braked_at']:%H:%M:%S} after {row['speed']:.1f} m/s on average"
            )

    files = len(list(folder.glob("*.parquet")))
    console.print(f"Streaming {counted(files, 'file')}, one stretch of time after the other ...")
    found = match(reports, query)
    writer = found.writeStream.foreachBatch(report).option("checkpointLocation", str(state))
    writer.trigger(availableNow=True).start().awaitTermination()
    console.print(f"  done in {time.monotonic() - begin:.1f} s", style="dim")
    return pa.concat_tables(parts)


def _in_order_of_names(folder: Path) -> None:
    """A file stream reads files in the order of their times; Spark's tasks wrote them in any."""
    first = time.time() - 100_000
    for i, path in enumerate(sorted(folder.glob("*.parquet"))):
        os.utime(path, (first + i, first + i))
