"""Queries that look at the clock: in process what Spark finds in a session of the same time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import situ

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOUR = 3_600_000_000
# Hourly from two days before the clocks go back in New York to two days after; the first in UTC is a Friday.
START = 1_730_419_200_000_000
EVENTS = pa.table({"ts": pa.array([START + i * HOUR for i in range(120)], pa.timestamp("us", tz="UTC"))})
QUERIES = {
    "night": "FROM events ORDER BY ts DEFINE A AS hour(ts) >= 22 OR hour(ts) < 6 "
    "RETURN date_trunc('hour', A.ts) AS h, A.te - A.ts AS lasted, hour(A.te) AS until",
    "weekend": "FROM events ORDER BY ts DEFINE A AS dayofweek(ts) IN (1, 7) "
    "RETURN A.ts AS f, to_date(A.te) AS day",
    "early": "FROM events ORDER BY ts DEFINE A AS ts < date_trunc('day', ts) + INTERVAL '8' HOUR "
    "RETURN A.ts AS f, A.te + INTERVAL '1' DAY AS t, date_add(A.ts, 1) AS tomorrow, unix_seconds(A.te) AS s",
}


def _utc(day: int, hour: int) -> datetime:
    return datetime(2024, 11, day, hour, tzinfo=UTC)


def _in_utc(table: pa.Table) -> pa.Table:
    """Spark hands instants over with the session's zone."""
    utc = pa.timestamp("us", tz="UTC")
    types = [
        utc if pa.types.is_timestamp(field.type) and field.type.tz else field.type for field in table.schema
    ]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


def _matches(query: str, zone: str) -> list[dict[str, object]]:
    found: pa.Table = situ.match(EVENTS, situ.query(f"{query} EMIT FINAL"), time_zone=zone)
    rows: list[dict[str, object]] = found.to_pylist()
    return rows


def test_nights_are_those_of_the_time_zone() -> None:
    nights = _matches(QUERIES["night"], "America/New_York")
    # From 22:00 to 06:00 on the clock. To the 3rd that took nine hours, of which Spark counts eight: the
    # difference of two timestamps is that of what the clock showed.
    assert [row["h"] for row in nights] == [_utc(1, 2), _utc(2, 2), _utc(3, 2), _utc(4, 3), _utc(5, 3)]
    assert [row["match_time"] for row in nights] == [_utc(day, 10 if day < 3 else 11) for day in range(1, 6)]
    assert {row["lasted"] for row in nights} == {timedelta(hours=8)}
    assert {row["until"] for row in nights} == {6}


@pytest.mark.spark
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_spark_finds_the_same_in_a_session_of_the_zone(spark: SparkSession, zone: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        events = spark.createDataFrame(EVENTS, schema="ts timestamp").repartition(1)
        for query in QUERIES.values():
            found = situ.match(events, situ.query(f"{query} EMIT FINAL")).toArrow()
            on_spark = _in_utc(found).to_pylist()
            in_process = _matches(query, zone)
            assert sorted(map(str, in_process)) == sorted(map(str, on_spark))
            assert in_process
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
