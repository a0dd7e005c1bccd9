"""The questions put to other systems, and their input: rows of key, time and one boolean per condition."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from benchmarks.data import query_text, synthetic_masks

SEED = 21


class Question(NamedTuple):
    """A pattern of A, B, C; `sql` relates situations a, b, c, each with ts and te; td is b.te in both."""

    pattern: str
    within: int
    sql: str
    flink_sequence: str  # MATCH_RECOGNIZE over events: PATTERN and DEFINE
    esper_sequence: str


QUESTIONS = {
    "disconnected": Question(
        "A before B overlaps C",
        500,
        "a.te < b.ts AND b.ts < c.ts AND c.ts < b.te AND b.te < c.te",
        "PATTERN (N A+ X X*? B+ D+ C) DEFINE N AS NOT N.a, A AS A.a, X AS TRUE, B AS B.b AND NOT B.c, "
        "D AS D.b AND D.c, C AS C.c AND NOT C.b",
        "pattern (N A+ X X*? B+ D+ C) define N as not N.a, A as A.a, B as B.b and not B.c, "
        "D as D.b and D.c, C as C.c and not C.b",
    ),
    "drivers": Question(
        "A meets;overlaps B AND B meets;overlaps C AND A before C",
        300,
        "a.ts < b.ts AND b.ts <= a.te AND a.te < b.te AND b.ts < c.ts AND c.ts <= b.te AND b.te < c.te "
        "AND a.te < c.ts",
        "PATTERN (N A+ D* B+ E* C) DEFINE N AS NOT N.a, A AS A.a AND NOT A.b, D AS D.a AND D.b, "
        "B AS B.b AND NOT B.a AND NOT B.c, E AS E.b AND E.c AND NOT E.a, C AS C.c AND NOT C.b",
        "pattern (N A+ D* B+ E* C) define N as not N.a, A as A.a and not A.b, D as D.a and D.b, "
        "B as B.b and not B.a and not B.c, E as E.b and E.c and not E.a, C as C.c and not C.b",
    ),
}


def table(question: str, events: int) -> pa.Table:
    """Rows k, t, a, b, c by key and time."""
    if question == "drivers":
        from benchmarks.papers.drivers import grouped, traffic

        time, mask, offset = grouped(traffic(events))
        key = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
        order = np.argsort(time, kind="stable")
        time, mask, key = time[order], mask[order], key[order]
    else:
        (batch,) = synthetic_masks(3, events, seed=SEED, batch=events)
        time, mask = batch
        key = np.zeros(events, np.int64)
    columns = {name: (mask >> np.uint8(bit) & np.uint8(1)).astype(bool) for bit, name in enumerate("abc")}
    return pa.table({"k": key.astype(np.int32), "t": time, **columns})


def write_csv(rows: pa.Table, file: Path) -> None:
    """The rows without a header, booleans as true and false."""
    csv.write_csv(rows, file, csv.WriteOptions(include_header=False))


def situ_query(question: Question, *, emit: str = "EARLY") -> str:
    """The same question to situ, over the rows of `table`."""
    text = query_text(3, question.pattern, question.within, emit=emit)
    for i, name in enumerate("abc"):
        text = text.replace(f"AS s{i}", f"AS {name}")
    return text.replace("FROM events", "FROM events PARTITION BY k")


def situations_sql(condition: str, source: str, infinity: str) -> str:
    """Gaps and islands, the cheap way: keep rows where the condition changes, take the next one's time."""
    return (
        f"SELECT k, t AS ts, coalesce(te, {infinity}) AS te FROM (SELECT k, t, {condition}, "
        f"lead(t) OVER (PARTITION BY k ORDER BY t) AS te FROM (SELECT k, t, {condition}, "
        f"lag({condition}, 1, false) OVER (PARTITION BY k ORDER BY t) AS p FROM {source}) AS l "
        f"WHERE {condition} <> p) AS changes WHERE {condition}"
    )


def match_sql(question: Question, source: str) -> str:
    """All matches with td and window as EARLY has them: situations, then a range join."""
    infinity = str(1 << 60)
    parts = ", ".join(f"s{name} AS ({situations_sql(name, source, infinity)})" for name in "abc")
    return (
        f"WITH {parts} SELECT a.k, a.ts AS a_ts, b.ts AS b_ts, c.ts AS c_ts, b.te AS match_time FROM sb AS b "
        f"JOIN sc AS c ON b.k = c.k AND {_only(question.sql, 'b', 'c')} "
        f"JOIN sa AS a ON a.k = b.k AND {_only(question.sql, 'a')} "
        f"AND b.te - a.ts <= {question.within} AND a.ts >= b.ts - {question.within} AND a.te >= b.ts - "
        f"{question.within}"
    )


def _only(conditions: str, *symbols: str) -> str:
    """The conditions between b and c, or all those that mention a."""
    chosen = [part for part in conditions.split(" AND ") if ("a." in part) == (symbols == ("a",))]
    return " AND ".join(chosen)
