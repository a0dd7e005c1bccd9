"""Runs in Flink's own environment: FILE WATERMARK -> one line of JSON, the Vs that MATCH_RECOGNIZE finds."""

import json
import os
import sys
import time
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

# Flink has no PREV, and no greedy variable at the end: a row that ends the rise stands for it, so the last V
# of a partition is not found.
V = (
    "SELECT count(*), sum(bottom) FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY rt MEASURES "
    "STRT.price AS top, LAST(DOWN.price) AS bottom ONE ROW PER MATCH AFTER MATCH SKIP TO LAST NOTUP "
    "PATTERN (STRT DOWN+ UP+ NOTUP) DEFINE "
    "DOWN AS LAST(DOWN.price, 1) IS NULL AND DOWN.price < STRT.price OR DOWN.price < LAST(DOWN.price, 1), "
    "UP AS LAST(UP.price, 1) IS NULL AND UP.price > LAST(DOWN.price) OR UP.price > LAST(UP.price, 1), "
    "NOTUP AS NOTUP.price <= LAST(UP.price))"
)


def main(file: str, watermark: str) -> int:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    config = {
        "parallelism.default": "1",
        "pipeline.object-reuse": "true",
        # or a count would send this program two rows for each row that is counted
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.allow-latency": "5 s",
        "table.exec.mini-batch.size": "1000000",
    }
    for name, value in config.items():
        env.get_config().set(name, value)
    env.execute_sql(
        "CREATE TABLE ticks (k INT, t BIGINT, price DOUBLE, rt AS TO_TIMESTAMP_LTZ(t * 1000, 3), "
        f"WATERMARK FOR rt AS {watermark}) "
        f"WITH ('connector' = 'filesystem', 'path' = 'file://{file}', 'format' = 'csv')"
    )
    counting, _ = run(env, "SELECT count(*), sum(price) FROM ticks")
    if os.environ.get("SITU_BENCH_STARTED"):  # the limits begin once Flink runs, not while it starts
        Path(os.environ["SITU_BENCH_STARTED"]).touch()
    seconds, matches = run(env, V)
    print(json.dumps({"seconds": seconds, "matches": matches, "counting_job_seconds": counting}))
    return 0


def run(env: TableEnvironment, query: str) -> tuple[float, int]:
    started = time.perf_counter()
    matches = 0
    with env.execute_sql(query).collect() as rows:
        for row in rows:
            matches = row[0]
    return time.perf_counter() - started, matches


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
