"""The carrier of streaming DataFrames (SEM 8).

    input -> one select in the JVM -> pack per bucket -> shuffle -> stateful operator -> unpack -> RETURN

The stateful operator reports what it counted through `observe`, so that late rows show in the query's
progress whether or not anybody asks for the rows themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from situ.carry.batch.task import Task
from situ.carry.contract import Asked, Question
from situ.carry.stream.pack import OUTCOME, PACKED
from situ.carry.stream.program import AHEAD, IS_AHEAD, LATE, Program
from situ.errors import DuplicateNameError, OptionError
from situ.options import Options, read_options
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.spark.batch.job import check_partition_types, operator_of, task_of
from situ.spark.select import output
from situ.spark.select.project import column_named, project, schema_of, travelling_types
from situ.spark.select.united import OfUnited, asked_of_united, schemas_of, united
from situ.spark.session.settings import settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.tuned import PROVIDER, ROCKSDB, say_what_measuring_costs
from situ.spark.session.types import ddl
from situ.spark.stream.metrics import COUNTS, metrics_name
from situ.spark.stream.ship import shipped_processor
from situ.spark.stream.times import StreamTimes
from situ.spark.stream.watch import watch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

OPTIONS = frozenset(
    {"time", "ties", "on_bad_rows", "join", "late_rows", "forget_after", "match_id", "points"}
    | {"watermark", "max_ahead", "time_unit"}
)
ELSEWHERE = (
    "strategy and until are for batch DataFrames, threads for tables in process; ansi and time_zone are the "
    "session's (spark.sql.ansi.enabled, spark.sql.session.timeZone)"
)
DEFAULT_BUCKETS = 64


def run(events: DataFrame | Mapping[str, DataFrame], question: Question, passed: dict[str, Any]) -> DataFrame:
    """The answer to a question over a streaming DataFrame: each result once, as soon as it is certain."""
    job = job_of(events, question, passed)
    return output.finished(job.found(), job.asked, job.beside)


def job_of(events: DataFrame | Mapping[str, DataFrame], question: Question, passed: dict[str, Any]) -> Job:
    """A question that a stream can answer, on one or several by name; nothing runs."""
    question.check_stream()
    if isinstance(events, Mapping):
        return Job.of_sources(events, question, passed)
    return Job.of(events, question, passed)


@dataclass(frozen=True)
class Job:
    """One question on one streaming DataFrame, bound and checked."""

    df: DataFrame
    question: Question
    options: Options
    asked: Asked
    events: DataFrame  # what workers need of the input
    times: StreamTimes
    n_buckets: int
    sources: Mapping[str, T.StructType] | None = None  # the columns of several, by name

    @classmethod
    def of_sources(cls, frames: Mapping[str, DataFrame], question: Question, passed: dict[str, Any]) -> Job:
        """The same of several streams by name, which come together with their watermarks (SEM 13.5)."""
        options, _ = _checked(question, passed)
        for name, frame in frames.items():
            if not frame.isStreaming:
                raise OptionError(
                    f"{name} is a batch DataFrame, and others are streams",
                    hint="give all sources as streams (spark.readStream), or all as batch DataFrames",
                )
        if options.late_rows:
            raise OptionError(
                "late_rows of several streams is not to be had: their rows have different columns",
                hint="leave it out; late rows are counted in the metric late_rows",
            )
        asked = question.bind(schemas_of(frames), options)
        needs = asked.needs
        given = [frames[part.name] for part in needs.parts]
        times, marked = StreamTimes.of_sources(given, needs, options, metrics_name(question.name, "times"))
        df = united(marked, needs, keep=[IS_AHEAD] if times.max_ahead is not None else [])
        job = cls.of(df, cast("Question", OfUnited(question, asked_of_united(asked))), passed, times)
        return replace(job, sources={name: frame.schema for name, frame in frames.items()})

    @classmethod
    def of(
        cls,
        df: DataFrame,
        question: Question,
        passed: dict[str, Any],
        times: StreamTimes | None = None,
    ) -> Job:
        """Check the options, bind the question, look at the session and the watermark; nothing runs."""
        options, buckets = _checked(question, passed)
        _check_state_store(df.sparkSession)
        say_what_measuring_costs(df.sparkSession)
        asked = question.bind(schema_of(df), options)
        needs = asked.needs
        if times is None:
            times = StreamTimes.of(df, needs, options, metrics_name(question.name, "times"))
        original = F.struct(*map(column_named, df.columns)).alias(LATE)
        drops = options.on_bad_rows == "drop"
        events = project(
            df,
            needs,
            drop_bad_rows=metrics_name(question.name, "bad_rows") if drops else False,
            extra=[original] * options.late_rows + [F.col(IS_AHEAD)] * times.keeps_ahead,
            times=times,
        )
        check_partition_types(needs)
        if options.late_rows:
            _check_names_beside(asked)
        watch(df.sparkSession)
        return cls(df, question, options, asked, events, times, buckets if needs.partition else 1)

    @property
    def beside(self) -> dict[str, SparkColumn]:
        """The columns that hold rows as they came which are in no result."""
        late = {output.LATE_ROW: F.col(LATE)} if self.options.late_rows else {}
        return late | ({output.AHEAD_ROW: F.col(AHEAD)} if self.times.keeps_ahead else {})

    def found(self) -> DataFrame:
        """What workers find, and late rows where they are asked for."""
        program, fields = self.program()
        mode = "eventTime" if program.has_watermark else "none"
        outcomes = (
            self.events.mapInArrow(shipped("pack_stream", program), PACKED)
            .groupBy("bucket")
            .transformWithStateInPandas(shipped_processor(program), OUTCOME, "append", mode)
            .observe(metrics_name(self.question.name), *_figures())
        )
        return outcomes.mapInArrow(shipped("unpack_stream", program), fields)

    def program(self) -> tuple[Program, T.StructType]:
        """What workers know, and the columns they give back."""
        task = self._task()
        beside = [LATE] * self.options.late_rows + [AHEAD] * self.times.keeps_ahead
        own = output.fields_of(task.operator, self.df.schema)
        fields = T.StructType([*own.fields, *(T.StructField(name, self.df.schema) for name in beside)])
        facts = {**self.question.facts, "forget_after": _plain(self.options.forget_after), **self._made_of()}
        program = Program(
            task,
            facts,
            self.times.delay,
            self.options.late_rows,
            _arrow_types(fields),
            tuple(beside),
        )
        return program, fields

    def _made_of(self) -> dict[str, Any]:
        """What the operator can be made anew of, with the query's text, by who looks into a checkpoint."""
        needs, options = self.asked.needs, self.options
        if self.sources is None:
            names = {name.lower() for name in (*needs.all_names, *needs.travelling_names)}
            types = travelling_types(self.df, needs).fields
            schema: Any = ddl([field for field in types if field.name.lower() in names])
        else:
            schema = {name: ddl(columns.fields) for name, columns in self.sources.items()}
        return {
            "schema": schema,
            "options": {
                "time": options.time if self.sources else needs.time.name,
                "time_unit": options.time_unit,
                "ties": options.ties,
                "points": options.points,
                "forget_after": _duration(options.forget_after),
            },
            "watermark": self.times.delay,
        }

    def _task(self) -> Task:
        settings = settings_of(self.df.sparkSession)
        operator = operator_of(self.asked, self.df, settings, self.options)
        return task_of(operator, settings, self.options, n_buckets=self.n_buckets)


