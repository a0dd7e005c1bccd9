"""DataFrames whose files tasks read themselves: which ones, with the rows that Spark gives, and no others."""

from __future__ import annotations

import datetime as dt
import decimal
import logging
import random
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

import situ
from situ.errors import OptionError
from situ.expressions import compile_expression
from situ.operators.questions import matching
from situ.spark.batch import parquet
from situ.spark.batch.choose import choose
from situ.spark.batch.job import Job
from situ.spark.batch.parquet import Source
from situ.spark.select.project import schema_of
from situ.spark.session import tuned
from situ.spark.session.catalyst import NotPlainError
from situ.spark.session.plain_scan import plain_scan
from situ.spark.session.types import arrow_schema
from spark.test_batch import rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY = """FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 3, B AS x > 5 AND x < 8 PATTERN A contains B
           RETURN A.ts AS a, B.te AS b, max(A.x) AS top"""
SECONDS = 60


def readings() -> pa.Table:
    """Awkward values of many types; x goes 0..9 again and again."""
    start = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    n = 3 * SECONDS
    some = [i % 7 != 0 for i in range(n)]

    def column(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array([v if keep else None for v, keep in zip(values, some, strict=True)], kind)

    return pa.table(
        {
            "ts": pa.array(
                [start + dt.timedelta(seconds=i // 3) for i in range(n)], pa.timestamp("us", "UTC")
            ),
            "k": [("p", "q", None)[i % 3] for i in range(n)],
            "x": pa.array([(i // 3 + i % 3) % 10 for i in range(n)], pa.int32()),
            "small": column([i % 100 - 50 for i in range(n)], pa.int8()),
            "big": column([(i - 90) * 2**55 for i in range(n)], pa.int64()),
            "real": column([(float("nan"), -0.0, 0.0, 1e300, i / 3)[i % 5] for i in range(n)], pa.float64()),
            "single": column([(float("inf"), 0.1, -2.5, i)[i % 4] for i in range(n)], pa.float32()),
            "price": column([decimal.Decimal(i - 90).scaleb(-2) for i in range(n)], pa.decimal128(9, 2)),
            "text": column([("", "it's", "a\\b", "ä𝄞", "z" * (i % 5))[i % 5] for i in range(n)], pa.string()),
            "day": column([dt.date(2024, 1, 1) + dt.timedelta(days=i - 90) for i in range(n)], pa.date32()),
            "local": column([dt.datetime(2024, 1, 1, 0, i % 60) for i in range(n)], pa.timestamp("us")),
            "flag": column([i % 2 == 0 for i in range(n)], pa.bool_()),
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return readings()


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files that follow each other in time, of several row groups."""
    folder = tmp_path_factory.mktemp("direct")
    size = table.num_rows // 3
    for i in range(3):
        pq.write_table(table.slice(i * size, size), folder / f"{i}.parquet", row_group_size=20)
    return folder


@pytest.fixture(scope="module")
def df(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(str(folder))


def chosen(df: DataFrame, text: str = QUERY, **options: Any) -> Job | Source:
    return choose(df, matching(situ.query(text)), options)


TAKEN: dict[str, Callable[[DataFrame], DataFrame]] = {
    "the files": lambda df: df,
    "columns": lambda df: df.select("x", "ts", "k"),
    "dropped": lambda df: df.drop("text", "day"),
    "renamed": lambda df: (
        df.withColumnRenamed("x", "y").withColumnRenamed("k", "x_").selectExpr("y AS x", "x_ AS k", "ts")
    ),
    "one column under two names": lambda df: df.select("ts", "k", F.col("x"), F.col("x").alias("again")),
    "filtered": lambda df: df.where("x <> 4 AND big > -1000000000000"),
    "filtered by what is projected away": lambda df: df.where("flag").select("ts", "k", "x"),
    "filters around a new name": lambda df: (
        df.where("price > 0.5")
        .withColumnRenamed("x", "y")
        .where("y BETWEEN 1 AND 8")
        .withColumnRenamed("y", "x")
    ),
    "a name that situ might have taken": lambda df: df.where("flag").select(
        "ts", "k", "x", F.col("day").alias("_situ_kept_11")
    ),
    "alias": lambda df: df.alias("t").where("t.text IN ('', 'zzz', 'it''s')"),
}
NOT_TAKEN: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "limit": (lambda df: df.limit(30), "more than a scan"),
    "join": (lambda df: df.join(df.select("ts").distinct(), "ts"), "more than a scan"),
    "union": (lambda df: df.union(df.where("x < 0")), "more than a scan"),
    "sample": (lambda df: df.sample(0.5, 7), "more than a scan"),
    "order": (lambda df: df.orderBy("ts"), "more than a scan"),
    "distinct": (lambda df: df.distinct(), "more than a scan"),
    "a computed column": (lambda df: df.withColumn("x", F.col("x") + 1), "x is computed"),
    "a constant column": (lambda df: df.withColumn("n", F.lit(1)), "n is computed"),
    "chance": (lambda df: df.where(F.rand(1) < 0.5), "more than a scan"),
    "a function": (lambda df: df.where("length(text) > 1"), "calls length"),
    "arithmetic": (lambda df: df.where("x + 1 > 3"), "a filter calls"),
    "a cast that rounds": (lambda df: df.where("CAST(real AS INT) = 1"), "a filter casts double to int"),
    "a cast of text": (lambda df: df.where("text > 1"), "a filter casts string to"),
    "null": (lambda df: df.where("x = CAST(NULL AS INT)"), "more than a scan"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_taken(df: DataFrame, name: str) -> None:
    plan = TAKEN[name](df)
    assert isinstance(chosen(plan), Source)
    query = situ.query(QUERY)
    assert rows(situ.match(plan, query)) == rows(situ.match(plan, query, strategy="shuffle"))


@pytest.mark.parametrize("name", NOT_TAKEN)
def test_not_taken(df: DataFrame, name: str) -> None:
    make, why = NOT_TAKEN[name]
    job = chosen(make(df))
    assert isinstance(job, Job)
    assert why in str(job.not_direct)


def test_views_and_tables(df: DataFrame, spark: SparkSession, tmp_path: Path) -> None:
    df.createOrReplaceTempView("readings_of_direct")
    assert isinstance(chosen(spark.table("readings_of_direct").where("x > 1")), Source)
    assert isinstance(chosen(spark.sql("SELECT ts, k, x FROM readings_of_direct WHERE x > 1")), Source)
    partitioned = tmp_path / "by_k"
    df.write.partitionBy("k").parquet(str(partitioned))
    by_folder = spark.read.parquet(str(partitioned)).where("k = 'p'")
    assert isinstance(chosen(by_folder), Source)
    query = situ.query(QUERY)
    assert rows(situ.match(by_folder, query)) == rows(
        situ.match(df.where("k = 'p'"), query, strategy="shuffle")
    )
    spark.sql(
        f"CREATE TABLE direct_t USING parquet PARTITIONED BY (k) LOCATION '{tmp_path}/t' "
        "AS SELECT * FROM readings_of_direct"
    )
    try:
        assert "folders of a table" in str(chosen(spark.table("direct_t")).not_direct)  # type: ignore[union-attr]
    finally:
        spark.sql("DROP TABLE direct_t")


def test_what_is_cached_is_not_read_again(spark: SparkSession, folder: Path) -> None:
    cached = spark.read.parquet(str(folder)).where("x < 9")
    assert isinstance(chosen(cached), Source)
    cached.cache()
    try:
        assert isinstance(chosen(cached), Job)
    finally:
        cached.unpersist()
    assert isinstance(chosen(cached), Source)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.files.ignoreCorruptFiles", "true"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.parquet.datetimeRebaseModeInRead", "LEGACY"),
    ],
)
def test_settings_that_change_what_is_read(df: DataFrame, settings: Any, name: str, value: str) -> None:
    settings(name, value)
    assert name in str(chosen(df).not_direct)  # type: ignore[union-attr]


def test_reading_options(spark: SparkSession, folder: Path) -> None:
    merged = spark.read.option("mergeSchema", "true").parquet(str(folder))
    assert isinstance(chosen(merged), Source)
    odd = spark.read.option("datetimeRebaseMode", "LEGACY").parquet(str(folder))
    assert "datetimerebasemode" in str(chosen(odd).not_direct)  # type: ignore[union-attr]
    twice = spark.read.parquet(str(folder), str(folder / "0.parquet"))
    assert "read twice" in str(chosen(twice).not_direct)  # type: ignore[union-attr]


def test_files_of_other_types(spark: SparkSession, table: pa.Table, tmp_path: Path) -> None:
    """A schema that is given, or another file's, may be wider than what a file holds: Spark decides."""
    pq.write_table(table, tmp_path / "0.parquet")
    wider = spark.read.schema("ts timestamp, k string, x bigint").parquet(str(tmp_path))
    assert "holds int as x" in str(chosen(wider).not_direct)  # type: ignore[union-attr]
    missing = spark.read.schema("ts timestamp, k string, x int, gone int").parquet(str(tmp_path))
    assert isinstance(chosen(missing), Source)
    asked = QUERY.replace("max(A.x)", "max(A.gone)")
    assert "holds nothing as gone" in str(chosen(missing, asked).not_direct)  # type: ignore[union-attr]


def test_conditions_that_may_fail(df: DataFrame, settings: Any) -> None:
    """Spark may see that a part need not be evaluated, and then does not fail where situ would."""
    text = QUERY.replace("x > 3", "x / (x - 100) < 0")
    assert "fails for some values" in str(chosen(df, text).not_direct)  # type: ignore[union-attr]
    settings("spark.sql.ansi.enabled", "false")
    assert isinstance(chosen(df, text), Source)


def test_clocks_that_change(df: DataFrame, settings: Any) -> None:
    """When they did, the JVM and Python may know otherwise."""
    text = QUERY.replace("x > 3", "hour(ts) >= 0 AND x > 3")
    berlin = text.replace("hour(ts)", "hour(from_utc_timestamp(ts, 'Europe/Berlin'))")
    assert isinstance(chosen(df, text), Source)
    assert "the clocks of a zone" in str(chosen(df, berlin).not_direct)  # type: ignore[union-attr]
    settings("spark.sql.session.timeZone", "+05:30")
    assert isinstance(chosen(df, text), Source)
    settings("spark.sql.session.timeZone", "Europe/Berlin")
    assert isinstance(chosen(df), Source)
    assert "the clocks of a zone" in str(chosen(df, text).not_direct)  # type: ignore[union-attr]


def test_functions_of_the_user(spark: SparkSession, df: DataFrame) -> None:
    text = QUERY.replace("x > 3", "abs(real) > 3")
    assert isinstance(chosen(df, text), Source)
    spark.udf.register("abs", lambda x: x, "double")
    try:
        assert "function abs" in str(chosen(df, text).not_direct)  # type: ignore[union-attr]
    finally:
        spark.sql("DROP TEMPORARY FUNCTION abs")
    odd = chosen(df, QUERY.replace("x > 3", "soundex(text) = 'Z'"))
    assert "SOUNDEX" in str(odd.not_direct)  # type: ignore[union-attr]


def test_what_conditions_rule_out_costs_no_look_into_files(
    df: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    monkeypatch.setattr(parquet, "read_footers", lambda *_: looked.append(1))
    for condition in ("soundex(text) = 'Z'", "x / (x - 100) < 0"):
        assert isinstance(chosen(df, QUERY.replace("x > 3", condition)), Job)
    assert not looked


def test_without_partitions_only_in_order(
    df: DataFrame, spark: SparkSession, table: pa.Table, tmp_path: Path
) -> None:
    text = QUERY.replace("PARTITION BY k ", "").replace("RETURN", "WITHIN 1 hour RETURN")
    assert isinstance(chosen(df, text, ties="last"), Source)
    for i in range(2):
        pq.write_table(table.take(list(range(i, table.num_rows, 2))), tmp_path / f"{i}.parquet")
    mixed = spark.read.parquet(str(tmp_path))
    assert "without PARTITION BY" in str(chosen(mixed, text, ties="last").not_direct)  # type: ignore[union-attr]
    assert isinstance(chosen(mixed), Source)
    assert chosen(mixed).is_whole  # type: ignore[union-attr]
    query = situ.query(QUERY)
    assert rows(situ.match(mixed, query)) == rows(situ.match(df, query))


def test_asked_for(df: DataFrame) -> None:
    query = situ.query(QUERY)
    assert rows(situ.match(df, query, strategy="direct")) == rows(situ.match(df, query, strategy="map-side"))
    with pytest.raises(OptionError, match="read Parquet files themselves, but the plan is more than a scan"):
        situ.match(df.limit(3), query, strategy="direct")


def test_explain_says_so(df: DataFrame) -> None:
    query = situ.query(QUERY)
    taken = str(situ.explain(df, query))
    assert "Strategy direct: tasks read the 3 Parquet files themselves." in taken
    assert tuned.ARROW_BYTES not in taken
    other = str(situ.explain(df.limit(5), query))
    assert "Not direct" in other
    assert "more than a scan" in other


COLUMNS = {
    "x": ["3", "-1", "2147483648", "2.5", "1e0", "CAST(4 AS TINYINT)"],
    "small": ["3", "-128", "127S", "-0.5", "3000000000"],
    "big": ["0", "36028797018963968", "-3242591731706757121L", "1.5", "9.2e18"],
    "real": ["0.0", "CAST('NaN' AS DOUBLE)", "1e300", "-0e0", "3", "1.5BD"],
    "single": ["0.1", "-2.5", "0.1e0", "CAST('Infinity' AS DOUBLE)", "7"],
    "price": ["0.5", "-0.90", "1", "12345678901.123", "0.1e0"],
    "text": ["''", "'it''s'", "'a\\\\b'", "'ä𝄞'", "'zzz'", '"z"'],
    "day": ["DATE '2024-01-01'", "DATE '0001-01-01'", "'2023-12-25'", "DATE '9999-12-31'"],
    "ts": [
        "TIMESTAMP '2024-01-01 00:00:30'",
        "'2024-01-01T00:00:10+02:00'",
        "'2024-01-01'",
        "DATE '2024-01-01'",
    ],
    "local": ["TIMESTAMP_NTZ '2024-01-01 00:30:00'", "'2024-01-01 00:07:00'"],
    "flag": ["TRUE", "FALSE"],
}


def random_filter(draw: random.Random, depth: int = 2) -> str:
    if depth and draw.random() < 0.6:
        left, right = random_filter(draw, depth - 1), random_filter(draw, depth - 1)
        return draw.choice([f"({left} AND {right})", f"({left} OR {right})", f"(NOT {left})"])
    name = draw.choice(list(COLUMNS))
    one, other = (draw.choice(COLUMNS[name]) for _ in range(2))
    sign = draw.choice(["=", "<>", "<", "<=", ">", ">=", "<=>"])
    return draw.choice(
        [
            f"{name} {sign} {one}",
            f"{one} {sign} {name}",
            f"{name} BETWEEN {one} AND {other}",
            f"{name} NOT IN ({one}, {other})",
            f"{name} IS NULL",
            f"{name} IS NOT NULL",
            f"{name} {sign} {draw.choice([c for c in COLUMNS if c in ('x', 'small', 'big', 'real')])}"
            if name in ("x", "small", "big", "real")
            else f"{name} = {one}",
        ]
    )


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_filters_mean_what_they_mean_to_spark(
    spark: SparkSession, df: DataFrame, table: pa.Table, settings: Any, zone: str
) -> None:
    """Each filter of a plan, as situ takes it over, row by row against Spark; one job for all."""
    settings("spark.sql.session.timeZone", zone)
    draw = random.Random(f"filters {zone}")
    own, taken = {}, 0
    for text in (random_filter(draw) for _ in range(200)):
        scan = _scan(df.where(text))
        if scan is None:
            continue
        taken += 1
        schema = arrow_schema(schema_of(df), df.schema)
        compiled = compile_expression(scan.kept, schema, ansi=True, time_zone=zone)
        columns = {
            name: table[name].combine_chunks().cast(schema.field(name).type) for name in compiled.columns
        }
        assert not compiled.can_fail, text
        own[text] = compiled(columns, table.num_rows).to_pylist()
    assert taken > 100
    asked = [F.coalesce(F.expr(text), F.lit(False)).alias(f"f{i}") for i, text in enumerate(own)]
    answers = _numbered(spark, df, table).select("row", *asked).toArrow().sort_by("row")
    for i, (text, values) in enumerate(own.items()):
        assert [bool(value) for value in values] == answers[f"f{i}"].to_pylist(), text


def _scan(df: DataFrame) -> Any:
    """The scan, where there is a filter that is understood."""
    try:
        scan = plain_scan(df)
    except NotPlainError:
        return None
    return scan if scan.kept is not None else None


def _numbered(spark: SparkSession, df: DataFrame, table: pa.Table) -> DataFrame:
    schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in df.schema.fields)
    rows = table.append_column("row", pa.array(range(table.num_rows), pa.int64()))
    return spark.createDataFrame(rows, schema=f"{schema}, row bigint")


def test_tune(spark: SparkSession, df: DataFrame, settings: Any) -> None:
    settings(tuned.ARROW_BYTES, "256m")
    assert tuned.measures_batches(spark)
    assert "situ.tune(spark)" in str(situ.explain(df, situ.query(QUERY), strategy="shuffle"))
    changed = situ.tune(spark)
    assert "maxBytesPerBatch = 2147483647" in str(changed)
    assert "before: 256m" in str(changed)
    assert spark.conf.get(tuned.PROVIDER) == tuned.ROCKSDB
    assert not tuned.measures_batches(spark)
    assert "situ.tune" not in str(situ.explain(df, situ.query(QUERY), strategy="shuffle"))
    assert str(situ.tune(spark)) == "Nothing to change: the session has every setting that situ wants."


def test_what_measuring_costs_is_said_once(
    df: DataFrame, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    query = situ.query(QUERY)
    tuned._say_once.cache_clear()
    with caplog.at_level(logging.WARNING, "situ.spark"):
        settings(tuned.ARROW_BYTES, str(tuned.NO_LIMIT))
        situ.match(df, query, strategy="shuffle")
        settings(tuned.ARROW_BYTES, "268435456")
        situ.match(df, query)  # read directly: nothing is handed over
        assert not caplog.records
        situ.match(df, query, strategy="shuffle")
        situ.match(df, query, strategy="map-side")
    assert [record.name for record in caplog.records] == ["situ.spark"]
    assert "situ.tune(spark)" in caplog.text
