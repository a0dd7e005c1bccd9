"""Produces and consumes records with Spark's connector, in a process of its own: a JSON command a line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SRC = Path(__file__).parents[2] / "src"


class Client:
    """The other end of this file's `main`."""

    def __init__(self, servers: str, environment: dict[str, str] | None = None) -> None:
        command = [sys.executable, __file__, servers]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **(environment or {}), "PYTHONPATH": str(SRC)},  # for its workers too
        )

    def produce(self, topic: str, values: list[str]) -> None:
        """Append values, in order."""
        assert self._ask({"do": "produce", "topic": topic, "values": values}) == len(values)

    def consume(self, topic: str) -> list[dict[str, Any]]:
        """Everything in a topic: key, value and the broker's timestamp in milliseconds."""
        records: list[dict[str, Any]] = self._ask({"do": "consume", "topic": topic})
        return records

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def _ask(self, command: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        while True:
            line = self._process.stdout.readline()
            assert line, "the Kafka client has gone"
            if line.startswith("="):  # Spark writes to standard output as well
                return json.loads(line[1:])


def main(servers: str) -> None:
    sys.path.insert(0, str(SRC))
    from pyspark.sql import functions as F

    from situ.cli.jars import kafka_connector
    from situ.cli.session import local_spark

    spark = local_spark("kafka client", cores=1, spark__jars=",".join(map(str, kafka_connector())))
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "produce":
            rows = spark.createDataFrame([(value,) for value in command["values"]], "value string").coalesce(
                1
            )
            kafka = rows.write.format("kafka").option("kafka.bootstrap.servers", servers)
            kafka.option("topic", command["topic"]).save()
            answer: Any = len(command["values"])
        else:
            kafka_rows = spark.read.format("kafka").option("kafka.bootstrap.servers", servers)
            records = kafka_rows.option("subscribe", command["topic"]).load()
            wanted = records.select(
                F.col("key").cast("string"),
                F.col("value").cast("string"),
                F.expr("unix_millis(timestamp) AS at"),
            )
            try:
                answer = [row.asDict() for row in wanted.collect()]
            except Exception as error:  # nothing has been written to the topic yet, so there is none
                if "UnknownTopicOrPartition" not in str(error):
                    raise
                answer = []
        print("=" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
