"""Cases as streams on Spark, cut by instants and restarted in between: some always, all when soaking."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from conformance.asking import time_column
from conformance.cases import Case, load_all
from conformance.checking import check
from conformance.reading import read
from conformance.rows import ResultRow
from conformance.runners import joined, result_rows, single_events
from situ.spark.errors import situ_error
from streaming.running import FileStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Without a watermark the last intervals wait for later ones (SEM 6.4); test_buckets.py has them.
# Spark's own readers and writers of Parquet refuse the extremes of time.
CASES = [
    case
    for case in load_all()
    if not case.asked.ending and not case.name.startswith(("time_extremes", "empty_table", "time_date"))
]
ALWAYS = {
    "aggressive_driver/listing 1",
    "aggregates_so_far_and_final/early, at B.te",
    "aggregates_lists/early, at B.te",
    "aggregates_lists/lists, final",
    "followed_by/only neighbours",
    "forget_after/what was open stays open for ever",
    "return_expressions/arithmetic and a case",
    "ties_by_column/null sorts first",
    "time_unit/seconds since 1970",
}
CHOSEN = [case for case in CASES if case.name in ALWAYS]
assert len(CHOSEN) == len(ALWAYS)


def windowed(text: str, time: pa.DataType) -> str:
    """A query without a window gets one that everything fits in: streams need one (SEM 4.6)."""
    if re.search(r"\bWITHIN\b", text, re.I):
        return text
    window = "1000000000" if pa.types.is_integer(time) else "10000 days"
    head, *tail = re.split(r"(?=\b(?:EMIT|RETURN)\b)", text, maxsplit=1, flags=re.I)
    return "\n".join([head.rstrip(), f"WITHIN {window}", *tail])


def run_on_spark(
    spark: SparkSession, folder: Path, table: pa.Table, text: str, options: dict[str, Any], n_cuts: int
) -> list[ResultRow]:
    time = table.schema.field(time_column(read(text), table.schema, options)).type
    stream = FileStream(spark, folder, table.schema)
    try:
        for piece in joined(list(single_events(table, text, options)), n_cuts):
            stream.add([piece])
            stream.run(windowed(text, time), **options)
    except Exception as error:
        raise situ_error(error) or error from None
    assert stream.counts("late_rows") == 0
    return result_rows(stream.results(), text)


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_chosen_case(spark: SparkSession, tmp_path: Path, case: Case) -> None:
    check(case, lambda table, text, options: run_on_spark(spark, tmp_path, table, text, options, 2))


@pytest.mark.soak
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case(spark: SparkSession, tmp_path: Path, case: Case) -> None:
    check(case, lambda table, text, options: run_on_spark(spark, tmp_path, table, text, options, 4))
