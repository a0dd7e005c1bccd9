"""`situ.explain` of a streaming DataFrame: the query, what is kept of it, and when results come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from situ.language.situations.ast import Query
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration
from situ.operators.situations.question import AskedSituations, Deriving, Matching
from situ.plan.explain import Explanation, explain_query
from situ.spark.stream.job import Job, job_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame


def explain(events: DataFrame | Mapping[str, DataFrame], query: Query, **options: Any) -> Explanation:
    """What was understood of a query, and how a stream answers it; nothing is started."""
    job = job_of(events, Matching(query) if query.can_match else Deriving(query), options)
    assert isinstance(job.asked, AskedSituations)
    return explain_query(job.asked.bound.query).with_notes(*notes_of(job))


def notes_of(job: Job) -> list[str]:
    """How the stream runs, in sentences."""
    needs, times = job.asked.needs, job.times
    kept = "There is no PARTITION BY: one task keeps the state, and takes all rows."
    if needs.partition:
        names = ", ".join(column.name for column in needs.partition)
        kept = f"What is kept of the partitions of {names} is spread over {job.n_buckets} buckets."
    if times.delay is None:
        waits = "There is no watermark: rows count as they come, and one that is late is left out."
    elif job.sources is not None:
        waits = "Rows wait until the least of the sources' watermarks has passed them."
    else:
        delay = duration_text(Duration(times.delay, True))
        waits = f"Rows wait until the watermark, {delay} behind the largest time so far, has passed them."
    return [kept, waits, *([_ticks_note(job)] if needs.ticks else [])]


def _ticks_note(job: Job) -> str:
    """What becomes of results between events (SEM 11.9)."""
    if job.times.delay is None:
        return (
            "A silent partition reports nothing: without a watermark a result between events is reported, "
            "with its own match_time, when the partition's next event shows that the instant has passed. "
            'watermark="1 minute", or withWatermark, lets time pass in all partitions.'
        )
    return (
        "Results between events are reported once the watermark has passed them, also of a partition in "
        "which nothing arrives: rows of others move it. Where no rows arrive at all it stands still."
    )
