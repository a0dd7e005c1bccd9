"""Questions for a real session: tables written once as Parquet, and every way of asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

import situ
from conformance.reading import read
from conformance.rows import ResultRow
from conformance.runners import instants_of, result_rows
from situ.operators.questions import matching
from situ.spark.batch.choose import choose
from situ.spark.batch.job import Job
from situ.spark.batch.parquet import Source
from situ.spark.errors import situ_error
from situ.spark.session.settings import SLICES
from spark.splitting import halves, split_in_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOST_SLICES = 8
EVENT_WAYS = ("shuffle", "map-side", "direct", "auto")
SLICED_WAYS = tuple(f"{n} slices" for n in range(1, MOST_SLICES + 1))
GIVEN_WAYS = ("given", "given, auto")
AUTO_WAYS = ("auto", "given, auto")
# Why the files of a case are not read directly.
EXCUSES = ("there are no files yet",)
# As few tasks as can be, and no Java is compiled for tables of a few rows; test_batch.py has the defaults.
QUICK = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@dataclass(frozen=True)
class Asking:
    """A table and a question about it."""

    name: str
    table: pa.Table
    text: str
    options: dict[str, Any]

    def ways(self) -> tuple[str, ...]:
        """The ways of running it that apply."""
        asked = read(self.text)
        if asked.ending:
            return GIVEN_WAYS
        is_sliced = not asked.partition_by and asked.within is not None
        return EVENT_WAYS + SLICED_WAYS * is_sliced


class Files:
    """Every table as Parquet: files that follow each other in time, and two that interleave."""

    def __init__(self, folder: Path, askings: Sequence[Asking]) -> None:
        self._folder = folder
        self._numbers = {asking.name: str(number) for number, asking in enumerate(askings)}
        for asking in askings:
            self._write(asking, "ordered", split_in_time(asking.table, instants(asking), 3))
            self._write(asking, "mixed", mixed(asking))

    def _write(self, asking: Asking, kind: str, splits: Sequence[pa.Table]) -> None:
        folder = Path(self.of(asking, kind))
        folder.mkdir(parents=True)
        for number, split in enumerate(splits):
            pq.write_table(split, folder / f"{number}.parquet")

    def of(self, asking: Asking, kind: str) -> str:
        return str(self._folder / self._numbers[asking.name] / kind)


def instants(asking: Asking) -> list[int | None]:
    return instants_of(asking.table, read(asking.text), asking.options)


def mixed(asking: Asking) -> list[pa.Table]:
    """Every other row, unless the order of rows of equal time counts and only the input says what it is."""
    asked = read(asking.text)
    known = instants(asking)
    is_safe = asked.ending or len(asked.order_by) > 1 or len(set(known)) == len(known)
    return halves(asking.table) if is_safe else [asking.table]


class Sessions:
    """One session for all strategies, and one for each number of slices; they share everything costly."""

    def __init__(self, spark: SparkSession) -> None:
        self.plain = self._like(spark, {})
        self.sliced = {way: self._like(spark, {SLICES: way.split()[0]}) for way in SLICED_WAYS}

    @staticmethod
    def _like(spark: SparkSession, settings: dict[str, str]) -> SparkSession:
        session = spark.newSession()
        for name, value in {"spark.sql.session.timeZone": "UTC", **QUICK, **settings}.items():
            session.conf.set(name, value)
        return session

    def run(self, way: str, asking: Asking, files: Files) -> list[ResultRow]:
        """The answer, or the error of situ that a worker raised."""
        try:
            return result_rows(self._result(way, asking, files).toArrow(), asking.text)
        except PySparkException as error:
            raise situ_error(error) or error from None

    def _result(self, way: str, asking: Asking, files: Files) -> DataFrame:
        query, options = situ.query(asking.text), asking.options
        if way == "direct":
            ordered = files.of(asking, "ordered")
            return situ.match_parquet(self.plain, ordered, query, strategy="map-side", **options)
        if way == "given":
            return situ.match(
                self._read(self.plain, asking, files, "mixed"), query, strategy="shuffle", **options
            )
        if way in AUTO_WAYS:
            return self._automatic(asking, files)
        kind, strategy = ("mixed", "shuffle") if way == "shuffle" else ("ordered", "map-side")
        df = self._read(self.sliced.get(way, self.plain), asking, files, kind)
        return situ.match(df, query, strategy=strategy, **options)

    def _automatic(self, asking: Asking, files: Files) -> DataFrame:
        """Left to situ, which is to read the files itself wherever no condition can fail; also renamed."""
        read = self._read(self.plain, asking, files, "ordered")
        query, options = situ.query(asking.text), asking.options
        plain = choose(read, matching(query), options)
        if isinstance(plain, Job):
            assert plain.not_direct in EXCUSES or plain.not_direct.endswith("fails for some values")
            return plain.result()
        if not read.columns:
            return plain.result()
        # every column under another name and back, and a filter over one that is projected away again
        renamed = read.toDF(*(f"{name}_" for name in read.columns)).withColumn(
            "own", F.col(f"{read.columns[0]}_")
        )
        kept = renamed.where("own IS NULL OR own IS NOT NULL").drop("own").toDF(*read.columns)
        chosen = choose(kept, matching(query), options)
        assert isinstance(chosen, Source)
        assert chosen.scan.kept is not None
        return chosen.result()

    @staticmethod
    def _read(session: SparkSession, asking: Asking, files: Files, kind: str) -> DataFrame:
        """The files as a DataFrame; the schema is given, as finding it out would take Spark another job."""
        schema = from_arrow_schema(asking.table.schema, prefer_timestamp_ntz=True)
        return session.read.schema(schema).parquet(files.of(asking, kind))
