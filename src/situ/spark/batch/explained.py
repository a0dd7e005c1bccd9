"""`situ.explain` of a batch DataFrame: the query, and how Spark would run it and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from situ.carry.contract import Slices
from situ.language.situations.ast import Query
from situ.operators.situations.events import EventOperator
from situ.operators.situations.question import AskedSituations, Deriving, Matching
from situ.plan.explain import Explanation, explain_query
from situ.spark.batch.choose import choose
from situ.spark.batch.job import Job
from situ.spark.batch.parquet import Source
from situ.spark.batch.sources import one_frame
from situ.spark.select.project import schema_of
from situ.spark.session.plans import size_in_bytes
from situ.spark.session.tuned import cost_of_measuring, measures_batches

if TYPE_CHECKING:
    from situ.spark.batch.sources import Frames

_WIDTHS = {
    "tinyint": 1,
    "boolean": 1,
    "smallint": 2,
    "int": 4,
    "float": 4,
    "date": 4,
    "string": 16,
    "binary": 16,
}
_CONDENSED = (
    0.05  # situations are one or two orders of magnitude fewer than events (measured 2 to 6 % of bytes)
)


def explain(events: Frames, query: Query, **options: Any) -> Explanation:
    """What was understood of a query, and the strategy it takes on this DataFrame; no job runs."""
    df, question = one_frame(events, Matching(query) if query.can_match else Deriving(query), options)
    chosen = choose(df, question, options)
    asked = question.bind(schema_of(df), chosen.options)
    assert isinstance(asked, AskedSituations)
    return explain_query(asked.bound.query).with_notes(*notes_of(chosen))


def notes_of(job: Job | Source) -> list[str]:
    """How the query is run, in sentences."""
    notes = _how_read(job) if isinstance(job, Source) else _how_handed_over(job)
    decision, partition = job.decision, job.asked.needs.partition
    if partition:
        names = ", ".join(column.name for column in partition)
        notes.append(f"Partitions of {names} are matched in {job.task.n_buckets} buckets, in parallel.")
    elif decision.sliced:
        notes.append(
            f"There is no PARTITION BY: situations are derived in parallel and matched in up to "
            f"{job.settings.n_slices} slices of time."
        )
    elif job.asked.needs.parts:
        notes.append("There is no PARTITION BY: one task matches the events of all sources.")
    elif isinstance(job.operator, Slices):
        notes.append(
            "There is no PARTITION BY and no WITHIN: situations are derived in parallel, "
            "but one task matches them all."
        )
    if job.asked.needs.ticks:
        notes.append(_clock_note(job))
    if _moves_all(job) and job.decision.strategy != "shuffle":
        notes.append("Every event is moved, not only situations: any may be the one that matches wait for.")
    notes.append(_shuffle_note(job))
    if isinstance(job, Job) and measures_batches(job.df.sparkSession):
        notes.append(cost_of_measuring())
    return notes


def _how_read(source: Source) -> list[str]:
    decision = source.decision
    notes = [f"Strategy direct: tasks read the {len(source.sizes):,} Parquet files themselves."]
    if source.is_whole:
        notes.append(f"All events are brought together, not only situations: {decision.why}.")
    else:
        notes.append(f"Situations are derived where files are read: {decision.why}.")
    return notes


def _how_handed_over(job: Job) -> list[str]:
    decision, ordering = job.decision, job.decision.ordering
    notes = [f"Strategy {decision.strategy}: {decision.why}."]
    if job.not_direct is not None:
        notes.append(f"Not direct, with tasks that read Parquet files themselves: {job.not_direct}.")
    if decision.strategy == "shuffle" and ordering is not None:
        notes.append(
            "Better would be map-side, which moves situations instead of events; "
            'strategy="map-side" forces it, and fails with a clear error where splits interleave in time.'
        )
        if "Connect" in ordering.why or "computed" in ordering.why or "more than a scan" in ordering.why:
            notes.append(
                "Parquet files in time order, read without other operators, or situ.match_parquet, "
                "let situ choose direct or map-side by itself."
            )
    return notes


def _clock_note(job: Job | Source) -> str:
    how = "Results may fall between events, and are reported up to the largest time of the input"
    if job.options.until is not None:
        return "Results may fall between events, and are reported up to the time that until= says."
    if job.task.clock is not None:
        return f"{how}, which the footers of the files tell."
    return f"{how}: one more pass over its time column finds it, which until= would spare."


def _shuffle_note(job: Job | Source) -> str:
    whole = _event_bytes(job)
    if whole is None:
        return "How many bytes are shuffled is not known beforehand: the size of the input is not."
    if job.decision.strategy == "shuffle" or _moves_all(job):
        return f"Estimated shuffle: {_size(whole)}."
    return f"Estimated shuffle: {_size(int(whole * _CONDENSED))} (events themselves would be {_size(whole)})."


def _moves_all(job: Job | Source) -> bool:
    operator = job.operator
    return isinstance(operator, EventOperator) and operator.engine.needs_all_rows


def _event_bytes(job: Job | Source) -> int | None:
    """What all events would be as they travel."""
    needs, ordering = job.asked.needs, job.decision.ordering
    columns = [needs.time, *needs.attributes]
    width = 1 + sum(_WIDTHS.get(column.type, 8) for column in columns) + 8 * len(needs.derived)
    if ordering is not None and ordering.n_rows is not None:
        return ordering.n_rows * width
    return size_in_bytes(job.events) if isinstance(job, Job) else None


def _size(n_bytes: int) -> str:
    """Bytes as people read them.

    >>> _size(1_500_000), _size(12)
    ('1.5 MB', '12 bytes')
    """
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.2g} {unit}" if n_bytes < 10 * size else f"{n_bytes / size:,.0f} {unit}"
    return f"{n_bytes} bytes"
