"""A stream whose foreachBatch dies at a chosen point: `foreach_script.py FOLDER BATCH before|after`.

The function is idempotent for its batch id, as the documentation asks for: the same micro-batch writes the
same file again. It dies `before` it writes, when state is committed, or `after`, before Spark commits.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

import situ
from situ.cli.session import local_spark
from situ.spark.session.tuned import PROVIDER, ROCKSDB

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERY = """FROM s PARTITION BY k ORDER BY t
DEFINE A AS x > 0, B AS x > 0.5 AT LEAST 1 second PATTERN A contains;started-by;overlaps B
WITHIN 60 seconds RETURN A.ts AS a, B.ts AS b"""


def main(folder: Path, fatal_batch: int, point: str) -> None:
    settings = {PROVIDER: ROCKSDB, "spark.sql.shuffle.partitions": "2"}
    spark = local_spark("foreach", cores=1, **{k.replace(".", "__"): v for k, v in settings.items()})

    def write(matches: DataFrame, batch: int) -> None:
        rows = matches.toArrow()  # runs the micro-batch: its state is committed
        if (batch, point) == (fatal_batch, "before"):
            os.killpg(0, signal.SIGKILL)
        pq.write_table(rows, folder / "out" / f"{batch}.tmp")
        (folder / "out" / f"{batch}.tmp").rename(folder / "out" / f"{batch}.parquet")
        if (batch, point) == (fatal_batch, "after"):
            os.killpg(0, signal.SIGKILL)

    events = (
        spark.readStream.schema("k bigint, t timestamp, x double")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "in"))
    )
    matches = situ.match(events, situ.query(QUERY), watermark="20 seconds", max_ahead="1 hour")
    writer = matches.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "state"))
    writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
