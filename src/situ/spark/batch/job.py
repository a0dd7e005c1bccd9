"""The carrier of batch DataFrames, of any size, whose rows Spark hands over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import Observation
from pyspark.sql import functions as F

from situ.carry.batch.direct import N_BAD_ROWS
from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.carry.contract import Asked, Condenses, Operator, Question, Setting
from situ.errors import BindError, OptionError
from situ.options import Options, read_options
from situ.rows.clock import until_of
from situ.rows.needs import Needs
from situ.spark.batch.clock import with_clock
from situ.spark.batch.strategy import Decision, decide
from situ.spark.batch.tied import listening
from situ.spark.select import output
from situ.spark.select.project import project, schema_of, travelling, travelling_types
from situ.spark.session.plans import calls_python
from situ.spark.session.settings import Settings, settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.types import schema_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql import types as T

OPTIONS = frozenset(
    {"time", "time_unit", "ties", "on_bad_rows", "strategy", "join", "forget_after", "match_id", "points"}
    | {"until"}
)
ELSEWHERE = (
    "watermark, late_rows and max_ahead are for streaming DataFrames, threads for tables in process; "
    "ansi and time_zone are the session's (spark.sql.ansi.enabled, spark.sql.session.timeZone)"
)
SHUFFLED = "bucket int, data binary"
_EVENTS_PER_BUCKET = 4_000_000  # condensed they are some megabytes
_NESTED = ("array<", "map<", "struct<", "variant", "interval")


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
    """One question on one DataFrame, bound and checked."""

    df: DataFrame
    options: Options
    asked: Asked
    operator: Operator
    events: DataFrame  # what workers need of the input
    settings: Settings
    decision: Decision
    observation: Observation | None
    has_splits: bool  # does a last column tell splits apart
    told: Any  # of rows that tasks leave out (see tied.py)
    not_direct: str | None = None  # why tasks do not read the files themselves, where that was looked into

    @classmethod
    def of(cls, df: DataFrame, question: Question, passed: dict[str, Any]) -> Job:
        """Check the options, bind the question and choose a strategy; nothing runs."""
        options = read_options(passed, OPTIONS, "a batch DataFrame", ELSEWHERE)
        question.check_options(passed)
        asked = question.bind(schema_of(df), options)
        needs, settings = asked.needs, settings_of(df.sparkSession)
        check_partition_types(needs)
        operator = operator_of(asked, df, settings, options)
        until_of(options, needs, operator.schema)
        decision = decide(df, operator, options.strategy)
        events, observation, has_splits = projected(df, needs, options, decision)
        if options.strategy == "auto" and has_splits and calls_python(events):
            why = "conditions call Python functions, which hide from situ which split a row comes from"
            decision = replace(decision, strategy="shuffle", why=why)
            events, observation, has_splits = projected(df, needs, options, decision)
        told = listening(df, needs, options.ties)
        return cls(df, options, asked, operator, events, settings, decision, observation, has_splits, told)

    def result(self) -> DataFrame:
        """What users get."""
        return remembering(output.finished(self.found(), self.asked), self.observation, self.told)

    def found(self) -> DataFrame:
        """What workers find."""
        fields, task = output.fields_of(self.operator, self.df.schema), self.task
        can_condense = isinstance(self.operator, Condenses) and not self.asked.needs.parts
        if not can_condense or (self.decision.strategy == "shuffle" and self.asked.needs.partition):
            pieces = self.events.mapInArrow(shipped("pack", task), SHUFFLED)
            return merged_rows(pieces, self.df, task, fields, self.told)
        return merged(self._condensed(task), self.df, task, fields, self.decision)

    def _condensed(self, task: Task) -> DataFrame:
        """Condensed pieces; where splits may interleave, the rows are first put in time order."""
        events, needs = self.events, self.asked.needs
        if self.decision.strategy == "shuffle":
            time = F.col(travelling(needs, needs.time))
            events = events.repartitionByRange(self.settings.n_partitions, time)
        return events.mapInArrow(shipped("condense", task, self.told), SHUFFLED)

    @property
    def task(self) -> Task:
        """What workers need to know."""
        return task_of(
            self.operator,
            self.settings,
            self.options,
            n_buckets=buckets_for(self.decision, self.settings),
            has_splits=self.has_splits,
            clock=until_of(self.options, self.asked.needs, self.operator.schema),
        )


def operator_of(asked: Asked, df: DataFrame, settings: Settings, options: Options) -> Operator:
    """The operator as workers get it; RETURN is Spark's to evaluate."""
    arrow = schema_for(asked.needs, travelling_types(df, asked.needs))
    return asked.operator(arrow, Setting(False, settings.ansi, settings.time_zone, options.join))


