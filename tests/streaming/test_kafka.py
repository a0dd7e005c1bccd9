"""From topic to topic on a real broker: killed, restarted, the broker gone for a while; none is lost."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from streaming.commands import Command, committed, watermark
from streaming.faults import blocked
from streaming.kafka_client import Client

pytestmark = pytest.mark.server

QUERY = """FROM cars PARTITION BY car ORDER BY ts
DEFINE A AS speed > 30, B AS accel > 2 PATTERN A overlaps;contains;finished-by B WITHIN 1 minute
RETURN A.ts AS a, B.ts AS b, max(A.speed) AS top"""
START = datetime(2024, 1, 1, microsecond=1_001, tzinfo=UTC)  # text must keep microseconds


def cars(n: int) -> pa.Table:
    random = np.random.default_rng(9)
    columns = {
        "car": random.integers(0, 8, n),
        "ts": [START + timedelta(seconds=i / 2) for i in range(n)],
        "speed": random.normal(30, 4, n),
        "accel": random.normal(1, 2, n),
    }
    return pa.table(columns, pa.schema([("car", pa.int64()), ("ts", pa.timestamp("us", "UTC")),
                                        ("speed", pa.float64()), ("accel", pa.float64())]))  # fmt: skip


def as_json(table: pa.Table) -> list[str]:
    return [json.dumps({**row, "ts": row["ts"].isoformat()}) for row in table.to_pylist()]


def rows_read(state: Path) -> int:
    """Up to where the last committed micro-batch has read the topic, over all its partitions."""
    batch = max((int(path.name) for path in (state / "commits").glob("[0-9]*")), default=None)
    if batch is None:
        return 0
    offsets = json.loads((state / "offsets" / str(batch)).read_text().splitlines()[-1])
    return sum(offsets["cars"].values())


def test_topic_to_topic(kafka: Client, broker: Any, tmp_path: Path, chance: Random) -> None:
    table = cars(600)  # five minutes: a batch may read far ahead in one partition of the topic, none is late
    far = json.dumps({"car": 99, "ts": (START + timedelta(days=1)).isoformat(), "speed": 0.0, "accel": 0.0})
    arguments = [
        QUERY, "--source", "kafka", "--servers", broker.address, "--topic", "cars",
        "--schema", "car bigint, ts timestamp, speed double, accel double", "--watermark", "5 minutes",
        "--sink", "kafka", "--output-topic", "found", "--checkpoint", str(tmp_path / "state"),
        "--partitions", "2", "--on-bad-rows", "drop", "--max-per-trigger", "75",
    ]  # fmt: skip
    kafka.produce("cars", as_json(table.slice(0, 300)))
    command = Command(tmp_path, *arguments)
    command.wait_until(lambda: committed(tmp_path / "state") >= 1, "a commit")
    time.sleep(chance.uniform(0, 0.3))
    # between the sink, which has written a micro-batch to the topic, and Spark's commit of it
    with blocked(tmp_path / "state" / "commits"):
        command.kill_when(lambda: False)

    kafka.produce("cars", ["{malformed", *as_json(table.slice(300, 200))])
    command = Command(tmp_path, *arguments)
    done = committed(tmp_path / "state")
    command.wait_until(lambda: committed(tmp_path / "state") >= done + 1, "a commit after the restart")
    broker.stop(kill=True)
    time.sleep(3)
    broker.start()
    kafka.produce("cars", as_json(table.slice(500)))
    # a batch takes its rows from all partitions of the topic: the far rows must not overtake others
    command.wait_until(lambda: rows_read(tmp_path / "state") >= len(table) + 1, "every row to be read")
    kafka.produce("cars", [far, far])
    wanted = {row["match_id"]: row for row in situ.match(table, situ.query(QUERY), match_id=True).to_pylist()}
    assert len(wanted) > 20
    end = int((START + timedelta(days=1, minutes=-5)).timestamp() * 1000)  # Spark has milliseconds
    command.wait_until(lambda: watermark(tmp_path / "state") >= end, "the watermark to pass every row")
    assert command.interrupt() == 0, command.errors()
    summary = command.out.read_text().splitlines()[-1]
    assert "1 row that could not be read" in summary or "0 rows that could not be read" in summary

    records = {record["key"]: json.loads(record["value"]) for record in kafka.consume("found")}
    assert set(records) == set(wanted)
    for key, match in wanted.items():
        assert records[key]["top"] == pytest.approx(match["top"])
        assert datetime.fromisoformat(records[key]["match_time"]) == match["match_time"]


def test_no_broker_at_the_start(tmp_path: Path) -> None:
    command = Command(
        tmp_path, QUERY, "--source", "kafka", "--servers", "127.0.0.1:1", "--topic", "cars",
        "--schema", "ts timestamp", "--sink", "console", "--checkpoint", str(tmp_path / "state"),
    )  # fmt: skip
    assert command.finish() == 1
    assert "no Kafka broker answers at 127.0.0.1:1" in command.errors()
