"""Results that come between events (SEM 11.9) on Spark: every strategy of a batch, and a restarted stream."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from situ.carry.batch.clock import read_clock
from situ.errors import OptionError, SituError
from situ.language.text.types import Column
from situ.rows.instants import Lasting
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.needs import Needs
from spark.tasks import task_for, travelling
from streaming.commands import SHORT_LIVED, SRC
from streaming.running import FileStream

TOY = Path(__file__).parent / "alarm.py"
sys.path.append(str(TOY.parent))  # as Spark's workers import it: by its own name
from alarm import Alarm, CondensedAlarm  # noqa: E402
from every_nth import EveryNth  # noqa: E402
from test_ticks import Row, brute, cut, found, table_of  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

D = 300
TIMES = pa.schema([("k", pa.string()), ("t", pa.timestamp("us", "UTC")), ("v", pa.float64())])
START = datetime(2024, 1, 1, tzinfo=UTC)


def some_events() -> list[Row]:
    """In time order, few enough for silences; the last row is none to the query."""
    random = Random(7)
    times = sorted(random.sample(range(10_000), 200))
    events = [(random.choice("pqrs"), t, random.choice([-1.0, 1.0, 1.0])) for t in times]
    return [*events, ("p", 10_400, -1.0)]


EVENTS = some_events()
WANTED = brute(EVENTS, D)


def timed(events: list[Row]) -> pa.Table:
    """The same with seconds as timestamps."""
    rows = [{"k": k, "t": START + timedelta(seconds=t), "v": v} for k, t, v in events]
    return pa.Table.from_pylist(rows, TIMES)


def in_seconds(table: pa.Table) -> list[Any]:
    def seconds(moment: datetime) -> int:
        return int((moment.astimezone(UTC) - START).total_seconds())

    return sorted((row["k"], seconds(row["since"]), seconds(row["at"])) for row in table.to_pylist())


@pytest.fixture
def with_toy(spark: SparkSession) -> SparkSession:
    spark.sparkContext.addPyFile(str(TOY))
    return spark


def run(df: DataFrame, question: Any, **options: Any) -> pa.Table:
    from situ import spark as on_spark

    return on_spark.run(df, question, options).toArrow()


def notes(df: DataFrame, question: Any, **options: Any) -> str:
    from situ.spark.batch.choose import choose
    from situ.spark.batch.explained import notes_of

    return " ".join(notes_of(choose(df, question, options)))


def test_the_clock_counts_rows_that_where_removes() -> None:
    assert any(at > max(t for _, t, v in EVENTS if v > 0) for _, _, at in WANTED)


def test_whole_rows_by_partition(with_toy: SparkSession) -> None:
    df = with_toy.createDataFrame(table_of(EVENTS)).repartition(3)
    question = Alarm(d=D, where="v")
    assert found(run(df, question)) == WANTED
    assert found(run(df, question, until=20_000)) == brute(EVENTS, D, 20_000)
    assert "one more pass" in notes(df, question)
    assert "until= says" in notes(df, question, until=20_000)
    with pytest.raises(OptionError, match="until does nothing here"):
        run(df, EveryNth(), until=20_000)
    with pytest.raises(Exception, match=r"until is 100, but the input has a row at \d+"):
        run(df, question, until=100)


@pytest.mark.parametrize("strategy", ["shuffle", "map-side"])
@pytest.mark.parametrize("key", ["k", None], ids=["partitions", "slices"])
def test_condensed(with_toy: SparkSession, strategy: str, key: str | None, tmp_path: Path) -> None:
    for part in cut(EVENTS, [60, 120]):
        df = with_toy.createDataFrame(table_of(part)).coalesce(1)
        df.write.mode("append").parquet(str(tmp_path / "events"))
    df = with_toy.read.parquet(str(tmp_path / "events"))
    question = CondensedAlarm(d=D, where="v", key=key)
    events = EVENTS if key else [("p", t, v) for _, t, v in EVENTS]
    for clock in (None, 20_000):
        wanted = [one if key else one[1:] for one in brute(events, D, clock)]
        assert wanted
        assert found(run(df, question, strategy=strategy, until=clock)) == wanted


def test_an_empty_input(with_toy: SparkSession) -> None:
    df = with_toy.createDataFrame(table_of([("p", 1, -1.0)])).where("t > 5")
    assert found(run(df, Alarm(d=D, where="v"))) == []
    assert found(run(df, CondensedAlarm(d=D, where="v", key=None))) == []


def test_rows_without_a_time(with_toy: SparkSession) -> None:
    table = pa.concat_tables([table_of(EVENTS), table_of([("p", None, 1.0)])])  # type: ignore[list-item]
    df = with_toy.createDataFrame(table)
    assert found(run(df, Alarm(d=D, where="v"), on_bad_rows="drop")) == WANTED
    with pytest.raises(Exception, match="time column t is null"):
        run(df, Alarm(d=D, where="v"))


def test_the_clock_of_rows_that_last(spark: SparkSession) -> None:
    """It is their end, their start while they have none; points may be widened."""
    from situ.spark.batch.clock import with_clock

    time, until = Column("ts", "bigint"), Column("te", "bigint")
    never = 2**63 - 1
    for rows, plain, widened in (
        ([(1, 5), (7, None), (None, 99)], 7, 7),
        ([(1, 9), (9, 9), (7, None), (never, None)], 9, 10),
        ([(9, None), (3, 9)], 9, 9),
        ([(None, None)], None, None),
    ):
        df = spark.createDataFrame(rows, "ts bigint, te bigint")
        for widen, wanted in ((False, plain), (True, widened)):
            needs = Needs(time, instant=Lasting(until, None, widen), ticks=True)
            (batch,) = with_clock(spark.range(1), df, needs, None).toArrow().to_batches()
            assert read_clock(needs, batch) == (int(LONG_AGO) if wanted is None else wanted)
        assert with_clock(df, df, needs, 5) is df


@pytest.mark.parametrize("question", [Alarm, CondensedAlarm], ids=lambda kind: kind.__name__)
def test_files_that_tasks_read(with_toy: SparkSession, tmp_path: Path, question: Any) -> None:
    """Footers tell the clock, unless a filter hides rows or they say nothing of times."""
    from situ import spark as on_spark

    asked, path = question(d=D * 1_000_000, where="v"), str(tmp_path / "events")
    with_toy.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    try:
        for part in cut(EVENTS, [60, 120]):
            with_toy.createDataFrame(timed(part)).coalesce(1).write.mode("append").parquet(path)
    finally:
        with_toy.conf.unset("spark.sql.parquet.outputTimestampType")
    df = with_toy.read.parquet(path)
    assert in_seconds(on_spark.run_parquet(with_toy, path, asked, {}).toArrow()) == WANTED
    assert in_seconds(run(df, asked, strategy="direct")) == WANTED
    assert "the footers of the files tell" in notes(df, asked, strategy="direct")
    until = START + timedelta(seconds=20_000)
    assert in_seconds(run(df, asked, strategy="direct", until=until)) == brute(EVENTS, D, 20_000)
    with pytest.raises(SituError, match="but the input has a row at 2024-01-01 02:53:20 UTC"):
        run(df, asked, strategy="direct", until=until - timedelta(seconds=9_601))  # WHERE removes that row
    fewer = [row for row in EVENTS if row[2] > 0 or row[1] < 5000]
    hidden = df.where("v > 0 OR k != 'never'").where("v > 0 OR t < '2024-01-01 01:23:20'")
    assert in_seconds(run(hidden, asked)) == brute(fewer, D)


def test_files_without_statistics_and_folders_that_where_rules_out(
    with_toy: SparkSession, tmp_path: Path
) -> None:
    from situ import spark as on_spark

    asked, old = Alarm(d=D * 1_000_000, where="v"), str(tmp_path / "old")
    with_toy.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    try:
        with_toy.createDataFrame(timed(EVENTS)).write.parquet(old)
    finally:
        with_toy.conf.unset("spark.sql.parquet.outputTimestampType")
    assert in_seconds(on_spark.run_parquet(with_toy, old, asked, {}).toArrow()) == WANTED
    folders = str(tmp_path / "folders")
    by_v = with_toy.createDataFrame(table_of(EVENTS)).repartition(1)
    by_v.write.partitionBy("v").parquet(folders)  # v=-1.0 is a folder of its own, with the last row
    question = Alarm(d=D, where="v")
    assert found(on_spark.run_parquet(with_toy, folders, question, {}).toArrow()) == WANTED


def test_a_restarted_stream_tells_of_a_silent_partition(with_toy: SparkSession, tmp_path: Path) -> None:
    """Rows of another partition move the watermark; every run goes on from the checkpoint."""
    from situ import spark as on_spark

    stream = FileStream(with_toy, tmp_path / "stream", TIMES, ("t", "10 seconds"))
    question = Alarm(d=D * 1_000_000, where="v")
    batches = [
        [("silent", 0, 1.0), ("other", 5, 1.0)],
        [("other", 200, 1.0)],
        [("other", 309, 1.0)],  # the watermark is 299 then: not yet
        [("other", 312, -1.0)],  # 302, by a row that is no event
        [("other", 320, 1.0)],
    ]
    seen: list[Row] = []
    for batch in batches:
        stream.add([timed(batch)])
        stream.write(on_spark.run(stream.rows(), question, {"buckets": 4}))
        seen += batch
        complete = max(t for _, t, _ in seen) - 10
        told = [] if complete < 301 else [("silent", 0, 300)]
        assert in_seconds(stream.results()) == told == brute(seen, D, complete - 1)
    assert stream.counts("late_rows") == 0


@pytest.mark.spark
def test_a_batch_through_connect() -> None:
    """In a process of its own: a process has one kind of session only."""
    environment = {**os.environ, **SHORT_LIVED, "PYTHONPATH": os.pathsep.join([str(SRC), str(TOY.parent)])}
    done = subprocess.run(
        [sys.executable, str(TOY.parent / "connect_ticks.py")],
        env={**environment, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "the same through Connect" in done.stdout


@dataclass(frozen=True)
class Tallying(Alarm):
    """An alarm that counts nothing, and tells the clock that it was given."""

    def tally(self, rows: Any, tied: Any, complete: int | None = None) -> Any:
        return SimpleNamespace(to_numbers=lambda: np.array([-1 if complete is None else complete]))


def test_why_is_told_the_clock() -> None:
    """As a literal, or in columns behind those that travel."""
    from situ.spark.batch.why import CountingTo, count

    table = table_of([("p", 5, 1.0), ("q", 7, 1.0)])
    task = task_for(table.schema, Tallying(d=1), {})
    batch = travelling(task, table).combine_chunks().to_batches()[0]
    told = batch.append_column("_clock_0", pa.array([9, 9]))
    for clock, given, wanted in ((20, batch, 21), (None, told, 10)):
        (numbers,) = count(CountingTo(task.operator, clock), iter([given]))
        assert numbers.column(1).to_pylist() == [wanted]
    with pytest.raises(OptionError, match="until is 6, but the input has a row at 7"):
        list(count(CountingTo(task.operator, 6), iter([batch])))