def remembering(result: DataFrame, observation: Observation | None, told: Any) -> DataFrame:
    """The result, which remembers where its dropped rows are counted, and those left out as ties."""
    if told is not None:
        result._situ_tied = told  # type: ignore[attr-defined]
    if observation is not None:
        result._situ_bad_rows = observation  # type: ignore[attr-defined]
    return result


def projected(
    df: DataFrame, needs: Needs, options: Options, decision: Decision
) -> tuple[DataFrame, Observation | None, bool]:
    """What workers need, where dropped rows are counted, and whether it tells splits apart."""

    def attempt(split: Any) -> tuple[DataFrame, Observation | None, bool]:
        observation = Observation("situ") if options.on_bad_rows == "drop" else None
        found = project(df, needs, drop_bad_rows=observation or False, split=split)
        _ = found.schema  # a Connect session looks at it no sooner
        return found, observation, split is not None

    if decision.strategy == "map-side":
        try:
            return attempt(F.hash(F.input_file_name(), F.input_file_block_start()))
        except AnalysisException:
            pass  # a plan of several sources: then each task is one split
    return attempt(None)


def task_of(
    operator: Operator,
    settings: Settings,
    options: Options,
    *,
    n_buckets: int | None = None,
    has_splits: bool = False,
    clock: int | None = None,
) -> Task:
    """A task, with what comes from the session; unless it is said, with a bucket per shuffle partition."""
    return Task(
        operator=operator,
        warns=options.ties == "warn",
        labels=tuple(labels(n_buckets or settings.n_partitions).tolist()),
        limit=settings.worker_bytes,
        n_slices=settings.n_slices,
        least_rows=settings.least_rows,
        has_splits=has_splits,
        clock=clock,
    )


def buckets_for(decision: Decision, settings: Settings) -> int:
    """One bucket per shuffle partition; of condensed rows fewer, where footers tell that they are few.

    Every split writes, and some task reads, a piece for each bucket: small pieces cost more than their rows.
    """
    n_rows = None if decision.ordering is None else decision.ordering.n_rows
    if decision.strategy == "shuffle" or n_rows is None:
        return settings.n_partitions
    return min(settings.n_partitions, max(settings.n_tasks, -(-n_rows // _EVENTS_PER_BUCKET)))


def merged_rows(pieces: DataFrame, df: DataFrame, task: Task, fields: T.StructType, told: Any) -> DataFrame:
    """Pieces of whole rows of `df` brought together by partition, and run."""
    together = with_clock(pieces.repartition(F.col("bucket")), df, task.needs, task.clock)
    return together.mapInArrow(shipped("merge_rows", task, told), fields)


def merged(
    pieces: DataFrame, df: DataFrame, task: Task, fields: T.StructType, decision: Decision
) -> DataFrame:
    """Condensed pieces of `df` joined and matched: by partition, or by slices of time."""
    if not decision.sliced:
        together = with_clock(pieces.repartition(F.col("bucket")), df, task.needs, task.clock)
        return together.mapInArrow(shipped("merge_condensed", task), fields)
    whole = with_clock(pieces.repartition(1), df, task.needs, task.clock)
    cut = whole.mapInArrow(shipped("cut", task), SHUFFLED)
    # by number, so that Spark does not put slices together again: few bytes can be much work
    return cut.repartition(task.n_slices, F.col("bucket")).mapInArrow(shipped("match_slices", task), fields)


def check_partition_types(needs: Needs) -> None:
    """Partition values must have an equality that Spark and Arrow share."""
    for column in needs.partition:
        if column.type.startswith(_NESTED):
            raise BindError(
                f"cannot partition by {column.name}, which is a {column.type}",
                hint="partition by its fields, or by a string or number made from it",
            )
