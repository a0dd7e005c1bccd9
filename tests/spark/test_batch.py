"""Batch DataFrames on a real session: results, schemas, plans, errors."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import situ
from situ.errors import (
    BindError,
    ConditionTypeError,
    DataError,
    OptionError,
    UnknownColumnError,
    UnsupportedExpressionError,
)
from situ.spark.batch.job import n_bad_rows
from situ.spark.errors import situ_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STRATEGIES = ("shuffle", "map-side")
TEXT = """
FROM readings PARTITION BY k ORDER BY ts
DEFINE A AS x > 3, B AS x > 5 AND x < 8
PATTERN A contains B
RETURN avg(A.y) AS mean, A.ts AS started, B.te AS ended, count(B) AS n
"""


def readings(n_seconds: int = 240, keys: tuple[str | None, ...] = ("p", "q", None)) -> pa.Table:
    """Every key once a second; x goes 0..9 again and again, from another digit for each key."""
    times = [dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=s) for s in range(n_seconds)]
    rows = [(t, k, (s + 3 * i) % 10, s * 1.5 + i) for s, t in enumerate(times) for i, k in enumerate(keys)]
    ts, k, x, y = zip(*rows, strict=True)
    return pa.table({"ts": pa.array(ts, pa.timestamp("us", "UTC")), "k": k, "x": x, "y": y})


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return readings()


@pytest.fixture(scope="module")
def folder(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files that follow each other in time, with statistics."""
    folder = tmp_path_factory.mktemp("readings")
    size = table.num_rows // 4
    for i in range(4):
        pq.write_table(table.slice(i * size, size), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture(scope="module")
def df(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(str(folder))


def rows(result: Any) -> list[tuple[Any, ...]]:
    """Sorted rows of a DataFrame or table."""
    table = result if isinstance(result, pa.Table) else result.toArrow()
    found = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(found, key=lambda row: tuple((value is not None, value) for value in row))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_gives_what_the_engine_gives(df: DataFrame, table: pa.Table, strategy: str) -> None:
    query = situ.query(TEXT)
    result = situ.match(df, query, strategy=strategy, match_id=True)
    assert rows(result) == rows(situ.match(table, query, match_id=True))
    assert result.columns == ["k", "mean", "started", "ended", "n", "match_time", "match_id"]
    types = {field.name: (field.dataType.simpleString(), field.nullable) for field in result.schema.fields}
    assert types["ended"] == ("timestamp", True)
    assert (types["mean"][0], types["n"][0], types["match_time"][0]) == ("double", "bigint", "timestamp")


def test_transform(df: DataFrame, table: pa.Table) -> None:
    query = situ.query(TEXT)
    assert rows(df.transform(situ.match, query)) == rows(situ.match(table, query))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_situations(df: DataFrame, table: pa.Table, strategy: str) -> None:
    query = situ.query(TEXT)
    result = situ.situations(df, query, strategy=strategy)
    expected = situ.situations(table, query)
    assert result.columns == expected.column_names
    assert rows(result) == rows(expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_unpartitioned_in_slices(spark: SparkSession, settings: Any, strategy: str, tmp_path: Path) -> None:
    settings("spark.situ.slices", "3")
    table = readings(n_seconds=3000, keys=("p",))
    for i in range(3):
        pq.write_table(table.slice(i * 1000, 1000), tmp_path / f"part-{i}.parquet")
    query = situ.query(TEXT.replace("PARTITION BY k", "") + " WITHIN 1 minute")
    df = spark.read.parquet(str(tmp_path))
    assert rows(situ.match(df, query, strategy=strategy)) == rows(situ.match(table, query))
    assert "up to 3 slices" in str(situ.explain(df, query))
    settings("spark.situ.slices", "many")
    with pytest.raises(OptionError, match="is not a number of slices"):
        situ.match(df, query)


def test_direct(spark: SparkSession, folder: Path, table: pa.Table) -> None:
    query = situ.query(TEXT)
    result = situ.match_parquet(spark, str(folder), query, match_id=True)
    assert rows(result) == rows(situ.match(table, query, match_id=True))


def test_situations_of_files(spark: SparkSession, folder: Path, table: pa.Table) -> None:
    query = situ.query(TEXT)
    result, expected = situ.situations_parquet(spark, str(folder), query), situ.situations(table, query)
    assert result.columns == expected.column_names
    assert rows(result) == rows(expected)


def test_direct_takes_uris(spark: SparkSession, table: pa.Table, tmp_path: Path) -> None:
    """As Spark takes them, several too: Hadoop's paths are not escaped, the files it then lists are."""
    query, half = situ.query(TEXT), table.num_rows // 2
    paths = [tmp_path / "a b" / "50% é.parquet", tmp_path / "plain.parquet"]
    paths[0].parent.mkdir()
    for i, path in enumerate(paths):
        pq.write_table(table.slice(i * half, half), path)
    result = situ.match_parquet(spark, [f"file://{path}" for path in paths], query)
    assert rows(result) == rows(situ.match(table, query))


@pytest.fixture
def mounted(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """`tmp_path` under a file system that Spark knows and Arrow does not: one of Hadoop's mount tables."""
    name = uuid.uuid4().hex  # Hadoop keeps the file systems it has made, by name
    link = f"fs.viewfs.mounttable.{name}.link./data"
    spark.conf.set(link, tmp_path.as_uri())
    yield f"viewfs://{name}/data"
    spark.conf.unset(link)


@pytest.mark.parametrize("strategy", ["auto", "map-side", "shuffle"])
def test_files_that_only_spark_reaches(
    spark: SparkSession, table: pa.Table, tmp_path: Path, mounted: str, strategy: str
) -> None:
    """Rows without a time, folders with odd names and folders that WHERE prunes, all as with other files."""
    half = table.num_rows // 2
    bad = table.slice(0, 3).set_column(0, table.schema.field(0), pa.nulls(3, table["ts"].type))
    parts = {"1": pa.concat_tables([table.slice(0, half), bad]), "a:b é": table.slice(half), "x": table}
    for day, part in parts.items():
        folder = tmp_path / f"day={day.replace(':', '%3A')}"  # as Spark writes it
        folder.mkdir()
        pq.write_table(part, folder / "part.parquet")
    text = TEXT.replace("FROM readings", "FROM readings WHERE day < 'w'").replace("BY k", "BY k, day")
    result = situ.match_parquet(spark, mounted, situ.query(text), strategy=strategy, on_bad_rows="drop")
    days = [part.append_column("day", pa.array([day] * part.num_rows)) for day, part in parts.items()]
    expected = situ.match(pa.concat_tables(days), situ.query(text), on_bad_rows="drop")
    assert rows(result) == rows(expected)
    assert n_bad_rows(result) == 3
    pruned = [path for path in result.inputFiles() if "day=x" in path]
    assert not pruned


def test_strategy_of_files_that_only_spark_reaches(
    spark: SparkSession, table: pa.Table, tmp_path: Path, mounted: str
) -> None:
    """Footers are read through Spark's own libraries, so that "auto" can know the order of the files."""
    for i in range(2):
        pq.write_table(table.slice(i * 360, 360), tmp_path / f"part-{i}.parquet")
    df = spark.read.parquet(mounted)
    assert "the footers of 2 files show" in str(situ.explain(df, situ.query(TEXT)))


def test_files_that_spark_cannot_hand_over(
    spark: SparkSession, table: pa.Table, tmp_path: Path, mounted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error at the call, which says what to do instead."""
    pq.write_table(table, tmp_path / "part.parquet")
    monkeypatch.setattr("situ.spark.batch.parquet._MOST_AT_ONCE", 100)
    with pytest.raises(DataError, match="cannot be reached with Arrow, nor through Spark") as caught:
        situ.match_parquet(spark, mounted, situ.query(TEXT))
    assert "spark.read.parquet" in str(caught.value.hint)


def test_direct_reads_folders_and_prunes_them(spark: SparkSession, tmp_path: Path) -> None:
    """Hive folders are columns, also partition columns; a folder that WHERE rules out is not opened."""
    parts = []
    for day in (1, 2, 3):
        part = readings(n_seconds=60).append_column("day", pa.array([day] * 180, pa.int32()))
        (tmp_path / f"day={day}").mkdir()
        pq.write_table(part.drop_columns(["day"]), tmp_path / f"day={day}" / "part.parquet")
        parts.append(part)
    (tmp_path / "day=3" / "part.parquet").write_bytes(b"not parquet at all")
    text = TEXT.replace("FROM readings", "FROM readings WHERE day < 3").replace("BY k", "BY k, day")
    result = situ.match_parquet(
        spark, [str(tmp_path / f"day={day}") for day in (1, 2)], situ.query(TEXT), strategy="shuffle"
    )
    assert result.count() > 0
    table = pa.concat_tables(parts[:2])
    pq.write_table(parts[0].drop_columns(["day"]), tmp_path / "day=3" / "part.parquet")
    found = situ.match_parquet(spark, str(tmp_path), situ.query(text))
    assert rows(found) == rows(situ.match(table, situ.query(text)))


def test_direct_refuses_what_only_spark_can_evaluate(spark: SparkSession, folder: Path) -> None:
    query = situ.query(TEXT.replace("x > 3", "soundex(k) = 'P000'"))
    with pytest.raises(UnsupportedExpressionError, match="SOUNDEX"):
        situ.match_parquet(spark, str(folder), query)


def test_any_spark_function(df: DataFrame, spark: SparkSession) -> None:
    """In conditions and in RETURN, registered ones too."""
    spark.udf.register("half", lambda x: x / 2, "double")
    text = """FROM readings PARTITION BY k ORDER BY ts
    DEFINE A AS half(x) > 1.5 AND soundex(coalesce(k, 'p')) = 'P000'
    RETURN date_format(A.ts, 'HH:mm:ss') AS at, array(first(A.x), last(A.x)) AS ends"""
    found = situ.match(df, situ.query(text)).where("k = 'p'").orderBy("match_time").first()
    assert (found.at, found.ends) == ("00:00:04", [4, 4])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_only_key_time_one_mask_and_needed_attributes_leave_the_jvm(df: DataFrame, strategy: str) -> None:
    plan = situ.match(df, situ.query(TEXT), strategy=strategy)._jdf.queryExecution().optimizedPlan()
    arrow = [node for node in walk(plan) if node.getClass().getSimpleName() == "MapInArrow"]
    child = arrow[-1].children().head().output()
    names = [child.apply(i).name() for i in range(child.size())]
    types = [child.apply(i).dataType().simpleString() for i in range(child.size())]
    assert names[:4] == ["_c0", "_c1", "_c2", "_mask"]  # k, ts, y, mask; x stays where it is
    assert types[:4] == ["string", "timestamp", "double", "tinyint"]
    assert names[4:] == (["_situ_split"] if strategy == "map-side" else [])


def walk(plan: Any) -> Iterator[Any]:
    yield plan
    for i in range(plan.children().size()):
        yield from walk(plan.children().apply(i))


def test_nothing_runs_before_an_action(df: DataFrame, spark: SparkSession) -> None:
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))
    situ.match(df, situ.query(TEXT))
    situ.explain(df, situ.query(TEXT))
    assert set(tracker.getJobIdsForGroup(None)) == before


def test_auto_reads_footers(df: DataFrame) -> None:
    query = situ.query(TEXT)
    ordered = str(situ.explain(df.where("x >= 0").withColumn("z", df.x * 2), query))
    assert "Strategy map-side: the footers of 4 files show" in ordered
    shuffled = str(situ.explain(df.repartition(3), query))
    assert "Strategy shuffle: the plan is more than a scan" in shuffled
    computed = str(situ.explain(df.withColumn("ts", df.ts + dt.timedelta(hours=1)), query))
    assert "ts is computed" in computed


def test_splits_that_interleave_are_refused_with_the_key(df: DataFrame) -> None:
    with pytest.raises(PySparkException) as caught:
        situ.match(df.repartition(3), situ.query(TEXT), strategy="map-side").collect()
    error = situ_error(caught.value)
    assert isinstance(error, DataError)
    assert "do not interleave" in error.message
    assert "of partition ('" in error.message or "of partition (None,)" in error.message
    assert error.hint is not None
    assert 'strategy="shuffle"' in error.hint


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz", "date", "int"])
def test_time_types_and_zones(spark: SparkSession, settings: Any, kind: str) -> None:
    """Times are what they are in whatever zone the session has, over a change to summer time too."""
    settings("spark.sql.session.timeZone", "America/New_York")
    unit = {"int": "id", "date": "date_add(date'2024-03-01', cast(id as int))"}
    sql = unit.get(kind, f"{kind}'2024-03-10 00:00:00' + make_dt_interval(0, cast(id as int))")
    events = spark.sql(f"SELECT cast({sql} AS {kind}) AS t, id % 4 AS x FROM range(40)")
    text = "FROM e ORDER BY t DEFINE A AS x > 1 RETURN A.ts AS a, A.te AS b, A.duration AS d"
    result = situ.match(events, situ.query(text), ties="last")
    assert [field.dataType.simpleString() for field in result.schema.fields[:2]] == [kind, kind]
    arrow = events.toArrow()
    assert rows(result) == rows(situ.match(arrow, situ.query(text), ties="last"))


def test_partition_columns_of_any_type(spark: SparkSession) -> None:
    events = spark.sql(
        """SELECT id div 12 AS t, id % 3 > 0 AS up,
             CASE id % 2 WHEN 0 THEN 'é' END AS s, cast(id % 2 AS decimal(20, 3)) AS d,
             date_add(date'2024-01-01', cast(id % 3 AS int)) AS day, cast(id % 4 < 2 AS boolean) AS b,
             CASE id % 6 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D END AS f,
             cast(concat('x', id % 2) AS binary) AS bin, timestamp_seconds(id % 2) AS at
           FROM range(240)"""
    )
    keys = ["s", "d", "day", "b", "f", "bin", "at"]
    text = f"FROM e PARTITION BY {', '.join(keys)} ORDER BY t DEFINE A AS up"
    counts = [situ.match(events, situ.query(text), strategy=strategy).count() for strategy in STRATEGIES]
    assert counts[0] == counts[1] == events.where("up").select(*keys).distinct().count()


@pytest.mark.parametrize("is_ansi", ["true", "false"])
def test_ansi_is_the_sessions(spark: SparkSession, settings: Any, is_ansi: str) -> None:
    settings("spark.sql.ansi.enabled", is_ansi)
    events = spark.sql("SELECT id AS t, 'big' AS k, 9223372036854775807 AS n FROM range(3)")
    query = situ.query(
        "FROM e PARTITION BY k ORDER BY t DEFINE A AS t < 2 EMIT FINAL RETURN sum(A.n) AS total"
    )
    if is_ansi == "false":
        assert situ.match(events, query).first().total == -2
        return
    with pytest.raises(PySparkException) as caught:
        situ.match(events, query).collect()
    error = situ_error(caught.value)
    assert error is not None
    assert error.message.startswith("in partition ('big',): ")


@pytest.mark.parametrize("way", [*STRATEGIES, "direct", "direct, whole events"])
def test_null_times(spark: SparkSession, tmp_path: Path, way: str) -> None:
    """SEM 1.4, of the rows that WHERE leaves; a row group of nothing but bad rows too."""
    times = [0, 1, 2, None, 4, 5, None, 7, 8, 9, None, None]
    table = pa.table({"t": pa.array(times, pa.int64()), "k": ["p"] * 12, "n": range(12)})
    pq.write_table(table, tmp_path / "events.parquet", row_group_size=2)
    query = situ.query("FROM e WHERE n <> 6 PARTITION BY k ORDER BY t DEFINE A AS n > 2")

    def found(**options: Any) -> DataFrame:
        if way in STRATEGIES:
            return situ.match(spark.read.parquet(str(tmp_path)), query, strategy=way, **options)
        strategy = "map-side" if way == "direct" else "shuffle"
        return situ.match_parquet(spark, str(tmp_path), query, strategy=strategy, **options)

    with pytest.raises(PySparkException) as caught:
        found().collect()
    assert "time column t is null in 3 rows" in str(situ_error(caught.value))
    dropped = found(on_bad_rows="drop")
    assert [row.match_time for row in dropped.collect()] == [4]
    assert n_bad_rows(dropped) == 3


def test_one_key_larger_than_the_limit(spark: SparkSession, settings: Any) -> None:
    """Sorted runs in files, merged in blocks: the same matches, and Python workers stay small."""
    settings("spark.situ.worker.memory", "64k")
    events = spark.sql(
        "SELECT id * 7919 % 20011 AS t, 'p' AS k, id * 7919 % 20011 % 10 AS x, 1.5D AS y FROM range(20011)"
    )
    text = TEXT.replace("ts", "t", 1).replace("ORDER BY ts", "ORDER BY t") + " WITHIN 100"
    query = situ.query(text.replace("A.t ", "A.ts "))
    expected = rows(situ.match(events.toArrow(), query))
    assert rows(situ.match(events.repartition(5), query, strategy="shuffle")) == expected


def test_a_split_larger_than_the_limit_is_sorted(spark: SparkSession, settings: Any, tmp_path: Path) -> None:
    """Footers show that files follow each other, not that the rows within one do: map-side sorts."""
    settings("spark.situ.worker.memory", "16k")
    settings("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
    table = readings(n_seconds=2000, keys=("p", "q"))
    for i in range(2):
        part = table.slice(i * 2000, 2000)
        mixed = part.take([n * 7 % 2000 for n in range(2000)])
        pq.write_table(mixed, tmp_path / f"part-{i}.parquet", row_group_size=500)
    query, df = situ.query(TEXT), spark.read.parquet(str(tmp_path))
    expected = rows(situ.match(table, query))
    handed_over = df.withColumn("z", df.x * 2)
    assert "Strategy map-side" in str(situ.explain(handed_over, query))
    assert rows(situ.match(handed_over, query)) == expected
    assert "Strategy direct" in str(situ.explain(df, query))
    assert rows(situ.match(df, query)) == expected


def test_shuffled_bytes(spark: SparkSession, tmp_path: Path) -> None:
    """Map-side moves at most a tenth of what the full shuffle moves, by Spark's own metrics."""
    table = readings(n_seconds=20_000, keys=("p", "q"))
    slow = table.set_column(2, "x", pa.array([(i // 200) % 10 for i in range(table.num_rows)]))
    pq.write_table(slow, tmp_path / "slow.parquet")
    events = spark.read.parquet(str(tmp_path))
    moved = {s: shuffle_bytes(situ.match(events, situ.query(TEXT), strategy=s)) for s in STRATEGIES}
    assert 0 < moved["map-side"] * 10 <= moved["shuffle"]


def shuffle_bytes(result: DataFrame) -> int:
    """What an action on it writes for shuffles, as the sum over the stages that Spark ran for it."""
    context = result.sparkSession.sparkContext
    before = written_bytes(context)
    result.collect()
    return written_bytes(context) - before


def written_bytes(context: Any) -> int:
    context._jsc.sc().listenerBus().waitUntilEmpty()
    no_quantiles = context._gateway.new_array(context._gateway.jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(None, False, False, no_quantiles, None)
    return sum(stages.apply(i).shuffleWriteBytes() for i in range(stages.size()))


def test_given_intervals(spark: SparkSession) -> None:
    table = pa.table(
        {
            "k": ["p", "p", "p", "q", "q"],
            "kind": ["A", "B", "A", "A", "B"],
            "ts": [1, 3, 20, 5, 4],
            "te": [10, 7, 30, 9, 12],
        }
    )
    query = situ.query(
        "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te PARTITION BY k PATTERN A contains;during B"
    )
    result = situ.match(spark.createDataFrame(table), query)
    assert rows(result) == rows(situ.match(table, query))
    assert result.count() == 2
    for name, value in {"strategy": "map-side", "ties": "error", "forget_after": 5}.items():
        with pytest.raises(OptionError, match=name):
            situ.match(spark.createDataFrame(table), query, **{name: value})


def test_given_intervals_of_files(spark: SparkSession, tmp_path: Path) -> None:
    """Tasks read start, end and id themselves, begin rows among them; SYMBOL BY is a condition."""
    n = 300
    table = pa.table(
        {
            "k": [f"p{i % 3}" for i in range(n)],
            "kind": ["AB"[i % 2] for i in range(n)],
            "id": [f"{i}" for i in range(n)],
            "ts": range(n),
            "te": pa.array([None if i % 7 == 0 else i + 5 for i in range(n)], pa.int64()),
        }
    )
    for i in range(3):
        pq.write_table(table.slice(i * 100, 100), tmp_path / f"{i}.parquet")
    query = situ.query(
        "FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id PARTITION BY k "
        "PATTERN A overlaps B WITHIN 40 RETURN A.ts AS a, B.ts AS b"
    )
    expected = situ.match(table, query)
    assert expected.num_rows > 50
    assert rows(situ.match_parquet(spark, str(tmp_path), query)) == rows(expected)
    listed = situ.situations_parquet(spark, str(tmp_path), query)
    assert rows(listed) == rows(situ.situations(table, query))


def test_mistakes_fail_at_the_call(df: DataFrame) -> None:
    with pytest.raises(UnknownColumnError):
        situ.match(df, situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS speed > 1"))
    with pytest.raises(BindError, match=r"(?i)nosuchfunction"):
        situ.match(df, situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS nosuchfunction(x) > 1"))
    with pytest.raises(ConditionTypeError, match="is a double"):
        situ.match(df, situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS sqrt(x)"))
    with pytest.raises(BindError, match="RETURN"):
        situ.match(
            df, situ.query("FROM t PARTITION BY k ORDER BY ts DEFINE A AS x > 1 RETURN nosuch(A.ts) AS z")
        )
    with pytest.raises(OptionError, match="did you mean strategy"):
        situ.match(df, situ.query(TEXT), strategie="shuffle")
    with pytest.raises(OptionError, match="does not apply to a batch DataFrame"):
        situ.match(df, situ.query(TEXT), watermark="5 minutes")
    with pytest.raises(OptionError, match="points does not apply to events"):
        situ.match(df, situ.query(TEXT), points="widen")
    with pytest.raises(OptionError, match="points does not apply to events"):
        situ.why(df, situ.query(TEXT), points="widen")
    with pytest.raises(OptionError, match="is not one of"):
        situ.match(df, situ.query(TEXT), strategy="fastest")
    nested = df.selectExpr("ts", "x", "y", "named_struct('k', k) AS s")
    with pytest.raises(BindError, match="cannot partition by s"):
        situ.match(nested, situ.query(TEXT.replace("BY k", "BY s")))


def test_decimals_and_nested_values(spark: SparkSession) -> None:
    events = spark.sql(
        """SELECT id AS t, 'p' AS k, id > 1 AS up, cast(id AS decimal(10, 2)) AS d, named_struct('N', id) AS s
           FROM range(6)"""
    )
    text = """FROM e PARTITION BY k ORDER BY t DEFINE A AS up
    RETURN sum(A.d) AS total, avg(A.d) AS mean, first(A.s) AS s"""
    (found,) = situ.match(events, situ.query(text)).collect()
    assert (found.total, found.mean) == (decimal.Decimal("2.00"), decimal.Decimal("2.000000"))
    assert found.s.N == 2


def test_lists_are_of_sparks_types_and_any_function_takes_them(spark: SparkSession) -> None:
    """Beside `tests/aggregate`, which holds their values."""
    events = spark.sql(
        """SELECT id AS t, id % 4 > 0 AS up, cast(nullif(id, 2) AS decimal(20, 2)) AS d,
        named_struct('N', id) AS s FROM range(8)"""
    )
    text = """FROM e ORDER BY t DEFINE A AS up AT LEAST 3 WITHIN 100
    RETURN collect_list(A.s) AS all, size(collect_list(A.d)) + 1 AS n, percentile(A.d, 0.25) AS quarter"""
    query = situ.query(text)
    for strategy in STRATEGIES:
        found = situ.match(events, query, strategy=strategy)
        assert found.schema["all"].dataType.simpleString() == "array<struct<N:bigint>>"
        assert [(len(row.all), row.all[0].N, row.n, row.quarter) for row in found.collect()] == [
            (3, 1, 3, 1.5)
        ]
        listed = situ.situations(events, query, strategy=strategy)
        assert listed.columns[-3:] == ["collect_list_s", "collect_list_d", "percentile_0_25_d"]
        assert [row[0] for row in listed.selectExpr("size(collect_list_s)").collect()] == [3]
