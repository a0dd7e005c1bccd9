"""Results between events through Spark Connect, against those in process; run by test_ticks_on_spark.py."""

from __future__ import annotations

import os
import sys

import pyarrow as pa
from alarm import CondensedAlarm

import situ
from situ import spark as on_spark
from situ.carry import in_process
from situ.cli.java import use_java

ABSENCE = """FROM s PARTITION BY k ORDER BY t DEFINE A AS v > 1, C AS v < 0
PATTERN NO C after A BY AT MOST 60 WITHIN 500 RETURN A.ts AS since, max(A.v) AS most"""
SILENCE = """FROM s WHERE v > -1 PARTITION BY k ORDER BY t DEFINE quiet AS SILENCE AT LEAST 40
RETURN quiet.ts AS since, quiet.te AS until, last(quiet.v) AS heard"""


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
    for text in (ABSENCE, SILENCE, ABSENCE.replace("PARTITION BY k ", "")):
        for options in ({}, {"until": 2000}):
            query, options = situ.query(text), {"ties": "last", **options}
            expected = situ.match(table, query, **options).to_pylist()
            result = situ.match(spark.createDataFrame(table.to_pandas()), query, **options)
            assert sorted(map(repr, result.toArrow().to_pylist())) == sorted(map(repr, expected)) != []
    print("the same through Connect")


if __name__ == "__main__":
    main()
