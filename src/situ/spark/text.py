"""Times in text sinks: JSON, CSV, Kafka and the console keep every microsecond.

Spark's own default for text cuts times to milliseconds, so that a situation of less than one comes out with
ts = te. Every text that situ writes on Spark goes through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from situ.language.text.words import quote

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

# options of Spark's JSON and CSV writers and of to_json and to_csv; their readers need none
TIMES_IN_TEXT = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def options_of(kind: str) -> dict[str, str]:
    """The options that files of a format are written with."""
    return TIMES_IN_TEXT if kind in ("json", "csv") else {}


def flat_for(rows: DataFrame, kind: str) -> DataFrame:
    """The rows as files of a format take them: CSV has no arrays, so theirs become JSON."""
    if kind != "csv":
        return rows
    nested = [field.name for field in rows.schema if isinstance(field.dataType, ArrayType)]
    return rows.withColumns({name: F.to_json(F.col(quote(name)), TIMES_IN_TEXT) for name in nested})


def json_of_row() -> SparkColumn:
    """A whole row as a JSON object."""
    return F.to_json(F.struct("*"), TIMES_IN_TEXT)
