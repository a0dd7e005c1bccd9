"""Batch DataFrames: `situ.match` and `situ.situations` on tables of any size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import Observation
from pyspark.sql import functions as F

from situ.carry.batch.task import Kind, Task
from situ.carry.buckets import labels
from situ.carry.in_process import check_matchable
from situ.errors import BindError, OptionError
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, bind
from situ.options import Options, check_applicable, check_forget_after, read_options
from situ.spark.batch.strategy import Decision, decide
from situ.spark.batch.tied import listening
from situ.spark.select import output
from situ.spark.select.project import N_BAD_ROWS, Projection, project, schema_of
from situ.spark.session.plans import calls_python
from situ.spark.session.settings import Settings, settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.types import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

OPTIONS = frozenset({"time", "ties", "on_bad_rows", "strategy", "join", "forget_after", "match_id", "points"})
ELSEWHERE = (
    "watermark, late_rows and max_ahead are for streaming DataFrames, threads for tables in process; "
    "ansi and time_zone are the session's (spark.sql.ansi.enabled, spark.sql.session.timeZone)"
)
SHUFFLED = "bucket int, data binary"
_NESTED = ("array<", "map<", "struct<", "variant", "interval")


def match(df: DataFrame, query: Query, **options: Any) -> DataFrame:
    """Every match in a batch DataFrame, once (SEM 5.1); lazy, as all of Spark."""
    check_matchable(query)
    job = Job.of(df, query, options, "match")
    found = job.found(output.match_fields(job.bound, df.schema, match_id=job.options.match_id))
    return remembering(
        output.matches(found, job.bound, match_id=job.options.match_id), job.observation, job.told
    )


def situations(df: DataFrame, query: Query, **options: Any) -> DataFrame:
    """The derived situations themselves, one row each (SEM 5.5); lazy."""
    job = Job.of(df, query, options, "situations")
    found = job.found(output.situation_fields(job.bound, df.schema))
    return remembering(output.situations(found, job.bound), job.observation, job.told)


def n_bad_rows(result: DataFrame) -> int:
    """How many rows on_bad_rows="drop" left out, once an action on the very DataFrame has run."""
    observation = getattr(result, "_situ_bad_rows", None)
    if observation is None:
        raise OptionError(
            "this DataFrame does not count rows without a time",
            hint='ask the DataFrame that situ.match(..., on_bad_rows="drop") returned',
        )
    return int(observation.get[N_BAD_ROWS])


@dataclass(frozen=True)
class Job:
    """One query on one DataFrame, bound and checked."""

    df: DataFrame
    options: Options
    projection: Projection
    kind: Kind
    forget_after: int | None
    settings: Settings
    decision: Decision
    observation: Observation | None
    has_splits: bool  # does a last column tell splits apart
    told: Any  # of rows that tasks leave out (see tied.py)

    @classmethod
    def of(cls, df: DataFrame, query: Query, given: dict[str, Any], kind: Kind) -> Job:
        """Check the options, bind the query and choose a strategy; nothing runs."""
        options = read_options(given, OPTIONS, "a batch DataFrame", ELSEWHERE)
        check_applicable(given, query)
        bound = bind(query, schema_of(df), time=options.time)
        check_partition_types(bound)
        forget_after = check_forget_after(options.forget_after, bound)
        decision = decide(df, bound, options.strategy, kind)
        projection, observation, has_splits = projected(df, query, options, decision)
        if options.strategy == "auto" and has_splits and calls_python(projection.events):
            why = "conditions call Python functions, which hide from situ which split a row comes from"
            decision = replace(decision, strategy="shuffle", why=why)
            projection, observation, has_splits = projected(df, query, options, decision)
        settings = settings_of(df.sparkSession)
        told = listening(df, bound, options.ties)
        return cls(
            df, options, projection, kind, forget_after, settings, decision, observation, has_splits, told
        )

    @property
    def bound(self) -> BoundQuery:
        return self.projection.bound

    def found(self, fields: T.StructType) -> DataFrame:
        """What workers find, in the columns `fields`."""
        are_given = self.bound.query.intervals is not None
        if are_given or (self.decision.strategy == "shuffle" and self.bound.partition):
            task = self.task(fields)
            pieces = self.projection.events.mapInArrow(shipped("pack", task), SHUFFLED)
            merge = "merge_given" if are_given else "merge_events"
            return pieces.repartition(F.col("bucket")).mapInArrow(shipped(merge, task, self.told), fields)
        return merged(self.condensed(fields), self.task(fields), fields, self.decision)

    def condensed(self, fields: T.StructType) -> DataFrame:
        """Condensed pieces; where splits may interleave, the rows are first put in time order."""
        events = self.projection.events
        if self.decision.strategy == "shuffle":
            time = f"_c{self.projection.layout.time}"
            events = events.repartitionByRange(self.settings.n_partitions, F.col(time))
        return events.mapInArrow(shipped("condense", self.task(fields), self.told), SHUFFLED)

    def task(self, fields: T.StructType) -> Task:
        """What workers need to know."""
        options = self.options
        return task_of(
            self.bound,
            self.df.schema,
            self.settings,
            fields,
            layout=self.projection.layout,
            kind=self.kind,
            ties=options.ties,
            join=options.join,
            points=options.points,
            forget_after=self.forget_after,
            match_id=options.match_id,
            has_splits=self.has_splits,
        )


def remembering(result: DataFrame, observation: Observation | None, told: Any) -> DataFrame:
    """The result, which remembers where its dropped rows are counted, and those left out as ties."""
    if told is not None:
        result._situ_tied = told  # type: ignore[attr-defined]
    if observation is not None:
        result._situ_bad_rows = observation  # type: ignore[attr-defined]
    return result


def projected(
    df: DataFrame, query: Query, options: Options, decision: Decision
) -> tuple[Projection, Observation | None, bool]:
    """The projection, where its dropped rows are counted, and whether it tells splits apart."""

    def attempt(split: Any) -> tuple[Projection, Observation | None, bool]:
        observation = Observation("situ") if options.on_bad_rows == "drop" else None
        found = project(df, query, time=options.time, drop_bad_rows=observation or False, split=split)
        _ = found.events.schema  # a Connect session looks at it no sooner
        return found, observation, split is not None

    if decision.strategy == "map-side":
        try:
            return attempt(F.hash(F.input_file_name(), F.input_file_block_start()))
        except AnalysisException:
            pass  # a plan of several sources: then each task is one split
    return attempt(None)


def task_of(
    bound: BoundQuery, schema: T.StructType, settings: Settings, fields: T.StructType, **others: Any
) -> Task:
    """A task, with what comes from the session."""
    return Task(
        bound=bound,
        schema=arrow_schema(others["layout"].columns, schema),
        ansi=settings.ansi,
        labels=tuple(labels(settings.n_partitions).tolist()),
        limit=settings.worker_bytes,
        output_names=fields.names,
        n_slices=settings.n_slices,
        least_rows=settings.least_rows,
        **others,
    )


def merged(pieces: DataFrame, task: Task, fields: T.StructType, decision: Decision) -> DataFrame:
    """Condensed pieces joined and matched: by partition, or by slices of time."""
    if not decision.sliced:
        return pieces.repartition(F.col("bucket")).mapInArrow(shipped("merge_condensed", task), fields)
    cut = pieces.repartition(1).mapInArrow(shipped("cut", task), SHUFFLED)
    # by number, so that Spark does not put slices together again: few bytes can be much work
    return cut.repartition(task.n_slices, F.col("bucket")).mapInArrow(shipped("match_slices", task), fields)


def check_partition_types(bound: BoundQuery) -> None:
    """Partition values must have an equality that Spark and Arrow share."""
    for column in bound.partition:
        if column.type.startswith(_NESTED):
            raise BindError(
                f"cannot partition by {column.name}, which is a {column.type}",
                hint="partition by its fields, or by a string or number made from it",
            )
