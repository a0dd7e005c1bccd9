"""A few queries on a given kind of session, against the engine in process; run as a script by other tests.

python tests/spark/smoke.py local | connect | spark://host:port
"""

from __future__ import annotations

import datetime as dt
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import situ

TEXT = """
FROM readings PARTITION BY k ORDER BY ts
DEFINE A AS x > 3 AT LEAST 2 seconds, B AS x > 5 AND x < 8
PATTERN A contains B WITHIN 1 minute
RETURN avg(A.y) AS mean, A.ts AS started, B.te AS ended, count(B) AS n
"""


def readings() -> pa.Table:
    times = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=s) for s in range(200)]
    rows = [
        (t, k, (s + 3 * i) % 10, s * 1.5) for s, t in enumerate(times) for i, k in enumerate(("p", "q", None))
    ]
    ts, k, x, y = zip(*rows, strict=True)
    return pa.table({"ts": pa.array(ts, pa.timestamp("us", "UTC")), "k": k, "x": x, "y": y})


def session(where: str) -> Any:
    from pyspark.sql import SparkSession

    from situ.cli.java import use_java

    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("situ-smoke")
    builder = (
        builder.remote("local[2]")
        if where == "connect"
        else builder.master("local[2]" if where == "local" else where)
    )
    return (
        builder.config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    found = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(found, key=lambda row: tuple((value is not None, value) for value in row))


def main(where: str) -> None:
    spark, table, query = session(where), readings(), situ.query(TEXT)
    expected = rows(situ.match(table, query, match_id=True))
    assert expected
    with tempfile.TemporaryDirectory() as folder:
        for i in range(3):
            pq.write_table(table.slice(i * 200, 200), Path(folder) / f"{i}.parquet")
        df = spark.read.parquet(folder)
        assert "Strategy direct: tasks read the 3 Parquet files" in str(situ.explain(df, query))
        for strategy in ("auto", "shuffle", "map-side", "direct"):
            assert rows(situ.match(df, query, strategy=strategy, match_id=True).toArrow()) == expected, (
                strategy
            )
        situ.tune(spark)
        assert rows(situ.match(df.select("*"), query, match_id=True).toArrow()) == expected
        assert rows(situ.match_parquet(spark, folder, query, match_id=True).toArrow()) == expected
        assert rows(situ.situations(df, query).toArrow()) == rows(situ.situations(table, query))
        unpartitioned = situ.query(
            TEXT.replace("PARTITION BY k", "").replace("readings", "readings WHERE k = 'p'")
        )
        assert rows(situ.match(df, unpartitioned).toArrow()) == rows(situ.match(table, unpartitioned))
        for wrong in ("nosuch(x) > 1", "sqrt(x)", "speed > 1"):
            try:
                situ.match(df, situ.query(TEXT.replace("x > 3", wrong)))
            except situ.SituError:
                continue
            raise AssertionError(f"{wrong} was not refused at the call")
        if where in ("local", "connect"):
            check_another_python_is_refused(spark, df, query, Path(folder))
        print(situ.explain(df.withColumn("z", df.x * 2), query))
    print(f"smoke passed on {spark.version}")
    spark.stop()


def check_another_python_is_refused(spark: Any, df: Any, query: Any, folder: Path) -> None:
    """On the driver, before Spark would start such a worker."""
    other = folder / "python3.9"
    other.write_text("""#!/bin/sh\necho '["3.9", []]'\n""")
    other.chmod(0o755)
    spark.conf.set("spark.sql.execution.pyspark.python", str(other))
    said = ""
    try:
        situ.match(df, query)
    except situ.SituError as error:
        said = str(error)
    assert "Spark's workers run Python 3.9" in said, said


if __name__ == "__main__":
    main(sys.argv[1])
