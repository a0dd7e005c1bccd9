"""What a checkpoint holds, read without the stream: what the push operator keeps of the same rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.carry.push import PushOperator
from situ.carry.stream.header import new_header
from situ.cli import main
from situ.errors import OptionError, StateError
from situ.operators.questions import deriving, matching
from situ.spark.stream.inspect import StreamState, made_for_of, read_state
from situ.spark.stream.job import Job
from streaming.running import FileStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())])
BY_KEY = """FROM s PARTITION BY k ORDER BY t DEFINE A AS x > 0, B AS x > 0.8
PATTERN A before;after B WITHIN 1 hour RETURN A.ts AS a, B.ts AS b"""
ALL = BY_KEY.replace("PARTITION BY k ", "")
START = datetime(2024, 1, 1, tzinfo=UTC)


def events(n: int, n_keys: int = 5) -> pa.Table:
    random = np.random.default_rng(7)
    times = [START + timedelta(seconds=i) for i in range(n)]
    return pa.table({"k": random.integers(0, n_keys, n), "t": times, "x": random.normal(size=n)}, SCHEMA)


TABLE = events(60)
PIECES = [TABLE.slice(0, 20), TABLE.slice(20, 20), TABLE.slice(40, 20)]


def pushed(query: Any, n: int = 3, watermark: str | None = None) -> PushOperator:
    """The push operator after the same micro-batches; under a watermark Spark adds one without rows."""
    op = PushOperator(matching(query), SCHEMA, watermark=watermark)
    for piece in PIECES[:n]:
        op.push(piece)
    if watermark is not None:
        op.push(SCHEMA.empty_table())
    return op


def partitions(drawing: str) -> dict[str, list[str]]:
    """The drawing of each partition with a key that was processed."""
    blocks = [block.splitlines() for block in drawing.split("\n\n")[1:]]
    return {lines[0]: sorted(lines[1:]) for lines in blocks if "nothing processed" not in lines[0]}


def shown(state: StreamState) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for bucket in state.buckets:
        found |= partitions(bucket.content.drawn())
    return found


@pytest.fixture(scope="module")
def stopped(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a stream with PARTITION BY and without a watermark."""
    stream = FileStream(spark, tmp_path_factory.mktemp("stopped") / "s", SCHEMA)
    stream.add(PIECES)
    stream.run(BY_KEY, buckets=8)
    return stream.folder / "state"


def test_what_is_kept_is_what_a_push_operator_keeps(spark: SparkSession, stopped: Path) -> None:
    (state,) = read_state(spark, str(stopped))
    op = pushed(situ.query(BY_KEY))
    assert state.batch == 2
    assert shown(state) == partitions(op.describe())
    assert sum(bucket.content.n_partitions for bucket in state.buckets) == op.n_partitions == 5
    assert sum(len(bucket.content.spans) for bucket in state.buckets) == op.n_situations > 20
    assert sum(bucket.content.n_waiting for bucket in state.buckets) == 0
    assert all(bucket.n_bytes > 100 for bucket in state.buckets)
    made_for = state.made_for
    assert (made_for.situ, made_for.kind, made_for.n_buckets) == (situ.__version__, "match", 8)
    assert made_for.queries == {"": str(situ.query(BY_KEY))}
    assert made_for.columns == {"k": "int64", "t": "timestamp[us, tz=UTC]"}
    assert made_for.watermark is None


def test_an_earlier_micro_batch_and_one_bucket(spark: SparkSession, stopped: Path) -> None:
    (state,) = read_state(spark, str(stopped), batch=0)
    assert shown(state) == partitions(pushed(situ.query(BY_KEY), 1).describe())
    one = state.buckets[-1]
    (alone,) = read_state(spark, str(stopped), batch=0, bucket=one.number)
    assert [bucket.number for bucket in alone.buckets] == [one.number]
    assert alone.buckets[0].content.drawn() == one.content.drawn()
    assert alone.buckets[0].n_bytes == one.n_bytes
    with pytest.raises(OptionError, match=r"micro-batch 9 is not in(.|\n)*from 0 to 2"):
        read_state(spark, str(stopped), batch=9)
    with pytest.raises(OptionError, match=r"no bucket 8(.|\n)*0 to 7"):
        read_state(spark, str(stopped), bucket=8)


