"""Killed at any point, a stream's file sink ends up with exactly the matches of the whole input."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import situ
from streaming.commands import Command, committed
from streaming.faults import blocked, latest
from streaming.running import canonical_rows

pytestmark = pytest.mark.spark

Kill = Callable[[Command, Path, Random], None]

QUERY = """FROM s PARTITION BY k ORDER BY t
DEFINE A AS x > 0, B AS x > 0.5 AT LEAST 1 second
PATTERN A contains;overlaps;finished-by B WITHIN 60 seconds
RETURN A.ts AS a, B.ts AS b, max(A.x) AS m"""
ABSENCE = """FROM s PARTITION BY k ORDER BY t
DEFINE A AS x > 0, C AS x < -1, quiet AS SILENCE AT LEAST 12 seconds
PATTERN A while quiet AND NO C after A BY AT MOST 10 seconds WITHIN 90 seconds
RETURN A.ts AS a, A.te AS until, quiet.ts AS since, max(A.x) AS m"""
START = datetime(2024, 1, 1, tzinfo=UTC)
END = START + timedelta(days=1)
N_FILES, ROWS = 9, 160


def write_files(folder: Path) -> pa.Table:
    """JSON files, each out of order within itself; a last row far ahead moves the watermark past all."""
    random = np.random.default_rng(4)
    n = N_FILES * ROWS
    rows = [
        {"k": int(random.integers(0, 30)), "t": START + timedelta(seconds=i / 4), "x": float(random.normal())}
        for i in range(n)
    ]
    folder.mkdir()
    for i in range(N_FILES):
        own = [{**row, "t": row["t"].isoformat()} for row in rows[i * ROWS : (i + 1) * ROWS]]
        Random(i).shuffle(own)
        write_json(folder / f"{i:03}.json", own, age=i)
    write_json(folder / "999.json", [{"k": 0, "t": END.isoformat(), "x": 0.0}], age=999)
    schema = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())])
    return pa.Table.from_pylist(rows, schema)


def write_json(path: Path, rows: list[dict[str, object]], age: int) -> None:
    path.write_text("\n".join(map(json.dumps, rows)))
    os.utime(path, (1e9 + age, 1e9 + age))


def kill_in_a_batch(command: Command, folder: Path, chance: Random) -> None:
    """Anywhere in the micro-batch after the next one."""
    done = committed(folder / "state")
    command.wait_until(lambda: committed(folder / "state") > done, "a commit")
    time.sleep(chance.uniform(0, 0.7))
    command.kill()


def kill_before_the_commit(command: Command, folder: Path, chance: Random) -> None:
    """Between the sink's log, which makes the matches of a micro-batch visible, and Spark's commit of it."""
    done = committed(folder / "state")
    command.wait_until(lambda: committed(folder / "state") > done, "a commit")
    with blocked(folder / "state" / "commits") as commits:
        hit = latest(commits) + 1
        command.kill_when(lambda: latest(folder / "found" / "_spark_metadata") >= hit)
    assert latest(folder / "found" / "_spark_metadata") == latest(folder / "state" / "commits") + 1


def kill_before_the_sink(command: Command, folder: Path, chance: Random) -> None:
    """Between the state store's commit and the sink's log."""
    done = committed(folder / "state")
    command.wait_until(lambda: committed(folder / "state") > done, "a commit")
    with blocked(folder / "found" / "_spark_metadata") as log:
        command.kill_when(lambda: False)
        written = latest(log)
    versions = [latest(part) for part in (folder / "state" / "state" / "0").glob("[0-9]*")]
    assert min(versions) == written + 2  # version n + 1 of the state is that after micro-batch n


KILLS = [kill_in_a_batch, kill_before_the_commit, kill_before_the_sink]


def test_killed_again_and_again(tmp_path: Path, chance: Random) -> None:
    kill_again_and_again(tmp_path, chance, chance.sample(KILLS, len(KILLS)), chance.choice([QUERY, ABSENCE]))


@pytest.mark.soak
def test_killed_for_a_long_time(tmp_path: Path, chance: Random) -> None:
    """`SITU_FAULT_ROUNDS=100`; the seed that is shown replays the whole."""
    for i in range(int(os.environ.get("SITU_FAULT_ROUNDS", "10"))):
        (tmp_path / str(i)).mkdir()
        query = chance.choice([QUERY, ABSENCE])
        kill_again_and_again(tmp_path / str(i), chance, chance.choices(KILLS, k=3), query)


def kill_again_and_again(tmp_path: Path, chance: Random, kills: list[Kill], text: str) -> None:
    table = write_files(tmp_path / "in")
    arguments = [
        text, "--source", "files", "--input", str(tmp_path / "in"),
        "--schema", "k bigint, t timestamp, x double",
        "--watermark", "30 seconds", "--sink", "files", "--output", str(tmp_path / "found"),
        "--checkpoint", str(tmp_path / "state"), "--max-per-trigger", "1", "--until-done",
        "--partitions", "2", "--output-format", "parquet",
    ]  # fmt: skip
    for kill in kills:
        kill(Command(tmp_path, *arguments), tmp_path, chance)
    before = committed(tmp_path / "state")
    command = Command(tmp_path, *arguments)
    command.wait_until(lambda: command.a_worker() is not None, "a worker")
    worker = command.a_worker()
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    if (
        command.finish() != 0
    ):  # Spark in local mode does not try a task again, so the command is started again
        assert "nothing is lost" in command.errors()
        assert Command(tmp_path, *arguments).finish() == 0, command.errors()
    assert committed(tmp_path / "state") > before
    found = in_sink(tmp_path / "found")
    clock = {"until": END - timedelta(seconds=31)} if text == ABSENCE else {}  # SEM 11.9
    wanted = situ.match(table, situ.query(text), **clock)
    assert wanted.num_rows > 20
    assert canonical_rows(found) == canonical_rows(wanted)


def in_sink(folder: Path) -> pa.Table:
    """What readers of a file sink see: the files its log names, and no others."""
    names = set()
    for path in (folder / "_spark_metadata").glob("[0-9]*"):
        for line in path.read_text().splitlines()[1:]:
            names.add(json.loads(line)["path"].removeprefix("file://"))
    table = ds.dataset(sorted(names), format="parquet").to_table()
    # Spark writes timestamps without their zone, in nanoseconds
    times = {f.name for f in table.schema if pa.types.is_timestamp(f.type)}
    columns = [
        column.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC")) if name in times else column
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


def test_ctrl_c_stops_cleanly(tmp_path: Path) -> None:
    text = "FROM rate ORDER BY timestamp DEFINE A AS value % 10 < 3 WITHIN 1 minute RETURN A.ts AS since"
    command = Command(
        tmp_path, text, "--source", "rate", "--rows-per-second", "50", "--sink", "console",
        "--checkpoint", str(tmp_path / "state"), "--partitions", "1",
    )  # fmt: skip
    command.wait_until(lambda: '"since"' in command.out.read_text(), "a match")
    assert command.interrupt() == 0, command.errors()
    summary = command.out.read_text().splitlines()[-1]
    assert "matches" in summary
    assert "late rows" in summary
    assert "Traceback" not in command.errors()
