"""The engine carried by Spark, on batch and streaming DataFrames: adapters only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from situ.language.situations.ast import Query


def match(df: DataFrame, query: Query, **options: Any) -> DataFrame:
    """Every match in a batch or streaming DataFrame, once."""
    _check_workers(df.sparkSession)
    if df.isStreaming:
        from situ.spark.stream import job as stream

        return stream.match(df, query, **options)
    from situ.spark.batch import job as batch

    return batch.match(df, query, **options)


def situations(df: DataFrame, query: Query, **options: Any) -> DataFrame:
    """The derived situations of a batch or streaming DataFrame, one row each."""
    _check_workers(df.sparkSession)
    if df.isStreaming:
        from situ.spark.stream import job as stream

        return stream.situations(df, query, **options)
    from situ.spark.batch import job as batch

    return batch.situations(df, query, **options)


def match_parquet(spark: SparkSession, paths: str | Sequence[str], query: Query, **options: Any) -> DataFrame:
    """Every match in Parquet files, once; tasks read the files themselves."""
    from situ.spark.batch import parquet

    _check_workers(spark)
    return parquet.match_parquet(spark, paths, query, **options)


def situations_parquet(
    spark: SparkSession, paths: str | Sequence[str], query: Query, **options: Any
) -> DataFrame:
    """The derived situations of Parquet files, one row each; tasks read the files themselves."""
    from situ.spark.batch import parquet

    _check_workers(spark)
    return parquet.situations_parquet(spark, paths, query, **options)


def explain(df: DataFrame, query: Query, **options: Any) -> Any:
    """What was understood of a query, and how it is run on this DataFrame; no job runs."""
    from situ.spark.batch import explained

    return explained.explain(df, query, **options)


def _check_workers(session: SparkSession) -> None:
    from situ.spark.session.pythons import check_workers

    check_workers(session)
