"""The V beside other systems: DuckDB's gaps and islands, and Flink SQL's MATCH_RECOGNIZE."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import situ
from benchmarks.experiment import Experiment, Measured, Point, Watch, best_of
from benchmarks.peers.build import FLINK, flink_python
from benchmarks.peers.questions import write_csv
from benchmarks.peers.systems import answer_of
from benchmarks.rows.data import SEED, ticks
from benchmarks.rows.texts import V
from benchmarks.verdict import Results, disagreements, done, speedups
from situ.compiled.jit import compile_first

# A row at the watermark is late, so the second one drops rows of equal time, and says nothing of it.
WATERMARKS = {"Flink SQL": "rt - INTERVAL '1' SECOND", "Flink SQL, WATERMARK AS rt": "rt"}
SLOWER = 6  # DuckDB, at least so many times
# Rows fall, rise or do neither; a run of falls and the run of rises right behind it are a V. Its first row is
# the one before the falls, so that two neighbouring Vs may share a row, which SKIP PAST LAST ROW rules out:
# an easier question than the one put to situ.
ISLANDS = """
WITH moves AS (
    SELECT k, t, price, sign(price - lag(price) OVER w) AS move FROM ticks
    WINDOW w AS (PARTITION BY k ORDER BY t)
), marked AS (
    SELECT *, move IS DISTINCT FROM lag(move) OVER w AS begins FROM moves
    WINDOW w AS (PARTITION BY k ORDER BY t)
), islands AS (
    SELECT *, sum(begins::INT) OVER (PARTITION BY k ORDER BY t) AS island FROM marked
), runs AS (
    SELECT k, island, any_value(move) AS move, min(t) AS first, max(t) AS last,
        arg_min(price, t) AS price_first, arg_max(price, t) AS price_last
    FROM islands GROUP BY k, island
), sides AS (
    SELECT *, lead(move) OVER w AS next_move, lag(price_last) OVER w AS top
    FROM runs WINDOW w AS (PARTITION BY k ORDER BY island)
)
SELECT k, top, price_last AS bottom FROM sides WHERE move = -1 AND next_move = 1
"""


def points(quick: bool) -> Iterator[Point]:
    for events, contenders in (
        (200_000, ("situ", "DuckDB") if quick else ("situ", "DuckDB", *WATERMARKS)),
        *(() if quick else ((10_000_000, ("situ", "DuckDB")),)),
    ):
        for contender in contenders:
            yield Point(contender, {"events": events})


def run(contender: str, events: int) -> Measured:
    table = ticks(events)
    if contender == "situ":
        return _situ(table)
    return _duckdb(table) if contender == "DuckDB" else _flink(table, WATERMARKS[contender])


def _situ(table: pa.Table) -> Measured:
    compile_first()
    query = situ.query(V)
    situ.match(table.slice(0, 1_000), query)

    def once(watch: Watch) -> tuple[int, int]:
        with watch:
            found = situ.match(table, query)
        return table.num_rows, found.num_rows

    return best_of(3, once)


def _duckdb(table: pa.Table) -> Measured:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    rows = table.select(["k", "t", "price"])
    connection.execute("CREATE TABLE ticks AS SELECT * FROM rows")

    def once(watch: Watch) -> tuple[int, int]:
        with watch:
            found = connection.sql(ISLANDS).to_arrow_table()
        return rows.num_rows, found.num_rows

    return best_of(2, once)


def _flink(table: pa.Table, watermark: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ticks.csv"
        # Flink drops rows behind its watermark, so rows come by time and not by partition
        write_csv(table.select(["k", "t", "price"]).sort_by([("t", "ascending"), ("k", "ascending")]), file)
        job = Path(__file__).parents[1] / "peers" / "flink" / "rows.py"
        return answer_of(
            [str(flink_python()), str(job), str(file), watermark], table.num_rows, f"Flink {FLINK}"
        )


def follows(results: Results) -> Iterator[str]:
    """Times against situ's, and different numbers of matches."""
    yield from speedups(results, by="seconds")
    yield from disagreements(results)
    yield "DuckDB answers an easier question: neighbouring Vs may share a row, so it finds more."
    if done(results, "Flink SQL"):
        yield (
            "Flink SQL has neither PREV nor a greedy variable at the end of a pattern: the row that ends the "
            "rise is a part of its match, and a V at the end of a partition is not found. With a watermark "
            "that is the time itself, rows whose time equals that of one before them, in whatever partition, "
            "are late: matches are missing, and no error says so."
        )


EXPERIMENT = Experiment(
    name="rows-peers",
    title="The V beside DuckDB and Flink SQL",
    source=f"situ's own target: DuckDB's gaps and islands take at least {SLOWER} times the time",
    generator="prices that walk at random within a range, 1,000 sorted partitions",
    seed=SEED,
    query=f"{V}\n{ISLANDS}",
    measured="time of the query on loaded input, one thread; Flink: its whole job, reading included (a job "
    "that only counts is reported beside it)",
    published="Not a published experiment.",
    points=points,
    run=run,
    axis="events",
    follows=follows,
)
