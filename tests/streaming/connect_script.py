"""A stream through Spark Connect, against the engine in process; run as a script by test_connect.py."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import situ
from situ.spark.stream.metrics import NOTHING, Figures, MetricsListener, figures_of

TEXT = """FROM s PARTITION BY k ORDER BY t
DEFINE A AS x > 3, B AS x > 5 AND x < 8
PATTERN A contains;started-by;overlaps B WITHIN 1 minute
RETURN A.ts AS a, avg(A.x) AS mean"""
START = datetime(2024, 1, 1, tzinfo=UTC)
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def readings() -> pa.Table:
    columns = {
        "k": [i % 3 for i in range(300)],
        "t": [START + timedelta(seconds=i) for i in range(300)],
        "x": [float(i // 3 % 10) for i in range(300)],
    }
    types = [("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())]
    return pa.table(columns, pa.schema(types))


def session() -> Any:
    from pyspark.sql import SparkSession

    from situ.cli.java import use_java

    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2")
    spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
    return spark


def run(spark: Any, folder: Path, figures: Figures, listener: MetricsListener) -> Figures:
    """What waits in the folder, from the checkpoint; the figures after it."""
    reader = spark.readStream.schema("k bigint, t timestamp, x double").option("maxFilesPerTrigger", 1)
    rows = reader.parquet(str(folder / "in")).withWatermark("t", "10 seconds")
    matches = situ.match(rows, situ.query(TEXT), match_id=True)
    writer = matches.writeStream.format("parquet").option("path", str(folder / "out"))
    stream = writer.option("checkpointLocation", str(folder / "state")).trigger(availableNow=True).start()
    stream.awaitTermination()
    assert listener.wait_until_ended(str(stream.runId), 60)
    for report in stream.recentProgress:
        figures = figures_of(report, figures)
    return figures


def main(folder: Path) -> None:
    spark, table = session(), readings()
    (folder / "in").mkdir()
    end = pa.table({"k": [9], "t": [START + timedelta(hours=1)], "x": [0.0]}, table.schema)
    figures, listener = NOTHING, MetricsListener()
    spark.streams.addListener(listener)
    for i, piece in enumerate((table.slice(0, 150), pa.concat_tables([table.slice(150), end]))):
        pq.write_table(piece, folder / "in" / f"{i}.parquet")
        figures = run(spark, folder, figures, listener)  # the second time from the checkpoint
    found = spark.read.parquet(str(folder / "out")).toArrow().select(["match_id", "mean"])
    wanted = situ.match(table, situ.query(TEXT), match_id=True).select(["match_id", "mean"])
    assert wanted.num_rows > 5
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, wanted.to_pylist()))
    assert (figures.matches, figures.late_rows) == (wanted.num_rows, 0)
    spark.streams.removeListener(listener)
    heard = listener.figures()
    assert (heard.events, heard.matches, heard.late_rows) == (figures.events, figures.matches, 0)
    print("the same through Connect")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
