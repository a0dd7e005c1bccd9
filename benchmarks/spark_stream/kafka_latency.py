"""From a record's append to a topic to its match's append to another: the distribution of the time between.

python -m benchmarks.spark_stream.kafka_latency       starts a broker and `situ stream`, about 3 minutes
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from benchmarks.spark_stream.run import RESULTS, ROOT

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]

import kafka as tool  # noqa: E402
from streaming.commands import Command, committed  # noqa: E402
from streaming.kafka_client import Client  # noqa: E402

START = datetime(2024, 1, 1, tzinfo=UTC)
ROUNDS, CARS = 40, 20
QUERY = """FROM cars PARTITION BY car ORDER BY ts DEFINE A AS speed > 30, B AS speed < 10
PATTERN A before B WITHIN 1 minute RETURN A.ts AS a, B.ts AS b"""


def main() -> None:
    with tool.broker() as broker, tempfile.TemporaryDirectory() as folder:
        client = Client(broker.address)
        client.produce("cars", [record(car, -10, 20.0) for car in range(CARS)])
        command = Command(
            Path(folder), QUERY, "--source", "kafka", "--servers", broker.address, "--topic", "cars",
            "--schema", "car bigint, ts timestamp, speed double", "--sink", "kafka",
            "--output-topic", "found", "--checkpoint", f"{folder}/state", "--partitions", "2",
        )  # fmt: skip
        command.wait_until(lambda: committed(Path(folder) / "state") >= 1, "the first micro-batch")
        sent = {}
        for i in range(ROUNDS):
            # A begins, ends at 20, and B begins: this record completes the match
            rows = [(i % CARS, 4 * i, 40.0), (i % CARS, 4 * i + 1, 20.0), (i % CARS, 4 * i + 2, 5.0)]
            client.produce("cars", [record(*row) for row in rows] + [record(i % CARS, 4 * i + 3, 20.0)])
            sent[stamp(4 * i + 2)] = None
            time.sleep(0.5)
        time.sleep(5)
        appended = {}
        for one in client.consume("cars"):
            value = json.loads(one["value"])
            appended[value["car"], value["ts"]] = one["at"]
        delays: dict[tuple[int, str], float] = {}
        for one in client.consume("found"):
            value = json.loads(one["value"])
            key = (value["car"], datetime.fromisoformat(value["match_time"]).astimezone(UTC).isoformat())
            delays[key] = min(delays.get(key, float("inf")), (one["at"] - appended[key]) / 1000)
        command.interrupt()
        client.close()
    found = np.array(sorted(delays.values()))
    quantiles = {f"p{q}": round(float(np.percentile(found, q)), 2) for q in (50, 90, 99)}
    results = json.loads(RESULTS.read_text())
    results["parts"]["kafka_latency"] = {"matches": len(found), "seconds": quantiles}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(results["parts"]["kafka_latency"])


def stamp(second: int) -> str:
    return (START + timedelta(seconds=second)).isoformat()


def record(car: int, second: int, speed: float) -> str:
    return json.dumps({"car": car, "ts": stamp(second), "speed": speed})


if __name__ == "__main__":
    main()
