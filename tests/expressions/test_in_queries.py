"""Functions in conditions and RETURN, through whole queries: in process and on Spark alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import situ

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVENTS = pa.table(
    {
        "t": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
        "name": ["maße", "maße ", "Zug", "Zug7", None, "x"],
        "x": [1.0, 4.0, 9.5, 2.25, 3.0, 8.0],
    }
)
QUERY = r"""
FROM events ORDER BY t
DEFINE A AS rtrim(name) RLIKE '^ma(ss|ß)e$' OR name ILIKE 'zug_', B AS sqrt(x) > 3 OR length(name) = 1
PATTERN A meets B
EMIT FINAL
RETURN upper(first(A.name)) AS n, round(sqrt(avg(A.x)), 2) AS s, log10(sum(A.x)) AS g, pow(count(A), 2) AS p,
       trim(BOTH 'm ' FROM last(A.name)) AS t, substring(first(B.name) FROM -2 FOR 1) || count(B) AS u,
       concat_ws('/', last(A.name), first(B.name)) AS w, replace(first(B.name), 'Z', 'z') AS r
"""
EXPECTED = [
    {
        "n": "MASSE", "s": 1.58, "g": 0.6989700043360189, "p": 4.0, "t": "aße", "u": "u1", "w": "maße /Zug",
        "r": "zug", "match_time": 4,
    },
]  # fmt: skip


def test_functions_in_conditions_and_return() -> None:
    assert situ.match(EVENTS, situ.query(QUERY)).to_pylist() == EXPECTED


@pytest.mark.spark
def test_spark_gives_the_same_rows(spark: SparkSession) -> None:
    found = situ.match(spark.createDataFrame(EVENTS), situ.query(QUERY)).toArrow().to_pylist()
    assert found == EXPECTED
