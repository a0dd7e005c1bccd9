"""Runs in Flink's own environment: FILE FORMULATION SEQUENCE SQL WITHIN -> one line of JSON.

two-phase: MATCH_RECOGNIZE finds each condition's runs, an interval join relates them (all combinations);
sequence:  one MATCH_RECOGNIZE over the events.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment


def main(file: str, formulation: str, sequence: str, condition: str, within: str) -> int:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("parallelism.default", "2")
    env.get_config().set("pipeline.object-reuse", "true")
    env.get_config().set("table.exec.state.ttl", "0")
    # or a count would send this program two rows for each row that is counted
    env.get_config().set("table.exec.mini-batch.enabled", "true")
    env.get_config().set("table.exec.mini-batch.allow-latency", "5 s")
    env.get_config().set("table.exec.mini-batch.size", "1000000")
    env.execute_sql(
        "CREATE TABLE events (k INT, t BIGINT, a BOOLEAN, b BOOLEAN, c BOOLEAN, "
        "rt AS TO_TIMESTAMP_LTZ(t * 1000, 3), WATERMARK FOR rt AS rt) "
        f"WITH ('connector' = 'filesystem', 'path' = 'file://{file}', 'format' = 'csv')"
    )
    start, _ = run(env, "SELECT count(*), count(*) FROM events")
    if os.environ.get("SITU_BENCH_STARTED"):  # the limits begin once Flink runs, not while it starts
        Path(os.environ["SITU_BENCH_STARTED"]).touch()
    query = (
        two_phase(condition, int(within))
        if formulation == "two-phase"
        else one_sequence(sequence, int(within))
    )
    seconds, matches = run(env, query)
    print(json.dumps({"seconds": seconds, "matches": matches, "counting_job_seconds": start}))
    return 0


def run(env: TableEnvironment, query: str) -> tuple[float, int]:
    started = time.perf_counter()
    matches = 0
    with env.execute_sql(query).collect() as rows:
        for row in rows:
            matches = row[0]
    return time.perf_counter() - started, matches


def runs(name: str) -> str:
    """Phase one: the runs of a condition; te carries the event time.

    A row before the run begins the pattern: without it each row of a run would begin a match of its own.
    """
    return (
        f"(SELECT k, ts, te, rt FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY rt MEASURES "
        f"FIRST(S.t) AS ts, E.t AS te, MATCH_ROWTIME() AS rt ONE ROW PER MATCH AFTER MATCH SKIP TO LAST E "
        f"PATTERN (P S+ E) DEFINE P AS NOT P.{name}, S AS S.{name}, E AS NOT E.{name}))"
    )


def two_phase(condition: str, within: int) -> str:
    bound = f"INTERVAL '{within}' SECOND({len(str(within))})"
    near = " AND ".join(
        f"{late}.rt BETWEEN {early}.rt - {bound} AND {early}.rt + {bound}"
        for early, late in (("a", "b"), ("b", "c"))
    )
    return (
        f"SELECT count(*), max(b.te) FROM {runs('a')} AS a, {runs('b')} AS b, {runs('c')} AS c WHERE a.k = "
        "b.k "
        f"AND b.k = c.k AND {near} AND {condition} AND c.te - a.ts <= {within}"
    )


def one_sequence(sequence: str, within: int) -> str:
    pattern, _, define = re.sub(r"\bX\*\?", "Y*?", sequence).partition(" DEFINE ")
    define = define.replace("X AS TRUE, ", "X AS NOT X.a, ")
    return (
        "SELECT count(*), max(te) FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY rt MEASURES "
        "LAST(C.t) AS te "
        f"ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW {pattern} WITHIN INTERVAL '{within}' "
        f"SECOND({len(str(within))}) DEFINE {define})"
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
