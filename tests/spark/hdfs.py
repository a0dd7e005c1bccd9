"""Parquet files on a real HDFS, which Arrow cannot open without Hadoop's native library; run as a script.

python tests/spark/hdfs.py FOLDER        a name node and a data node in the driver's JVM, files in FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import situ

QUERY = situ.query("""
FROM readings PARTITION BY k ORDER BY t
DEFINE A AS x > 3, B AS x > 5 AND x < 8
PATTERN A contains B
RETURN A.ts AS started, B.te AS ended, avg(B.x) AS mean
""")
N_FILES = 3


def main() -> None:
    folder = Path(sys.argv[1])
    session = session_with_hdfs()
    jvm = session._jvm
    settings = jvm.org.apache.hadoop.conf.Configuration()
    settings.set("hdfs.minidfs.basedir", str(folder / "hdfs"))
    cluster = getattr(jvm.org.apache.hadoop.hdfs, "MiniDFSCluster$Builder")(settings).numDataNodes(1).build()
    try:
        cluster.waitActive()
        check(session, cluster.getFileSystem(), folder)
    finally:
        cluster.shutdown()
        session.stop()


def session_with_hdfs() -> Any:
    import pyspark
    from pyspark.sql import SparkSession

    from situ.cli.jars import fetch
    from situ.cli.java import use_java

    use_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    jars = Path(pyspark.__file__).parent / "jars"
    version = next(jars.glob("hadoop-client-api-*.jar")).stem.rpartition("-")[2]
    (cluster,) = fetch([f"org.apache.hadoop:hadoop-client-minicluster:{version}"], transitive=False)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    return builder.config("spark.driver.extraClassPath", str(cluster)).getOrCreate()


def check(session: Any, hdfs: Any, folder: Path) -> None:
    n = 300
    table = pa.table({"k": [i % 2 for i in range(n)], "t": range(n), "x": [i // 2 % 10 for i in range(n)]})
    path = session._jvm.org.apache.hadoop.fs.Path
    for i in range(N_FILES):
        own = folder / f"{i}.parquet"
        pq.write_table(table.slice(i * n // N_FILES, n // N_FILES), own)
        hdfs.copyFromLocalFile(path(own.as_uri()), path(f"/lake/{own.name}"))
    lake = f"{hdfs.getUri().toString()}/lake"
    expected = sorted(map(repr, situ.match(table, QUERY).to_pylist()))
    assert expected
    for strategy in ("auto", "map-side", "shuffle"):
        found = situ.match_parquet(session, lake, QUERY, strategy=strategy).collect()
        assert sorted(repr(row.asDict()) for row in found) == expected, strategy
    note = f"the footers of {N_FILES} files show"
    assert note in str(situ.explain(session.read.parquet(lake), QUERY))
    print(f"passed on {lake}: {len(expected)} matches")


if __name__ == "__main__":
    main()
