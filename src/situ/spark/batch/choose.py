"""Who brings the rows of a batch DataFrame: tasks that read its files themselves, or Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from situ.carry.contract import Question
from situ.errors import OptionError, SituError
from situ.spark.batch.job import Job
from situ.spark.batch.parquet import Source
from situ.spark.session.catalyst import NotPlainError
from situ.spark.session.tuned import say_what_measuring_costs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def run(df: DataFrame, question: Question, passed: dict[str, Any]) -> DataFrame:
    """The answer to a question over a batch DataFrame; lazy, as all of Spark."""
    chosen = choose(df, question, passed)
    if isinstance(chosen, Job):
        say_what_measuring_costs(df.sparkSession)
    return chosen.result()


def choose(df: DataFrame, question: Question, passed: dict[str, Any]) -> Job | Source:
    """Bind the question; files are read directly if that was asked for, or by "auto" where it is sure."""
    asked = passed.get("strategy", "auto")
    if asked not in ("auto", "direct"):
        return Job.of(df, question, passed)
    try:
        return Source.of_frame(df, question, passed)
    except NotPlainError as error:
        why = str(error)
    except SituError as error:  # if it is about the question, then Spark's way has the same to say
        if asked == "direct":
            raise
        why = error.message
    if asked == "direct":
        raise OptionError(
            f'strategy="direct" has tasks read Parquet files themselves, but {why}',
            hint="leave the option out, or name the files: situ.match_parquet(spark, paths, query)",
        )
    return replace(Job.of(df, question, passed), not_direct=why)
