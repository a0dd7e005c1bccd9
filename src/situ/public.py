"""The public calls: each finds the carrier of the table it is given, and imports no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Unpack, overload

from situ.extras import need_spark
from situ.keywords import (
    BatchOptions,
    DataFrameOptions,
    InProcess,
    OnSpark,
    OperatorOptions,
    SparkDataFrame,
    TableOptions,
    spelled_out,
)
from situ.language.rows.ast import RowQuery
from situ.language.situations.ast import Query

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from situ.operators.rowpattern.explained import RowExplanation
    from situ.operators.rowpattern.why_report import RowWhy
    from situ.operators.situations.why_report import Why
    from situ.plan.explain import Explanation
    from situ.plotting.pictures import Pictures
    from situ.spark.session.tuned import Tuned

    Table: TypeAlias = pl.DataFrame | pl.LazyFrame | pd.DataFrame | pa.Table | pa.RecordBatch
    OneOrSeveral: TypeAlias = Table | Mapping[str, Table]
    OneOrSeveralOnSpark: TypeAlias = SparkDataFrame | Mapping[str, SparkDataFrame]
    Events: TypeAlias = OneOrSeveral | OneOrSeveralOnSpark
    Asked: TypeAlias = Query | RowQuery | str


# PySpark first: pandas and pyarrow without their stubs are Any, and take whatever comes before them.
@overload
def match(
    events: OnSpark, query: Asked | Mapping[str, Asked], **options: Unpack[DataFrameOptions]
) -> OnSpark: ...
@overload
def match(events: Mapping[str, OnSpark], query: Asked, **options: Unpack[DataFrameOptions]) -> OnSpark: ...
@overload
def match(events: InProcess, query: Asked, **options: Unpack[TableOptions]) -> InProcess: ...
@overload
def match(events: Mapping[str, InProcess], query: Asked, **options: Unpack[TableOptions]) -> InProcess: ...
@overload
def match(
    events: InProcess, query: Mapping[str, Asked], **options: Unpack[TableOptions]
) -> dict[str, InProcess]: ...
@overload
def match(  # type: ignore[overload-cannot-match]
    events: pa.RecordBatch, query: Asked, **options: Unpack[TableOptions]
) -> pa.Table: ...
@overload
def match(  # type: ignore[overload-cannot-match]
    events: pa.RecordBatch, query: Mapping[str, Asked], **options: Unpack[TableOptions]
) -> dict[str, pa.Table]: ...
@spelled_out(TableOptions, DataFrameOptions)
def match(events: Events, query: Asked | Mapping[str, Asked], **options: Any) -> Any:
    """Every match in a table or stream, once, as a table of the same kind.

    `events` is a pyarrow Table or RecordBatch, a pandas DataFrame, a Polars DataFrame or LazyFrame, or a
    Spark DataFrame, batch or streaming; where FROM names several sources, a dict of such tables by name.
    `query` is what situ.query makes, or its text. Several by name are answered in one pass: in process by a
    dict of tables, on Spark by one DataFrame with the column `query` and a struct for each.

    >>> import pyarrow as pa, situ
    >>> q = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1 RETURN A.ts AS since")
    >>> situ.match(pa.table({"ts": [1, 2, 3], "x": [0, 5, 5]}), q).to_pylist()
    [{'since': 2, 'match_time': 2}]

    An option that is unknown or does not apply is an error. Durations are text such as "5 minutes" or a
    timedelta where time is a timestamp, and a plain number where it is an integer.

    Options:
        time: the time column, where ORDER BY names none.
        time_unit: what a time column of numbers counts: "days", "hours", "minutes", "seconds", "milliseconds"
            or "microseconds". Durations then have units, and times in the answer are such numbers again.
        ties: what becomes of rows of one partition that share their time. Of situations only the last one
            counts: "warn" (the default) tells of the others, "last" says that this is meant, "error" refuses
            them. In row patterns every row counts; "error" refuses rows that ORDER BY leaves in no order.
        on_bad_rows: rows without a time: "error" (the default) refuses them, "drop" leaves them out.
        join: how situations are joined: "auto" (the default) chooses, "range" and "pair" force one way. The
            answer is the same.
        forget_after: a duration, at least as long as WITHIN. A longer silence in a partition begins a new
            history. By default nothing is forgotten that can still matter.
        match_id: True adds a column that names each match, the same wherever and however often it is found.
        match_span: of row patterns, True adds match_start and match_end, the times of a match's first and
            last row.
        match_time: of row patterns, True adds the instant at which a match was certain; an operator and a
            stream report it then.
        max_steps: of row patterns, how many steps the search of one start may take before it is an error,
            10000000 by default.
        max_matches: of STRATEGY SKIP TILL ANY, how many matches one start may have before it is an error,
            1000000 by default.
        points: of FROM INTERVALS, an interval that ends where it starts: "error" (the default) refuses it,
            "widen" makes it one tick long.
        until: of whole inputs: a time as in the time column, not earlier than any. Where results fall between
            events, they are reported up to it; up to the largest time of the input by default.
        threads: in process: how many threads to use, 1 by default, or "auto" to follow measured times.
        ansi: in process: True (the default) makes overflow, division by zero and a cast that fails an error,
            as Spark 4 does; False makes them null. On Spark the session decides.
        time_zone: in process: the zone of timestamps written as text in conditions, "UTC" by default. On
            Spark the session decides.
        strategy: on batch DataFrames: how events come together, "direct", "map-side" or "shuffle"; "auto"
            (the default) looks at the input.
        watermark: on streams: a duration, how much later than others a row may come. Rows wait until it has
            passed them.
        late_rows: on streams: True hands out rows that came too late, and rows set aside by max_ahead.
        max_ahead: on streams: a duration; rows later than now by more than this are set aside and counted.
        buckets: on streaming DataFrames: into how many pieces keys are divided, 64 by default.
    """
    from situ.operators.questions import matching

    return _run(events, matching(query), options)


@overload
def situations(
    events: OnSpark, query: Query | str | Mapping[str, Query | str], **options: Unpack[DataFrameOptions]
) -> OnSpark: ...
@overload
def situations(
    events: Mapping[str, OnSpark], query: Query | str, **options: Unpack[DataFrameOptions]
) -> OnSpark: ...
@overload
def situations(events: InProcess, query: Query | str, **options: Unpack[TableOptions]) -> InProcess: ...
@overload
def situations(
    events: Mapping[str, InProcess], query: Query | str, **options: Unpack[TableOptions]
) -> InProcess: ...
@overload
def situations(
    events: InProcess, query: Mapping[str, Query | str], **options: Unpack[TableOptions]
) -> dict[str, InProcess]: ...
@overload
def situations(  # type: ignore[overload-cannot-match]
    events: pa.RecordBatch, query: Query | str, **options: Unpack[TableOptions]
) -> pa.Table: ...
@overload
def situations(  # type: ignore[overload-cannot-match]
    events: pa.RecordBatch, query: Mapping[str, Query | str], **options: Unpack[TableOptions]
) -> dict[str, pa.Table]: ...
@spelled_out(TableOptions, DataFrameOptions, like=match)
def situations(events: Events, query: Query | str | Mapping[str, Query | str], **options: Any) -> Any:
    """The situations that a query derives, one row each, as a table of the same kind as `events`."""
    from situ.operators.questions import deriving

    return _run(events, deriving(query), options)


@overload
def explain(
    events: OneOrSeveralOnSpark, query: Query | str, **options: Unpack[BatchOptions]
) -> Explanation: ...
@overload
def explain(events: OneOrSeveral, query: Query | str, **options: Unpack[TableOptions]) -> Explanation: ...
@overload
def explain(events: Table, query: RowQuery, **options: Unpack[TableOptions]) -> RowExplanation: ...
@spelled_out(TableOptions, BatchOptions, like=match)
def explain(events: Events, query: Query | RowQuery | str, **options: Any) -> Explanation | RowExplanation:
    """What was understood of a query, how it is run, and what the run does to this table.

    It prints as text, and as tables in a notebook. On a Spark DataFrame no job runs.
    """
    from situ.operators.questions import checked, not_a_row_pattern

    query = checked(query)
    if _is_spark(events):
        from situ import spark as on_spark

        return on_spark.explain(events, not_a_row_pattern(query), options)
    if isinstance(query, RowQuery):
        from situ.operators.rowpattern import explained as explained_rows

        return explained_rows.explain(events, query, **options)
    from situ.operators.situations import explained

    return explained.explain(events, query, **options)


@overload
def why(events: OneOrSeveralOnSpark, query: Query | str, **options: Unpack[BatchOptions]) -> Why: ...
@overload
def why(events: OneOrSeveral, query: Query | str, **options: Unpack[TableOptions]) -> Why: ...
@overload
def why(events: Table, query: RowQuery, **options: Unpack[TableOptions]) -> RowWhy: ...
@spelled_out(TableOptions, BatchOptions, like=match)
def why(events: Events, query: Query | RowQuery | str, **options: Any) -> Why | RowWhy:
    """Why a query matches what it matches, or nothing: where its candidates are lost, in words and counts.

    It prints as text, and as tables in a notebook.

    >>> import pyarrow as pa, situ
    >>> q = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1 AT LEAST 5")
    >>> print(situ.why(pa.table({"ts": [1, 2, 3], "x": [0, 5, 0]}), q).verdict)
    No match. A held once, for 1 tick: shorter than 5 ticks.
    """
    from situ.operators.questions import checked, matching, refuse_row_patterns

    question = matching(checked(query))
    told: Why | RowWhy
    if _is_spark(events):
        from situ.spark.batch.why import why as why_on_spark

        refuse_row_patterns(question)
        told = why_on_spark(events, question, options)
    else:
        from situ.carry.in_process import why as why_in_process

        told = why_in_process(events, question, options)
    return told


@spelled_out(BatchOptions, like=match)
def match_parquet(
    spark: SparkSession,
    paths: str | Sequence[str],
    query: Query | str | Mapping[str, Query | str],
    **options: Unpack[BatchOptions],
) -> DataFrame:
    """Every match in Parquet files as a Spark DataFrame; tasks read the files themselves, the fastest way."""
    need_spark("situ.match_parquet")
    from situ.operators.questions import matching
    from situ.spark import run_parquet

    return run_parquet(spark, paths, matching(query), {**options})


@spelled_out(BatchOptions, like=match)
def situations_parquet(
    spark: SparkSession,
    paths: str | Sequence[str],
    query: Query | str | Mapping[str, Query | str],
    **options: Unpack[BatchOptions],
) -> DataFrame:
    """The situations that a query derives from Parquet files as a Spark DataFrame, one row each."""
    need_spark("situ.situations_parquet")
    from situ.operators.questions import deriving
    from situ.spark import run_parquet

    return run_parquet(spark, paths, deriving(query), {**options})


def tune(spark: SparkSession) -> Tuned:
    """Set in a Spark session what situ wants, and return what that changed; printing it says why.

    Spark's default limit of bytes for an Arrow batch makes it measure the batch after every row that goes to
    Python, which can take longer than all of the rest. `tune` lifts it, for all Python functions of this
    session (batches are still bounded by rows), and chooses RocksDB for the state of streams. situ itself
    never changes a session's settings otherwise.
    """
    need_spark("situ.tune")
    from situ.spark.session.tuned import tune as tune_session

    return tune_session(spark)


@overload
def plot(
    events: OneOrSeveralOnSpark,
    query: Query | RowQuery | str,
    *,
    top: int = 3,
    by: str | None = None,
    **options: Unpack[BatchOptions],
) -> Pictures: ...
@overload
def plot(
    events: OneOrSeveral,
    query: Query | RowQuery | str,
    *,
    top: int = 3,
    by: str | None = None,
    **options: Unpack[TableOptions],
) -> Pictures: ...
@spelled_out(TableOptions, BatchOptions, like=match)
def plot(
    events: Events, query: Query | RowQuery | str, *, top: int = 3, by: str | None = None, **options: Any
) -> Pictures:
    """Timelines of the first `top` matches, or of those with the largest `by`, and an overview.

    `by` is a column of RETURN, or a measure of a row pattern.

    They show themselves in a notebook; `.save(folder)` writes an interactive page and PNG or SVG files.
    """
    from situ import plotting
    from situ.operators.questions import checked, not_a_row_pattern

    query = checked(query)
    if not _is_spark(events):
        return plotting.plot(events, query, top=top, by=by, **options)
    return plotting.plot_on_spark(events, not_a_row_pattern(query), top=top, by=by, **options)


for _method in (Query.operator, RowQuery.operator):  # written where nothing of this is known
    spelled_out(OperatorOptions, like=match)(_method)


def _run(events: Any, question: Any, options: dict[str, Any]) -> Any:
    """Take the question to the carrier of these events."""
    if _is_spark(events):
        from situ import spark

        return spark.run(events, question, options)
    from situ.carry import in_process

    return in_process.run(events, question, options)


def _is_spark(events: Any) -> TypeGuard[Any]:
    """Is this a Spark DataFrame, classic or Connect, or are some of these? Told without importing pyspark."""
    several = events.values() if isinstance(events, Mapping) else [events]
    return any(type(one).__module__.partition(".")[0] == "pyspark" for one in several)
