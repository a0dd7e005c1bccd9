"""Streaming DataFrames: `situ.match` and `situ.situations`, live (SEM 8).

    input -> one select in the JVM -> pack per bucket -> shuffle -> stateful operator -> unpack -> RETURN

The stateful operator reports what it counted through `observe`, so that late rows show in the query's
progress whether or not anybody asks for the rows themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.carry.in_process import check_matchable
from situ.carry.stream.pack import OUTCOME, PACKED
from situ.carry.stream.program import AHEAD, IS_AHEAD, LATE, Program
from situ.errors import DuplicateNameError, OptionError, QueryError
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, bind
from situ.options import Options, check_applicable, check_forget_after, read_options
from situ.rows.kernels.numbers import LONG_AGO, NEVER
from situ.spark.batch.job import check_partition_types
from situ.spark.select import output
from situ.spark.select.project import Layout, column_named, project, schema_of
from situ.spark.session.settings import settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.types import arrow_schema
from situ.spark.stream.metrics import COUNTS, metrics_name
from situ.spark.stream.ship import shipped_processor
from situ.spark.stream.times import StreamTimes
from situ.spark.stream.watch import watch

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

    Kind = Literal["match", "situations"]

OPTIONS = frozenset(
    {"time", "ties", "on_bad_rows", "join", "late_rows", "forget_after", "match_id", "points"}
    | {"watermark", "max_ahead"}
)
ELSEWHERE = (
    "strategy is for batch DataFrames, threads for tables in process; ansi and time_zone are the session's "
    "(spark.sql.ansi.enabled, spark.sql.session.timeZone)"
)
DEFAULT_BUCKETS = 64
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def match(df: DataFrame, query: Query, **options: Any) -> DataFrame:
    """Every match in a streaming DataFrame, once, as soon as it is certain (SEM 4, 8)."""
    check_matchable(query)
    if query.within is None:
        raise QueryError(
            "a stream needs a window, or its state would grow for ever",
            hint="say how long a match may take from its first start to its detection: WITHIN 5 minutes",
        )
    job = Job.of(df, query, options, "match")
    fields = output.match_fields(job.bound, df.schema, match_id=job.options.match_id)
    return output.matches(job.found(fields), job.bound, match_id=job.options.match_id, beside=job.beside)


def situations(df: DataFrame, query: Query, **options: Any) -> DataFrame:
    """The situations of a streaming DataFrame, each when it closes (SEM 5.5)."""
    # patterns have no say in situations, and followed-by would keep more in state
    job = Job.of(df, replace(query, constraints=()), options, "situations")
    return output.situations(
        job.found(output.situation_fields(job.bound, df.schema)), job.bound, beside=job.beside
    )


@dataclass(frozen=True)
class Job:
    """One query on one streaming DataFrame, bound and checked."""

    df: DataFrame
    query: Query
    options: Options
    bound: BoundQuery
    layout: Layout
    events: DataFrame  # what workers need of the input
    kind: Kind
    forget_after: int | None
    times: StreamTimes
    n_buckets: int

    @classmethod
    def of(cls, df: DataFrame, query: Query, given: dict[str, Any], kind: Kind) -> Job:
        """Check the options, bind the query, look at the session and the watermark; nothing runs."""
        given = dict(given)
        n_buckets = _checked_buckets(given.pop("buckets", DEFAULT_BUCKETS), query)
        options = read_options(given, OPTIONS, "a streaming DataFrame", ELSEWHERE)
        check_applicable(given, query)
        _check_state_store(df.sparkSession)
        bound = bind(query, schema_of(df), time=options.time)
        times = StreamTimes.of(df, bound, options, metrics_name(query, "times"))
        original = F.struct(*map(column_named, df.columns)).alias(LATE)
        projection = project(
            df,
            query,
            time=options.time,
            drop_bad_rows=metrics_name(query, "bad_rows") if options.on_bad_rows == "drop" else False,
            extra=[original] * options.late_rows + [F.col(IS_AHEAD)] * times.keeps_ahead,
            times=times,
        )
        check_partition_types(bound)
        if options.late_rows:
            _check_names_beside(bound)
        forget_after = check_forget_after(options.forget_after, bound)
        watch(df.sparkSession)
        layout, events = projection.layout, projection.events
        return cls(df, query, options, bound, layout, events, kind, forget_after, times, n_buckets)

    @property
    def beside(self) -> dict[str, SparkColumn]:
        """The columns that hold rows as they came which are in no result."""
        late = {output.LATE_ROW: F.col(LATE)} if self.options.late_rows else {}
        return late | ({output.AHEAD_ROW: F.col(AHEAD)} if self.times.keeps_ahead else {})

    def found(self, fields: T.StructType) -> DataFrame:
        """What workers find, in the columns `fields`, and late rows where they are asked for."""
        names = fields.names
        beside = [LATE] * self.options.late_rows + [AHEAD] * self.times.keeps_ahead
        fields = T.StructType([*fields.fields, *(T.StructField(name, self.df.schema) for name in beside)])
        program = Program(
            self._task(names), self.times.delay, self.options.late_rows, _arrow_types(fields), tuple(beside)
        )
        mode = "eventTime" if program.has_watermark else "none"
        outcomes = (
            self.events.mapInArrow(shipped("pack_stream", program), PACKED)
            .groupBy("bucket")
            .transformWithStateInPandas(shipped_processor(program), OUTCOME, "append", mode)
            .observe(metrics_name(self.query), *_figures())
        )
        return outcomes.mapInArrow(shipped("unpack_stream", program), fields)

    def _task(self, output_names: list[str]) -> Task:
        options, settings = self.options, settings_of(self.df.sparkSession)
        return Task(
            bound=self.bound,
            layout=self.layout,
            schema=arrow_schema(self.layout.columns, self.df.schema),
            kind=self.kind,
            ties=options.ties,
            join=options.join,
            points=options.points,
            forget_after=self.forget_after,
            match_id=options.match_id,
            ansi=settings.ansi,
            labels=tuple(labels(self.n_buckets).tolist()),
            limit=settings.worker_bytes,
            output_names=output_names,
        )


def _figures() -> list[SparkColumn]:
    """What is observed of the stateful operator's counts: sums, and the extremes of its times."""
    return [
        *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in COUNTS),
        F.min(F.nullif(F.col("earliest_late"), F.lit(int(NEVER)))).alias("earliest_late"),
        F.max(F.nullif(F.col("seen"), F.lit(int(LONG_AGO)))).alias("seen"),
    ]


def _checked_buckets(buckets: Any, query: Query) -> int:
    if isinstance(buckets, bool) or not isinstance(buckets, int) or not 1 <= buckets <= 1 << 16:
        raise OptionError(f"buckets={buckets!r} must be a whole number from 1 to {1 << 16}")
    return buckets if query.partition_by else 1


def _check_state_store(session: SparkSession) -> None:
    found = str(session.conf.get(PROVIDER, "")).rpartition(".")[2]
    if found != ROCKSDB.rpartition(".")[2]:
        raise OptionError(
            f"streams keep their state in RocksDB, but this session's state store is {found}",
            hint=f'before calling situ, run: spark.conf.set("{PROVIDER}", "{ROCKSDB}")',
        )


def _check_names_beside(bound: BoundQuery) -> None:
    names = [column.name for column in bound.partition] + [item.name for item in bound.query.returns]
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
