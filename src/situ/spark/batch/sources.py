"""Batch DataFrames of several sources become one, which every strategy but those of files takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from situ.carry.contract import Question
from situ.errors import OptionError
from situ.options import read_options
from situ.spark.batch.job import ELSEWHERE, OPTIONS
from situ.spark.select.united import OfUnited, asked_of_united, schemas_of, united

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Frames: TypeAlias = DataFrame | Mapping[str, DataFrame]


def one_frame(events: Frames, question: Question, passed: dict[str, Any]) -> tuple[DataFrame, Question]:
    """A DataFrame as it is; several by name as their union, with the question as it is asked of it."""
    if not isinstance(events, Mapping):
        return events, question
    options = read_options(passed, OPTIONS, "a batch DataFrame", ELSEWHERE)
    question.check_options(passed)
    asked = question.bind(schemas_of(events), options)
    if options.strategy == "direct":
        raise OptionError(
            'strategy="direct" has tasks read the Parquet files of one table, and these are several',
            hint="leave the option out",
        )
    df = united([events[part.name] for part in asked.needs.parts], asked.needs)
    return df, cast("Question", OfUnited(question, asked_of_united(asked)))
