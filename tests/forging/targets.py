"""State to forge: of every kind of operator, and of the buckets of streams; and what is done with it then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

import situ
from streaming.in_memory import DictShelf, MemoryStream

EVENTS = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("a", pa.bool_()),
        ("b", pa.bool_()),
        ("x", pa.float64()),
        ("n", pa.int32()),
        ("d", pa.decimal128(9, 2)),
        ("w", pa.decimal128(30, 3)),
        ("s", pa.string()),
        ("day", pa.date32()),
    ]
)
INTERVALS = pa.schema(
    [
        ("k", pa.string()),
        ("id", pa.string()),
        ("kind", pa.string()),
        ("ts", pa.int64()),
        ("te", pa.int64()),
        ("level", pa.int64()),
    ]
)
PLAIN = "FROM e {by}ORDER BY t DEFINE A AS a, B AS b PATTERN A overlaps;meets;contains B WITHIN 20"
AGGREGATES = (
    "FROM e PARTITION BY k ORDER BY t, s DEFINE A AS a, B AS b AT LEAST 2 PATTERN A before;meets;overlaps B "
    "WITHIN 20 RETURN count(A) AS c, sum(A.n) AS sn, avg(A.n) AS an, stddev(A.x) AS dx, sum(B.x) AS sx, "
    "sum(A.d) AS sd, avg(A.d) AS ad, sum(B.w) AS sw, avg(B.w) AS aw, min(A.s) AS ms, max(B.w) AS mw, "
    "first(A.s) AS fs, last(B.d) AS ld, last(A.day) AS dy, min(B.n) AS mn, max(A.x) AS mx"
)
LISTS = (
    "FROM e PARTITION BY k ORDER BY t, s DEFINE A AS a, B AS b PATTERN A before;meets;overlaps B WITHIN 20 "
    "RETURN median(A.x) AS mx, percentile(B.n, 0.9) AS pn, median(A.d) AS md, percentile(A.w, 0.3) AS pw, "
    "collect_list(A.s) AS ls, collect_list(B.day) AS ld, collect_list(B.w) AS lw"
)
FOLLOWED = (
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS a AT LEAST 1, B AS b PATTERN A followed-by B WITHIN 20"
)
LOOKING = (
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > prev(x) OR prev(s, 3) = s OR prev(d + 1, 2) > w, "
    "B AS prev(a, 2) AND prev(day) < day PATTERN A overlaps;meets;contains B WITHIN 20 RETURN sum(A.n) AS n"
)
GIVEN = (
    "FROM INTERVALS i SYMBOL BY kind STARTING ts ENDING te {ids}PARTITION BY k "
    "PATTERN A overlaps;contains;meets B WITHIN 30 RETURN A.ts AS p, B.ts AS q, A.level AS r"
)
ROWS = (
    "FROM e MATCH_RECOGNIZE (PARTITION BY k ORDER BY t, s MEASURES count(*) AS c, sum(B.w) AS w, "
    "LAST(A.s) AS s, MATCH_NUMBER() AS m, FIRST(day) AS y{mode} PATTERN ({pattern}) WITHIN 9 "
    "DEFINE A AS a AND coalesce(PREV(n) > -5, true), B AS b OR d > A.d, C AS sum(B.n) < 9 AND x > LAST(B.x))"
)


def events(begin: int, n: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed + begin)
    return pa.table(
        {
            "k": [("p", "q", None)[i] for i in rng.integers(0, 3, n)],
            "t": np.arange(begin, begin + n),
            "a": rng.random(n) < 0.5,
            "b": rng.random(n) < 0.5,
            "x": rng.normal(size=n),
            "n": pa.array(rng.integers(-9, 9, n), pa.int32()),
            "d": [Decimal(int(i)).scaleb(-2) for i in rng.integers(-999, 999, n)],
            "w": [None if i % 5 == 0 else Decimal(int(i)) * 10**15 for i in rng.integers(-99, 99, n)],
            "s": [None if i == 0 else "s" * int(i) for i in rng.integers(0, 6, n)],
            "day": pa.array(rng.integers(0, 20_000, n), pa.int32()).cast(pa.date32()),
        },
        schema=EVENTS,
    )


def intervals(begin: int, n: int) -> pa.Table:
    """Every second one announced by a begin row; closed in the order of their ends."""
    rng = np.random.default_rng(begin)
    rows: list[dict[str, Any]] = []
    for i in range(n):
        row = {"k": "pq"[int(rng.integers(2))], "id": f"i{begin}-{i}", "kind": "AB"[int(rng.integers(2))]}
        row |= {"ts": begin + i, "level": int(rng.integers(9))}
        if i % 2:
            rows.append(row | {"te": None})
        if i % 5:
            rows.append(row | {"te": begin + i + int(rng.integers(1, 9))})
    rows.sort(key=lambda row: row["ts"] if row["te"] is None else row["te"])
    return pa.Table.from_pylist(rows, schema=INTERVALS)


@dataclass(frozen=True)
class Target:
    """Sealed states by name, and a function that restores them from other bytes and goes on."""

    name: str
    states: dict[Any, bytes]
    go_on: Callable[[dict[Any, bytes]], None]


def operator_target(
    name: str, text: str, rows: Callable[[int, int], pa.Table], *, given: bool = False, **options: Any
) -> Target:
    query = situ.query(text)
    schema = INTERVALS if given else EVENTS
    operator = query.operator(schema, **options)
    operator.push(rows(0, 40))
    operator.push(rows(40, 12))
    state = operator.state()

    def go_on(states: dict[Any, bytes]) -> None:
        again = query.operator(schema, state=states["state"], **options)
        again.push(rows(52, 20))
        query.operator(schema, state=again.state(), **options)
        if "watermark" in options:
            again.advance(60)
        again.push(schema.empty_table())
        again.flush()
        again.push(rows(72, 30))
        again.advance(500)
        again.state()

    return Target(name, {"state": state}, go_on)


def bucket_target(
    name: str, text: str, rows: Callable[[int, int], pa.Table], *, given: bool = False, watermark: bool
) -> Target:
    schema = INTERVALS if given else EVENTS

    def stream() -> MemoryStream:
        return MemoryStream(text, schema, has_watermark=watermark, n_buckets=1)

    first = stream()
    first.push(rows(0, 40), -(2**63) if watermark else None)
    first.push(rows(40, 12), 30 if watermark else None)

    def go_on(states: dict[Any, bytes]) -> None:
        again = stream()
        shelf = DictShelf()
        shelf.values.update(states)
        again.shelves[0] = shelf
        again.push(rows(52, 20), 40 if watermark else None)
        again.push(rows(72, 20), 65 if watermark else None)
        if watermark:
            again.advance(10_000)

    return Target(name, dict(first.shelves[0].values), go_on)


def targets() -> Iterator[Target]:
    by = "PARTITION BY k "
    yield operator_target("events", PLAIN.format(by=by), events)
    yield operator_target("one partition", PLAIN.format(by=""), events)
    yield operator_target("pair join", PLAIN.format(by=by), events, join="pair")
    yield operator_target("followed-by", FOLLOWED, events, forget_after=50)
    yield operator_target("aggregates", AGGREGATES, events)
    yield operator_target("lists", LISTS, events)
    yield operator_target("looking back", LOOKING, events, forget_after=30)
    yield operator_target("looking back waiting", LOOKING, events, watermark=15)
    yield operator_target("waiting", AGGREGATES, events, watermark=15)
    yield operator_target("intervals with ids", GIVEN.format(ids="ID BY id "), intervals, given=True)
    yield operator_target(
        "intervals waiting", GIVEN.format(ids="ID BY id "), intervals, given=True, watermark=15
    )
    whole = ROWS.format(mode="", pattern="^? A B* C+")
    yield operator_target("rows", whole, events, match_time=True)
    yield operator_target("rows waiting", whole, events, watermark=15, forget_after=30)
    for mode in ("MAXIMAL MATCH", "INCREMENTAL MATCH", "STRATEGY SKIP TILL NEXT"):
        text = ROWS.format(mode=f" {mode}", pattern="A B* C+").replace("MATCH_NUMBER() AS m, ", "")
        yield operator_target(f"rows, {mode}", text, events)
    yield bucket_target("bucket", AGGREGATES, events, watermark=False)
    yield bucket_target("bucket waiting", AGGREGATES, events, watermark=True)
    yield bucket_target("bucket looking back", LOOKING, events, watermark=True)
    yield bucket_target("bucket of lists", LISTS, events, watermark=True)
    yield bucket_target("bucket of one partition", PLAIN.format(by=""), events, watermark=True)
    yield bucket_target(
        "bucket of intervals", GIVEN.format(ids="ID BY id "), intervals, given=True, watermark=False
    )
    yield bucket_target(
        "bucket of intervals waiting", GIVEN.format(ids="ID BY id "), intervals, given=True, watermark=True
    )