def _checked(question: Question, passed: dict[str, Any]) -> tuple[Options, int]:
    """The options of a call, and how many buckets there are."""
    passed = dict(passed)
    buckets = _checked_buckets(passed.pop("buckets", DEFAULT_BUCKETS))
    options = read_options(passed, OPTIONS, "a streaming DataFrame", ELSEWHERE)
    question.check_options(passed)
    return options, buckets


def _plain(value: Any) -> str | None:
    """An option as a checkpoint shows it."""
    return None if value is None else str(value)


def _duration(value: Any) -> str | int | None:
    """An option as it can be given again."""
    return f"{value // timedelta(microseconds=1)} us" if isinstance(value, timedelta) else value


def _figures() -> list[SparkColumn]:
    """What is observed of the stateful operator's counts: sums, and the extremes of its times."""
    return [
        *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in COUNTS),
        F.min(F.nullif(F.col("earliest_late"), F.lit(int(NEVER)))).alias("earliest_late"),
        F.max(F.nullif(F.col("seen"), F.lit(int(LONG_AGO)))).alias("seen"),
    ]


def _checked_buckets(buckets: Any) -> int:
    if isinstance(buckets, bool) or not isinstance(buckets, int) or not 1 <= buckets <= 1 << 16:
        raise OptionError(f"buckets={buckets!r} must be a whole number from 1 to {1 << 16}")
    return buckets


def _check_state_store(session: SparkSession) -> None:
    found = str(session.conf.get(PROVIDER, "")).rpartition(".")[2]
    if found != ROCKSDB.rpartition(".")[2]:
        raise OptionError(
            f"streams keep their state in RocksDB, but this session's state store is {found}",
            hint=f'before calling situ, run situ.tune(spark), or spark.conf.set("{PROVIDER}", "{ROCKSDB}")',
        )


def _check_names_beside(asked: Asked) -> None:
    names = [column.name for column in asked.needs.partition] + [name for name, _ in asked.returned]
    for name in names:
        if name.lower() in (output.LATE_ROW, output.AHEAD_ROW):
            raise DuplicateNameError(
                f"late_rows=True adds a column {name.lower()}, and the query has one of that name",
                hint="name the RETURN item differently, or rename the column",
            )


def _arrow_types(fields: T.StructType) -> pa.Schema:
    """The Arrow types in which these columns reach Spark."""
    try:
        return to_arrow_schema(fields, timezone="UTC")
    except TypeError:  # PySpark before 4.1 takes no time zone here
        return to_arrow_schema(fields)
