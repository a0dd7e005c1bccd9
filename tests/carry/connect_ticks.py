"""Results between events through Spark Connect, against those in process; run by test_ticks_on_spark.py."""

from __future__ import annotations

import os
import sys

import pyarrow as pa
from alarm import CondensedAlarm

from situ import spark as on_spark
from situ.carry import in_process
from situ.cli.java import use_java


def main() -> None:
    from pyspark.sql import SparkSession

    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    times = [7 * i * i % 1009 for i in range(60)]
    table = pa.table(
        {"k": [i % 4 for i in range(60)], "t": times, "v": [float(i % 5 - 1) for i in range(60)]}
    )
    for key in ("k", None):
        question = CondensedAlarm(d=40, where="v", key=key)
        for options in ({}, {"until": 2000}):
            expected = in_process.run(table, question, {"ties": "last", **options}).to_pylist()
            result = on_spark.run(
                spark.createDataFrame(table.to_pandas()), question, {"ties": "last", **options}
            )
            assert sorted(map(repr, result.toArrow().to_pylist())) == sorted(map(repr, expected)) != []
    print("the same through Connect")


if __name__ == "__main__":
    main()
