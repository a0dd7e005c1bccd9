"""A new operator kind needs no carrier touched: a toy of some forty lines runs on all of them."""

from __future__ import annotations

import itertools
import sys
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.carry import in_process
from situ.carry.push import PushOperator
from spark.tasks import run_shuffle
from streaming.in_memory import MemoryStream
from streaming.running import FileStream

TOY = Path(__file__).parent / "every_nth.py"
sys.path.append(str(TOY.parent))  # as Spark's workers import it: by its own name
from every_nth import EveryNth  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("v", pa.float64())])
Row = tuple[str, int, float]
values = st.integers(0, 9).map(float)
rows = st.lists(st.tuples(st.sampled_from("pqr"), st.integers(0, 30), values), max_size=40)


def brute(events: list[Row], n: int) -> list[Row]:
    """Of each partition in time order, of an instant the last row: every n-th."""
    last: dict[str, dict[int, float]] = defaultdict(dict)
    for k, t, v in events:
        last[k][t] = v
    return sorted(
        (k, t, own[t]) for k, own in last.items() for i, t in enumerate(sorted(own), 1) if i % n == 0
    )


def table_of(events: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("ktv", row, strict=True)) for row in events], SCHEMA)


def found(*tables: pa.Table) -> list[Row]:
    return sorted(tuple(row.values()) for table in tables for row in table.to_pylist())


def cut(events: list[Row], borders: list[int]) -> list[pa.Table]:
    """In time order; rows of one instant stay together (SEM 8.3)."""
    ordered = sorted(events, key=lambda row: row[1])
    safe = [i for i in sorted(set(borders)) if 0 < i < len(ordered) and ordered[i - 1][1] != ordered[i][1]]
    return [table_of(ordered[a:b]) for a, b in itertools.pairwise([0, *safe, len(ordered)])]


def test_it_is_small() -> None:
    assert len(TOY.read_text().splitlines()) < 60


@given(rows, st.integers(1, 4), st.lists(st.integers(0, 40), max_size=6))
def test_in_process_pushed_and_in_tasks(events: list[Row], n: int, borders: list[int]) -> None:
    question, expected = EveryNth(n=n), brute(events, n)
    table = table_of(events)
    assert found(in_process.run(table, question, {"ties": "last"})) == expected
    operator, results = PushOperator(question, SCHEMA, ties="last"), []
    stream = MemoryStream(question, SCHEMA, {"ties": "last"})
    for batch in cut(events, borders):
        results.append(operator.push(batch))
        operator = PushOperator(question, SCHEMA, state=operator.state(), ties="last")
    assert found(*results) == expected
    in_memory = [stream.push(batch) for batch in cut(events, borders) if batch.num_rows]
    assert found(*in_memory) == expected
    assert found(run_shuffle([table], question, {}, limit=200)) == expected


def test_rows_that_come_too_late_are_counted() -> None:
    operator = PushOperator(EveryNth(n=1), SCHEMA, late_rows=True)
    operator.push(table_of([("p", 5, 1.0), ("q", 3, 1.0)]))
    assert found(operator.push(table_of([("p", 4, 2.0), ("q", 4, 2.0)]))) == [("q", 4, 2.0)]
    assert operator.late_rows.to_pylist() == [{"k": "p", "t": 4, "v": 2.0}]


def test_on_a_watermark_rows_wait() -> None:
    operator = PushOperator(EveryNth(n=2), SCHEMA, watermark=5)
    assert operator.push(table_of([("p", 3, 1.0), ("p", 1, 2.0)])).num_rows == 0
    assert found(operator.push(table_of([("p", 20, 3.0)])), operator.flush()) == [("p", 3, 1.0)]


@pytest.fixture
def with_toy(spark: SparkSession) -> SparkSession:
    spark.sparkContext.addPyFile(str(TOY))
    return spark


def test_spark_batch(with_toy: SparkSession, tmp_path: Path) -> None:
    from situ import spark as on_spark

    random = Random(5)
    events = [("pqr"[i % 3], random.randrange(10**6), float(i)) for i in range(3000)]
    df = with_toy.createDataFrame(table_of(events)).repartition(3)
    expected = brute(events, 7)
    result = on_spark.run(df, EveryNth(n=7), {})
    assert result.columns == ["k", "t", "v"]
    assert found(result.toArrow()) == expected
    df.write.parquet(str(tmp_path / "events"))
    direct = on_spark.run_parquet(with_toy, str(tmp_path / "events"), EveryNth(n=7), {})
    assert found(direct.toArrow()) == expected


def test_a_spark_stream_restarted(with_toy: SparkSession, tmp_path: Path) -> None:
    from situ import spark as on_spark

    events = [("pqr"[i % 3], i, float(i)) for i in range(90)]
    batches = cut(events, [20, 45, 70])

    stream = FileStream(with_toy, tmp_path / "stream", SCHEMA)
    for batch in batches:  # each run goes on from the checkpoint of the one before
        stream.add([batch])
        stream.write(on_spark.run(stream.rows(), EveryNth(n=4), {"buckets": 4}))
    assert found(stream.results()) == brute(events, 4)
