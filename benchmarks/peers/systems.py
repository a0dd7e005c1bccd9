"""situ beside DuckDB, Spark SQL, Flink SQL and Esper: the same rows, the same question."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import situ
from benchmarks.experiment import CannotExpressError, Experiment, Measured, Point, Watch, grid, ready
from benchmarks.peers.build import ESPER, FLINK, esper_jars, flink_python
from benchmarks.peers.questions import QUESTIONS, SEED, Question, match_sql, situ_query, table, write_csv
from benchmarks.verdict import Results, done, speedups

HERE = Path(__file__).parent
EVENTS = {
    "disconnected": (10_000, 100_000, 1_000_000, 10_000_000),
    "drivers": (100_000, 1_000_000, 10_000_000),
}
CONTENDERS = (
    "situ",
    "DuckDB",
    "Spark SQL",
    "Esper two-phase",
    "Flink two-phase",
    "Flink sequence",
    "Esper sequence",
)


def points(quick: bool) -> Iterator[Point]:
    for question, sizes in EVENTS.items():
        yield from grid(
            CONTENDERS[:2] if quick else CONTENDERS, question=[question], events=(10_000,) if quick else sizes
        )


def run(contender: str, question: str, events: int) -> Measured:
    asked, rows = QUESTIONS[question], table(question, events)
    if contender == "situ":
        return _situ(asked, rows)
    if contender == "DuckDB":
        return _duckdb(asked, rows)
    with tempfile.TemporaryDirectory() as folder:
        if contender == "Spark SQL":
            return _spark(asked, rows, Path(folder))
        file = Path(folder) / "events.csv"
        write_csv(rows, file)
        system, _, formulation = contender.partition(" ")
        return (_flink if system == "Flink" else _esper)(asked, file, formulation, events)


def _situ(asked: Question, rows: pa.Table) -> Measured:
    query = situ.query(situ_query(asked))
    situ.match(rows.slice(0, 5_000), query)
    final = situ.match(rows, situ.query(situ_query(asked, emit="FINAL"))).num_rows
    watch = Watch()
    with watch:
        found = situ.match(rows, query)
    return Measured(
        watch.seconds, watch.cpu_seconds, rows.num_rows, found.num_rows, [], {"final_matches": final}
    )


def _duckdb(asked: Question, rows: pa.Table) -> Measured:
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE events AS SELECT * FROM rows")
    watch = Watch()
    with watch:
        found = connection.sql(match_sql(asked, "events")).to_arrow_table()
    return Measured(
        watch.seconds, watch.cpu_seconds, rows.num_rows, found.num_rows, [], {"threads": os.cpu_count()}
    )


def _spark(asked: Question, rows: pa.Table, folder: Path) -> Measured:
    from situ.cli.session import local_spark

    pq.write_table(rows, folder / "events.parquet")
    spark = local_spark("situ bench")
    spark.read.parquet(str(folder / "events.parquet")).createOrReplaceTempView("events")
    spark.sql("SELECT count(*) FROM events").collect()  # starts executors
    ready()
    watch = Watch()
    with watch:
        found = spark.sql(f"SELECT count(*), sum(match_time) FROM ({match_sql(asked, 'events')})").collect()
    spark.stop()
    return Measured(
        watch.seconds, watch.cpu_seconds, rows.num_rows, int(found[0][0]), [], {"threads": os.cpu_count()}
    )


def _flink(asked: Question, file: Path, formulation: str, events: int) -> Measured:
    command = [
        flink_python(),
        HERE / "flink" / "job.py",
        file,
        formulation,
        asked.flink_sequence,
        asked.sql,
        asked.within,
    ]
    return answer_of(list(map(str, command)), events, f"Flink {FLINK}")


def _esper(asked: Question, file: Path, formulation: str, events: int) -> Measured:
    ready()
    classpath = os.pathsep.join(map(str, esper_jars()))
    command = ["java", "-Xmx5g", "-cp", classpath, HERE / "esper" / "EsperRunner.java", file, formulation]
    command += [asked.esper_sequence, asked.sql, asked.within]
    return answer_of(list(map(str, command)), events, f"Esper {ESPER}")


def answer_of(command: list[str], events: int, system: str) -> Measured:
    """A peer prints one line of JSON: seconds, matches, and what it wants to add."""
    answer = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in answer.stdout.splitlines() if line.startswith("{")]
    if answer.returncode != 0 or not lines:
        said = [line.strip() for line in (answer.stderr + answer.stdout).splitlines() if line.strip()]
        telling = [line for line in said if "Exception" in line or "Error" in line] or said
        if any("OutOfMemoryError" in line for line in telling):
            raise MemoryError(f"{system}: {telling[0]}")
        raise CannotExpressError(f"{system}: {telling[-1][:300] if telling else 'no answer'}")
    found = json.loads(lines[-1])
    details = {key: value for key, value in found.items() if key not in ("seconds", "matches")}
    return Measured(
        found["seconds"], found.get("cpu_seconds", found["seconds"]), events, found["matches"], [], details
    )


def follows(results: Results) -> Iterator[str]:
    """Times against situ, and how many of situ's matches each peer found."""
    yield from speedups(results, by="seconds")
    own = {json.dumps(p["parameters"], sort_keys=True): p for p in done(results, "situ")}
    for contender in CONTENDERS[1:]:
        shares = [
            point["matches"] / own[key]["matches"]
            for point in done(results, contender)
            if (key := json.dumps(point["parameters"], sort_keys=True)) in own and own[key]["matches"]
        ]
        if shares and (min(shares) < 0.999 or max(shares) > 1.001):
            yield (
                f"{contender} answers a different question: {min(shares):.3f} to {max(shares):.3f} times the "
                "matches of situ. Two-phase formulations see a situation only when it has ended; "
                "MATCH_RECOGNIZE "
                "gives at most one match for each first row."
            )


EXPERIMENT = Experiment(
    name="peers",
    title="Other systems: DuckDB, Spark SQL, Flink SQL, Esper",
    source="the two straw-man formulations of dissertation 5.1.1; SQL as gaps and islands with a range join",
    generator="disconnected: synthetic, 3 symbols; drivers: traffic, 1,000 cars; conditions already "
    "evaluated",
    seed=SEED,
    query=situ_query(QUESTIONS["disconnected"]),
    measured="time of the query on loaded input, start-up left out where the system allows it (Flink: its "
    "whole job, "
    "reading included; a job that only counts is reported beside it); 120 s and 6 GiB per point",
    published="The papers ran Esper 6.0.1 and SASE+ as point-based systems, with both formulations: see the "
    "pages on "
    "drivers and on disconnected patterns for what they report.",
    points=points,
    run=run,
    axis="events",
    series=("question",),
    follows=follows,
)
