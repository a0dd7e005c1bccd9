"""Traffic written by Spark: the rows of the generator, in files that follow each other in time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from situ.errors import OptionError
from situ.sources import traffic_block
from situ.spark.generate import traffic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CARS, SECONDS = 1000, 1500


@pytest.mark.parametrize("files", [1, 3])
def test_files_hold_the_generators_rows_in_time_order(
    spark: SparkSession, tmp_path: Path, files: int
) -> None:
    traffic(spark, CARS, SECONDS, seed=4, files=files).write.parquet(str(tmp_path / "cars"))
    tables = [pq.read_table(path) for path in sorted((tmp_path / "cars").glob("*.parquet"))]
    assert len(tables) == files
    for earlier, later in pairwise(tables):
        assert pc.max(earlier["ts"]).as_py() < pc.min(later["ts"]).as_py()
    expected = traffic_block(4, CARS, SECONDS)
    written = pa.concat_tables(tables).cast(expected.schema)
    assert written.combine_chunks().equals(expected)


def test_wrong_options_are_refused(spark: SparkSession) -> None:
    with pytest.raises(OptionError, match="cars=0"):
        traffic(spark, 0, 10)
