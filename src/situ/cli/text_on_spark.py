"""CSV and JSON files on Spark, where a row that cannot be read is an error, or dropped and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from situ.cli.unreadable import NO_TIME, NO_TIME_HINT, no_rows, unreadable_row

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_CORRUPT = "_situ_unreadable"
# Spark hands on the text of what an expression raises; `situ.spark.errors` finds the class in it.
_RAISED = "\nsitu.errors.DataError: "


def read_text(
    spark: SparkSession, kind: str, inputs: Sequence[str], *, times: Sequence[str], drop: bool
) -> DataFrame:
    """The rows of CSV or JSON files; text in the columns `times` is read as times.

    Spark by itself fills up a row with too few values, cuts one with too many, and takes what is no JSON
    for a row of nulls. Here such a row fails the job, or with `drop` it has no time and is counted as one
    without. The same goes for text that is no time.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    options = {"columnNameOfCorruptRecord": _CORRUPT}
    if kind == "csv":
        options |= {"header": "true", "inferSchema": "true", "enforceSchema": "false"}
    reader = spark.read.format(kind).options(**options)
    guessed = reader.load(list(inputs))
    _check_columns(guessed, inputs, kind)
    fields = [field for field in guessed.schema.fields if field.name != _CORRUPT]
    schema = StructType([*fields, StructField(_CORRUPT, StringType())])
    rows = reader.schema(schema).load(list(inputs))
    unreadable = F.col(f"`{_CORRUPT}`")
    if not drop:
        said = F.concat(
            F.lit(f"{_RAISED}a row of "),
            F.col("_metadata.file_path"),
            F.lit(" cannot be read: "),
            unreadable,
        )
        rows = rows.filter(
            F.when(unreadable.isNotNull(), F.raise_error(said).cast("boolean")).otherwise(True)
        )
    wanted = {name.lower() for name in times}
    for field in fields:
        if field.name.lower() in wanted:
            column = F.col(f"`{field.name}`")
            if isinstance(field.dataType, StringType):
                column = _as_time(column, field.name, drop)
            rows = rows.withColumn(field.name, F.when(unreadable.isNull(), column) if drop else column)
    return rows.drop(_CORRUPT)


def _as_time(text: Column, name: str, drop: bool) -> Column:
    from pyspark.sql import functions as F

    time = F.try_to_timestamp(text)
    if drop:
        return time
    said = F.concat(F.lit(_RAISED + NO_TIME.format(name)), text, F.lit(f"\nHint: {NO_TIME_HINT}"))
    return F.coalesce(time, F.when(text.isNotNull(), F.raise_error(said).cast("timestamp")))


def _check_columns(rows: DataFrame, inputs: Sequence[str], kind: str) -> None:
    """Files without rows tell nothing of their columns' types, which Spark then takes for text."""
    names = [field.name for field in rows.schema.fields]
    if names == [_CORRUPT]:
        raise unreadable_row(inputs[0], kind)
    types = {field.dataType.simpleString() for field in rows.schema.fields}
    if types <= {"string"} and rows.isEmpty():
        raise no_rows(inputs)
