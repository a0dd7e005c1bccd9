"""The carriers of Spark, on batch and streaming DataFrames and on Parquet files: adapters only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from situ.extras import need_spark, refuse_old_spark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from situ.carry.contract import Question
    from situ.language.situations.ast import Query
    from situ.plan.explain import Explanation


def run(events: DataFrame | Mapping[str, DataFrame], question: Question, passed: dict[str, Any]) -> DataFrame:
    """The answer to a question over a batch or streaming DataFrame, or several by name; lazy."""
    from situ.operators.questions import refuse_row_patterns
    from situ.spark.select.united import frames_of

    refuse_row_patterns(question)
    several = frames_of(events)
    _check_workers(several[0].sparkSession)
    if any(df.isStreaming for df in several):
        from situ.spark.stream import job as stream

        return stream.run(events, question, passed)
    from situ.spark.batch import choose
    from situ.spark.batch.sources import one_frame

    return choose.run(*one_frame(events, question, passed), passed)


def run_parquet(
    spark: SparkSession, paths: str | Sequence[str], question: Question, passed: dict[str, Any]
) -> DataFrame:
    """The answer over Parquet files, which tasks read themselves."""
    from situ.operators.questions import refuse_row_patterns
    from situ.spark.batch import parquet

    refuse_row_patterns(question)
    _check_workers(spark)
    return parquet.run(spark, paths, question, passed)


def explain(events: DataFrame | Mapping[str, DataFrame], query: Query, passed: dict[str, Any]) -> Explanation:
    """How a query would be run on a batch or streaming DataFrame, or several by name; nothing runs."""
    from situ.spark.select.united import frames_of

    if any(df.isStreaming for df in frames_of(events)):
        from situ.spark.stream import explained as of_stream

        return of_stream.explain(events, query, **passed)
    from situ.spark.batch import explained

    return explained.explain(events, query, **passed)


def n_bad_rows(result: DataFrame) -> int:
    """How many rows on_bad_rows="drop" left out, once an action on the very DataFrame has run."""
    from situ.spark.batch import job

    return job.n_bad_rows(result)


def n_tied_rows(result: DataFrame) -> int:
    """How many rows were left out as ties by the actions on this DataFrame so far."""
    from situ.spark.batch import tied

    return tied.n_tied_rows(result)


def _check_workers(session: SparkSession) -> None:
    from situ.spark.session.pythons import check_workers

    check_workers(session)


def _check_pyspark() -> None:
    """Here once for every module in this folder."""
    need_spark("this")
    from pyspark.version import __version__

    refuse_old_spark(__version__)


_check_pyspark()
