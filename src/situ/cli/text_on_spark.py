"""Text on Spark, where a row that cannot be read is an error, or dropped and counted; and times in text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from situ.cli.local_files import Wanted, text_read
from situ.cli.time_format import ISO, MONTHS, TimePattern
from situ.cli.unreadable import NO_TIME_HINT, no_rows, no_text, no_time_said, unreadable_row

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_CORRUPT = "_situ_unreadable"
# Spark hands on the text of what an expression raises; `situ.spark.errors` finds the class in it.
_RAISED = "\nsitu.errors.DataError: "
Told = tuple["DataFrame", list[str]]  # rows, and what is said of text that was read as times


def read_text(spark: SparkSession, kind: str, inputs: Sequence[str], wanted: Wanted) -> Told:
    """The rows of CSV or JSON files; text in time columns is read as times.

    Spark by itself fills up a row with too few values, cuts one with too many, and takes what is no JSON
    for a row of nulls. Here such a row fails the job, or with `drop` it has no time and is counted as one
    without. The same goes for text that is no time.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType, TimestampType

    options = {"columnNameOfCorruptRecord": _CORRUPT}
    if kind == "csv":
        options |= {"header": "true", "inferSchema": "true", "enforceSchema": "false"}
    reader = spark.read.format(kind).options(**options)
    guessed = reader.load(list(inputs))
    _check_columns(guessed, inputs, kind)
    fields = [field for field in guessed.schema.fields if field.name != _CORRUPT]
    if wanted.time_format is not None:  # such times may look like numbers
        fields = [StructField(f.name, StringType()) if wanted.is_time(f.name) else f for f in fields]
    rows = reader.schema(StructType([*fields, StructField(_CORRUPT, StringType())])).load(list(inputs))
    unreadable = F.col(f"`{_CORRUPT}`")
    if not wanted.drop:
        said = F.concat(
            F.lit(f"{_RAISED}a row of "),
            F.col("_metadata.file_path"),
            F.lit(" cannot be read: "),
            unreadable,
        )
        rows = rows.filter(
            F.when(unreadable.isNotNull(), F.raise_error(said).cast("boolean")).otherwise(True)
        )
    rows, told = with_times(rows, wanted)
    for field in fields:
        if wanted.is_time(field.name):
            if isinstance(field.dataType, TimestampType):
                told.append(_told(field.name, ISO, wanted))
            if wanted.drop:
                column = F.when(unreadable.isNull(), F.col(f"`{field.name}`"))
                rows = rows.withColumn(field.name, column)
    return rows.drop(_CORRUPT), told


def with_times(rows: DataFrame, wanted: Wanted) -> Told:
    """The rows with text in time columns read as times."""
    from pyspark.sql.types import StringType

    told = []
    for field in rows.schema.fields:
        if not wanted.is_time(field.name):
            continue
        if isinstance(field.dataType, StringType):
            rows = rows.withColumn(field.name, _as_time(field.name, wanted))
            told.append(_told(field.name, wanted.time_format or ISO, wanted))
        elif wanted.time_format is not None:
            raise no_text(field.name, field.dataType.simpleString())
    return rows, told


def _told(name: str, pattern: TimePattern, wanted: Wanted) -> str:
    return text_read(name, pattern, f"zone {wanted.time_zone} where none is written")


def _as_time(name: str, wanted: Wanted) -> Column:
    from pyspark.sql import functions as F

    text = F.col(f"`{name}`")
    pattern = wanted.time_format
    time = F.try_to_timestamp(text) if pattern is None else _by_pattern(text, pattern)
    if wanted.drop:
        return time
    said = F.concat(F.lit(_RAISED + no_time_said(name, pattern)), text, F.lit(f"\nHint: {NO_TIME_HINT}"))
    return F.coalesce(time, F.when(text.isNotNull(), F.raise_error(said).cast("timestamp")))


def _by_pattern(text: Column, pattern: TimePattern) -> Column:
    """What `times.read_times` does, by the same expression; null for text that is not written so."""
    from pyspark.sql import functions as F

    expression = F.lit(pattern.without_names)
    group = {
        name: F.regexp_extract(text, pattern.without_names, i + 1) for i, name in enumerate(pattern.fields)
    }

    def number(name: str) -> Column:
        return group[name].try_cast("int") if name in group else F.lit(0)

    if "year" in group:
        year = number("year")
    else:
        year = number("short_year") + F.when(number("short_year") < 69, 2000).otherwise(1900)
    month = number("month")
    if "month_name" in group:
        begins = F.lower(F.substring(group["month_name"], 1, 3))
        month = F.array_position(F.array(*map(F.lit, MONTHS)), begins).cast("int")
    hour = number("hour")
    if "half_hour" in group:
        is_pm = F.lower(group["half"]) == "pm"
        hour = number("half_hour") % 12 + F.when(is_pm, 12).otherwise(0)
    second = number("second").cast("decimal(16,6)")
    if "fraction" in group:
        second += F.rpad(group["fraction"], 6, "0").try_cast("decimal(16,6)") / 1_000_000
    parts = (year, month, number("day"), hour, number("minute"), second.cast("decimal(16,6)"))
    time = F.try_make_timestamp(*parts)
    if "zone" in group:
        zone = F.regexp_replace(group["zone"], r"^([+-]\d\d):?(\d\d)$", "$1:$2")
        time = F.try_make_timestamp(*parts, F.upper(zone))
    return F.when(F.regexp_like(text, expression), time)


def _check_columns(rows: DataFrame, inputs: Sequence[str], kind: str) -> None:
    """Files without rows tell nothing of their columns' types, which Spark then takes for text."""
    names = [field.name for field in rows.schema.fields]
    if names == [_CORRUPT]:
        raise unreadable_row(inputs[0], kind)
    types = {field.dataType.simpleString() for field in rows.schema.fields}
    if types <= {"string"} and rows.isEmpty():
        raise no_rows(inputs)