def test_several_queries_under_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    """Not partitioned, so of one bucket; rows that wait are counted."""
    queries = {"one": situ.query(ALL), "two": situ.query(ALL.replace("0.8", "0.5"))}
    stream = FileStream(spark, tmp_path / "s", SCHEMA, watermark=("t", "10 seconds"))
    stream.add(PIECES)
    stream.run(ALL, lambda rows, _: situ.match(rows, queries))
    (state,) = read_state(spark, str(stream.folder / "state"))
    op = pushed(queries, watermark="10 seconds")
    assert shown(state) == partitions(op.describe())
    (bucket,) = state.buckets
    assert len(bucket.content.spans) == op.n_situations > 20
    assert bucket.content.n_waiting == op.n_waiting == 11
    assert state.made_for.queries == {name: str(query) for name, query in queries.items()}
    assert state.made_for.watermark == 10_000_000


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (matching(situ.query(BY_KEY)), {"forget_after": timedelta(hours=2), "ties": "error"}),
        (matching(situ.query(BY_KEY)), {"forget_after": "2 hours", "watermark": "5 seconds"}),
        (deriving(situ.query("FROM s PARTITION BY `a b` DEFINE A AS n.y > 1 AND s.X > 1")), {"time": "t"}),
        (matching(situ.query("FROM s WHERE d > 1 ORDER BY i, k DEFINE A AS y > 0 WITHIN 5")), {}),
        (
            matching(situ.query("FROM s ORDER BY t DEFINE A AS x > 0 WITHIN 5 s RETURN first(A.n) AS n")),
            {"match_id": True, "join": "pair", "late_rows": True},
        ),
        (
            matching(
                situ.query("FROM INTERVALS s SYMBOL BY c STARTING t ENDING u PATTERN A before B WITHIN 1 s")
            ),
            {"points": "widen"},
        ),
        (
            matching({"e": situ.query(BY_KEY), "f": situ.query(BY_KEY.replace("1 hour", "1 s"))}),
            {"max_ahead": "1 hour"},
        ),
    ],
)
def test_a_header_tells_enough(
    spark: SparkSession, question: Any, given: dict[str, Any], tmp_path: Path
) -> None:
    """The program made anew of it is the one whose state it is."""
    columns = (
        "k bigint, t timestamp, u timestamp, x double, `a b` string, c string, i int, y float, "
        "n struct<y: int, `odd name`: array<string>, m: map<date, struct<`q``q`: binary>>>, "
        "d decimal(10,2), unused array<int>"
    )
    rows = spark.readStream.schema(columns).parquet(str(tmp_path))
    program, _ = Job.of(rows, question, given).program()
    header = json.loads(new_header(program))
    assert "unused" not in header["schema"]
    _, again = made_for_of(header, "")
    assert again.identity == program.identity
    assert again.types == program.types
    assert again.needs == program.needs


def test_headers_of_others(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.readStream.schema("k bigint, t timestamp, x double").parquet(str(tmp_path))
    program, _ = Job.of(rows, matching(situ.query(BY_KEY)), {}).program()
    header = json.loads(new_header(program))
    older = {name: value for name, value in header.items() if name not in ("schema", "options", "watermark")}
    with pytest.raises(StateError, match=r"made by situ 0\.0\.1, which did not yet"):
        made_for_of(older | {"situ": "0.0.1"}, "folder")
    for changed in (
        {"identity": "00"},
        {"kind": "watch"},
        {"buckets": 1 << 40},
        {"query": "FROM"},
        {"schema": "k k k"},
        {"schema": 3},
        {"options": {"ties": "never"}},
        {"options": []},
        {"columns": 3},
    ):
        with pytest.raises(StateError, match="damaged"):
            made_for_of(header | changed, "folder")
        with pytest.raises(StateError, match=r"written by situ 9\.0 in a form(.|\n)*look at it with situ 9"):
            made_for_of(header | changed | {"situ": "9.0"}, "folder")


def test_the_command(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", str(stopped), "--limit", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Made by situ {situ.__version__} for situ.match of"
    assert "  PARTITION BY k" in lines
    assert "columns: k int64, t timestamp[us, tz=UTC]" in lines
    assert "buckets: 8" in lines
    assert "watermark: none" in lines
    (totals,) = [line for line in lines if line.startswith("After micro-batch 2 of operator 0: ")]
    assert "of 8 buckets with state, 5 partitions, " in totals
    assert sum("processed up to" in line for line in lines) == 2
    assert lines[-1].startswith("... and ")


def state_changed(checkpoint: Path) -> None:
    for file in checkpoint.rglob("*.changelog"):
        data = file.read_bytes()
        file.write_bytes(data[: len(data) // 2] + bytes(byte ^ 0x5A for byte in data[len(data) // 2 :]))


def part_removed(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state" / "0" / "1")


def state_removed(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "state")


def nothing_committed(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint / "commits")


def no_metadata(checkpoint: Path) -> None:
    (checkpoint / "metadata").unlink()


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (state_changed, 1, "copy is damaged"),
        (part_removed, 1, "copy is damaged"),
        (state_removed, 2, "copy has no state, and none of situ's"),
        (nothing_committed, 1, "copy has no state yet"),
        (no_metadata, 2, "copy is not the checkpoint of a stream"),
        (shutil.rmtree, 2, "copy is not the checkpoint of a stream"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_cannot_be_shown_is_told(
    stopped: Path,
    change: Callable[[Path], None],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(stopped, folder)
    change(folder)
    assert main(["state", str(folder)]) == code
    error = capsys.readouterr().err
    assert said in error, error
    assert "\nHint: " in error
    assert "Traceback" not in error
    assert "\tat " not in error


def test_a_folder_that_the_state_reader_does_not_find(
    spark: SparkSession, stopped: Path, tmp_path: Path
) -> None:
    """Spark opens it under the name that it has in a URL, which is another one."""
    shutil.copytree(stopped, tmp_path / "a [x]")
    (tmp_path / "link").symlink_to(tmp_path / "a [x]")
    assert shown(read_state(spark, str(tmp_path / "link"))[0])
    with pytest.raises(OptionError, match=r"does not find(.|\n)*ln -s"):
        read_state(spark, str(tmp_path / "a [x]"))


def test_the_checkpoint_of_something_else(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    writer = rows.groupBy().count().writeStream.format("noop").outputMode("complete")
    stream = writer.option("checkpointLocation", str(tmp_path)).trigger(once=True).start()
    stream.awaitTermination()
    with pytest.raises(OptionError, match="keeps the state of stateStoreSave, and none of situ's"):
        read_state(spark, str(tmp_path))


def test_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", "folder", "--batch-id=-1"]) == 2
    assert "--batch-id -1 must be 0 or more" in capsys.readouterr().err
