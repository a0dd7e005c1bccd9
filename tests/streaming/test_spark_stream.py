"""Streaming DataFrames on a real session: the same matches as a table gives, whatever happens in between."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, OptionError, QueryError, SituError, StateError, TimeColumnError
from situ.spark.errors import situ_error
from situ.spark.stream.metrics import MetricsListener
from streaming.running import FileStream, canonical_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())])
PATTERN = """FROM s PARTITION BY k ORDER BY t
DEFINE A AS x > 0, B AS x > 0.8 AT LEAST 1 second
PATTERN A contains;started-by;overlaps B
WITHIN 60 seconds
RETURN A.ts AS a, B.ts AS b, B.te AS e, avg(A.x) * 2 AS m, count(B) AS n"""
GIVEN = "FROM INTERVALS s SYMBOL BY k STARTING t ENDING u PATTERN A before B WITHIN 1 minute"
LISTED = "FROM s ORDER BY t DEFINE A AS x > 0 WITHIN 60 seconds RETURN median(A.x) AS m"
TICKS = "FROM s ORDER BY k DEFINE A AS x > 0 WITHIN 60"
START = datetime(2024, 1, 1, tzinfo=UTC)


def events(n: int, n_keys: int = 5, seed: int = 1) -> pa.Table:
    """One event a second, keys and values at random."""
    random = np.random.default_rng(seed)
    times = [START + timedelta(seconds=i) for i in range(n)]
    return pa.table({"k": random.integers(0, n_keys, n), "t": times, "x": random.normal(size=n)}, SCHEMA)


def one_event(hours: int) -> pa.Table:
    return pa.table({"k": [0], "t": [START + timedelta(hours=hours)], "x": [0.0]}, SCHEMA)


def cut(table: pa.Table, n: int) -> list[pa.Table]:
    size = -(-table.num_rows // n)
    return [table.slice(at, size) for at in range(0, table.num_rows, size)]


def before(table: pa.Table, instant: datetime) -> pa.Table:
    return table.filter(pa.array([time < instant for time in table["match_time"].to_pylist()]))


def test_rows_as_they_come(spark: SparkSession, tmp_path: Path) -> None:
    """SEM 8.1, 8.2, 8.3: restarted between micro-batches; older rows are late, counted and given back."""
    table = events(240)
    stream = FileStream(spark, tmp_path, SCHEMA)
    pieces = cut(table, 3)
    late = table.slice(10, 4)
    for added in ([pieces[0]], [pieces[1], late], [pieces[2]]):
        stream.add(added)
        stream.run(PATTERN, late_rows=True)
    results = stream.results()
    is_late = np.asarray(results["late_row"].combine_chunks().is_valid())
    found = results.filter(pa.array(~is_late)).drop_columns(["late_row"])
    assert canonical_rows(found) == canonical_rows(situ.match(table, situ.query(PATTERN)))
    given_back = results.filter(pa.array(is_late))["late_row"].to_pylist()
    assert sorted(map(repr, given_back)) == sorted(map(repr, late.to_pylist()))
    assert stream.counts("late_rows") == 4
    assert stream.counts("matches") == found.num_rows


def test_out_of_order_under_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    """SEM 8.1, 8.3: what waits is applied by the next run from the same checkpoint."""
    table = events(240)
    order = np.argsort(np.arange(240) + np.random.default_rng(2).uniform(0, 20, 240))
    shuffled = table.take(pa.array(order))
    stream = FileStream(spark, tmp_path, SCHEMA, watermark=("t", "20 seconds"))
    wanted = situ.match(table, situ.query(PATTERN), match_id=True)

    stream.add(cut(shuffled, 4)[:3])
    stream.run(PATTERN, match_id=True)
    seen = max(cut(shuffled, 4)[i]["t"].to_pylist()[j] for i in range(3) for j in range(60))
    assert canonical_rows(stream.results()) == canonical_rows(before(wanted, seen - timedelta(seconds=20)))

    stream.add(
        [cut(shuffled, 4)[3], pa.table({"k": [0], "t": [START + timedelta(hours=1)], "x": [0.0]}, SCHEMA)]
    )
    stream.run(PATTERN, match_id=True)
    assert canonical_rows(stream.results()) == canonical_rows(wanted)
    assert stream.counts("late_rows") == 0


def test_rows_that_where_removes_move_the_watermark(spark: SparkSession, tmp_path: Path) -> None:
    """SEM 8.1: Spark would filter first, for the condition does not read the time, and rows would wait on."""
    table = events(150)
    text = PATTERN.replace("PARTITION", "WHERE x < 100 PARTITION")
    removed = pa.table({"k": [0], "t": [START + timedelta(hours=1)], "x": [1000.0]}, SCHEMA)
    stream = FileStream(spark, tmp_path, SCHEMA, watermark=("t", "10 minutes"))
    stream.add([table, removed])
    stream.run(text)
    wanted = situ.match(table, situ.query(PATTERN))
    assert wanted.num_rows > 0
    assert canonical_rows(stream.results()) == canonical_rows(wanted)
    assert stream.counts("late_rows") == 0


def test_another_query_on_an_old_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = FileStream(spark, tmp_path, SCHEMA)
    pieces = cut(events(60), 6)
    stream.add(pieces[:1])
    stream.run(PATTERN)
    found = canonical_rows(stream.results())
    changes: list[tuple[str, dict[str, Any], str]] = [
        (
            PATTERN.replace("0.8", "0.9"),
            {},
            r"made for another query(.|\n)*0.8(.|\n)*0.9(.|\n)*new checkpoint",
        ),
        (PATTERN, {"buckets": 8}, "made with buckets=64, not with buckets=8"),
        (PATTERN, {"forget_after": "1 hour"}, "another forget_after"),
    ]
    for (text, options, message), piece in zip(changes, pieces[1:], strict=False):
        stream.add([piece])
        with pytest.raises(Exception) as caught:  # noqa: PT011 - Spark wraps it, situ_error finds it again
            stream.run(text, **options)
        error = situ_error(caught.value)
        assert isinstance(error, StateError), caught.value
        with pytest.raises(StateError, match=message):
            raise error
    assert canonical_rows(stream.results()) == found
    n_partitions = spark.conf.get("spark.sql.shuffle.partitions")
    try:
        spark.conf.set("spark.sql.shuffle.partitions", "5")  # the checkpoint's own number stays in force
        stream.run(PATTERN)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", n_partitions)
    whole = situ.match(pa.concat_tables(pieces[:4]), situ.query(PATTERN))
    assert canonical_rows(stream.results()) == canonical_rows(whole)


def test_without_partitions(spark: SparkSession, tmp_path: Path) -> None:
    text = PATTERN.replace("PARTITION BY k ", "")
    stream = FileStream(spark, tmp_path, SCHEMA, watermark=("t", "0 seconds"))
    table = pa.concat_tables(
        [events(120), pa.table({"k": [0], "t": [START + timedelta(hours=1)], "x": [0.0]}, SCHEMA)]
    )
    stream.add(cut(table, 3))
    stream.run(text)
    assert canonical_rows(stream.results()) == canonical_rows(situ.match(table, situ.query(text)))


def test_situations_when_they_close(spark: SparkSession, tmp_path: Path) -> None:
    """SEM 5.5, 8: aggregates over situations that cross micro-batches."""
    text = "FROM s PARTITION BY k ORDER BY t DEFINE A AS x > -0.5, B AS x > 0.5 RETURN max(A.x) AS m"
    table = events(120)
    stream = FileStream(spark, tmp_path, SCHEMA)
    stream.add(cut(table, 3))
    stream.run(text, situ.situations)
    wanted = situ.situations(table, situ.query(text))
    closed = wanted.filter(wanted["te"].is_valid())
    assert canonical_rows(stream.results()) == canonical_rows(closed)


def test_given_intervals(spark: SparkSession, tmp_path: Path) -> None:
    """SEM 6: with begin rows, out of order, restarted."""
    time = pa.timestamp("us", "UTC")
    schema = pa.schema([("id", pa.int64()), ("kind", pa.string()), ("ts", time), ("te", time)])
    text = """FROM INTERVALS t SYMBOL BY kind STARTING ts ENDING te ID BY id
    PATTERN A overlaps;contains B WITHIN 10 minutes"""

    def at(second: int | None) -> datetime | None:
        return None if second is None else START + timedelta(seconds=second)

    # 1 A  [------------)          announced at 0, closed at 30
    # 2 B       [----------)       announced at 10
    # 3 A                [------)  known when it ends
    rows = [
        (1, "A", 0, None),
        (2, "B", 10, None),
        (1, "A", 0, 30),
        (2, "B", 10, 40),
        (3, "A", 35, 60),
        (4, "B", 36, 50),
    ]
    ids, kinds, starts, ends = zip(*rows, strict=True)
    columns = [ids, kinds, map(at, starts), map(at, ends)]
    table = pa.table(dict(zip(schema.names, map(list, columns), strict=True)), schema)
    end = pa.table({"id": [9], "kind": ["X"], "ts": [at(3600)], "te": [at(3601)]}, schema)
    stream = FileStream(spark, tmp_path, schema, watermark=("ts", "1 minute"))
    stream.add([table.take([1, 0]), table.take([3, 2])])
    stream.run(text)
    stream.add([table.take([5, 4]), end, end.set_column(0, "id", pa.array([10]))])
    stream.run(text)
    wanted = situ.match(table, situ.query(text))
    assert wanted.num_rows == 2
    assert canonical_rows(stream.results()) == canonical_rows(wanted)


def test_keys_that_vanish_leave_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """SEM 8.4, 8.5: 100,000 keys come and go; only those whose condition holds leave a few bytes."""
    n = 100_000

    def crowd(hour: int, value: float) -> pa.Table:
        times = pa.array(np.full(n, 0)).cast(pa.timestamp("us", "UTC"))
        times = pa.array([START + timedelta(hours=hour)], times.type).take(pa.array(np.zeros(n, np.int64)))
        return pa.table({"k": np.arange(n) + hour * n, "t": times, "x": np.full(n, value)}, SCHEMA)

    text = "FROM s PARTITION BY k ORDER BY t DEFINE A AS x > 0 AT LEAST 1 second WITHIN 1 minute"
    stream = FileStream(spark, tmp_path, SCHEMA, watermark=("t", "0 seconds"))
    holding = crowd(3, 1.0).slice(0, 100)
    stream.add([crowd(1, -1.0), crowd(2, -1.0), holding, one_event(hours=9)])
    stream.run(text)
    kept = [progress["stateOperators"][0]["numRowsTotal"] for progress in stream.progress]
    # the first row is the header; a bucket has its head, timers and cells or pieces of rows
    assert kept[-1] <= 1 + 64 * 4
    assert max(kept) <= 1 + 64 * 4 + 2 * n // 16_384 + 64


def test_metrics_reach_a_listener(spark: SparkSession, tmp_path: Path) -> None:
    listener = MetricsListener()
    spark.streams.addListener(listener)
    try:
        stream = FileStream(spark, tmp_path, SCHEMA)
        bad = pa.table({"k": [1], "t": [None], "x": [1.0]}, SCHEMA)
        stream.add([pa.concat_tables([events(60), bad]), events(5)])
        stream.run(PATTERN, on_bad_rows="drop")
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        figures = listener.figures()
    finally:
        spark.streams.removeListener(listener)
    assert (figures.events, figures.late_rows, figures.bad_rows) == (66, 5, 1)
    assert figures.matches == stream.results().num_rows
    assert figures.state_rows > 0
    assert '"late_rows": 5' in figures.to_json()


def test_a_row_without_a_time_stops_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    stream = FileStream(spark, tmp_path, SCHEMA)
    stream.add([pa.table({"k": [1], "t": [None], "x": [1.0]}, SCHEMA)])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - Spark wraps it, situ_error finds it again
        stream.run(PATTERN)
    error = situ_error(caught.value)
    assert isinstance(error, DataError)
    assert "time column t is null in 1 row" in str(error)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"text": PATTERN.replace("WITHIN 60 seconds", "")}, QueryError, "needs a window"),
        ({"text": LISTED, "call": situ.situations}, QueryError, "no window that bounds its state"),
        ({"watermark": "1 minute", "mark": "t"}, OptionError, "has a watermark already"),
        (
            {"max_ahead": "1 hour", "mark": "t"},
            OptionError,
            'leave out withWatermark and pass watermark="1000 ms"',
        ),
        ({"max_ahead": "1 hour", "text": TICKS}, OptionError, "time column k is of type bigint"),
        ({"watermark": "1 hour", "text": TICKS}, OptionError, "time column k is of type bigint"),
        ({"strategy": "shuffle"}, OptionError, "strategy and until are for batch DataFrames"),
        ({"buckets": 0}, OptionError, "buckets=0"),
        ({"points": "widen"}, OptionError, "points does not apply to events"),
        ({"text": GIVEN, "ties": "error"}, OptionError, "ties does not apply to given intervals"),
        ({"text": GIVEN, "forget_after": "1 hour"}, OptionError, "forget_after does not apply to given"),
        ({"mark": "u"}, TimeColumnError, "the watermark is on u, but the query's time is t"),
        ({"store": ""}, OptionError, "RocksDB"),
        ({"text": PATTERN.replace("AS a,", "AS late_row,"), "late_rows": True}, SituError, "late_row"),
    ],
)
def test_what_does_not_fit_is_said_at_once(
    spark: SparkSession, change: dict[str, Any], kind: type[Exception], message: str
) -> None:
    change = dict(change)
    text, mark, store = change.pop("text", PATTERN), change.pop("mark", None), change.pop("store", None)
    call = change.pop("call", situ.match)
    rate = spark.readStream.format("rate").load()
    rows = rate.selectExpr("value AS k", "timestamp AS t", "timestamp AS u", "double(value) AS x")
    if mark:
        rows = rows.withWatermark(mark, "1 second")
    provider = "spark.sql.streaming.stateStore.providerClass"
    usual = spark.conf.get(provider)
    if store is not None:
        spark.conf.set(
            provider, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
        )
    try:
        with pytest.raises(kind, match=message):
            call(rows, situ.query(text), **change)
    finally:
        spark.conf.set(provider, usual)
