"""`situ.match_parquet` and `situ.situations_parquet`: files whose rows never pass through the JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Observation
from pyspark.sql import functions as F

from situ.carry.batch.direct import N_BAD_ROWS, FilePart, Reading, folder_ranges
from situ.carry.batch.opening import folder_texts, plain
from situ.carry.batch.ranges import may_be_true
from situ.carry.batch.task import Task
from situ.carry.contract import Asked, Condenses, Operator, Question
from situ.errors import BindError, DataError
from situ.expressions import compile_expression
from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.options import Options, read_options
from situ.spark.batch.job import (
    ELSEWHERE,
    OPTIONS,
    SHUFFLED,
    buckets_for,
    check_partition_types,
    merged,
    merged_rows,
    operator_of,
    remembering,
    task_of,
)
from situ.spark.batch.strategy import Decision, is_sliced
from situ.spark.batch.tied import listening
from situ.spark.files.footers import MOST_FOOTERS, Ordering, judge, read_footers
from situ.spark.files.reach import ArrowFiles, Files, HadoopFiles, files_of, of_each
from situ.spark.select import output
from situ.spark.select.project import schema_of
from situ.spark.session.plans import Scan, hive_columns
from situ.spark.session.settings import Settings, settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.types import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_MOST_BYTES = 128 << 20  # of a part; a row group is never cut
_OPEN_COST = 4 << 20
_MOST_AT_ONCE = 1 << 30  # bytes of a file that Spark opens for us, which comes as one value
_GLOB = set("{}[]*?\\")
_FOLDER_TYPES = ("string", "tinyint", "smallint", "int", "bigint", "date", "double")


def run(
    spark: SparkSession, paths: str | Sequence[str], question: Question, passed: dict[str, Any]
) -> DataFrame:
    """The answer to a question over Parquet files: tasks read them themselves, which is the fastest way.

    Every condition must be one that situ evaluates in process (else use spark.read.parquet).
    """
    return Source.of(spark, paths, question, passed).result()


@dataclass(frozen=True)
class Source:
    """Files and a question bound to them."""

    df: DataFrame  # what Spark would read: its schema is the one that counts
    asked: Asked
    operator: Operator
    options: Options
    settings: Settings
    files: Files
    file_parts: list[FilePart]
    sizes: dict[str, int]
    decision: Decision

    @classmethod
    def of(
        cls, spark: SparkSession, paths: str | Sequence[str], question: Question, passed: dict[str, Any]
    ) -> Source:
        """Bind the question and list the files; no row is read."""
        options = read_options(passed, OPTIONS, "Parquet files", ELSEWHERE)
        question.check_options(passed)
        df = spark.read.parquet(*([paths] if isinstance(paths, str) else paths))
        asked = question.bind(schema_of(df), options)
        needs = asked.needs
        check_partition_types(needs)
        settings = settings_of(spark)
        operator = operator_of(asked, df.schema, settings, options)
        files = sorted(df.inputFiles())
        folders = _folder_columns(df, files)
        chosen = {path: _folder_values(path, folders) for path in files}
        if needs.where is not None:
            chosen = {p: v for p, v in chosen.items() if may_be_true(needs.where, folder_ranges(v))}
        reached = files_of(df, files[0]) if files else ArrowFiles()
        sizes = dict(zip(chosen, of_each(reached.size, chosen), strict=True))
        if isinstance(reached, HadoopFiles):
            _check_contents(sizes)
            file_parts = [FilePart(path, 0, sizes[path], values) for path, values in chosen.items()]
        else:
            file_parts = [
                part for path, values in chosen.items() for part in _file_parts(path, sizes[path], values)
            ]
        decision = _decide(options.strategy, operator, list(folders), reached, sizes)
        source = cls(df, asked, operator, options, settings, reached, file_parts, sizes, decision)
        source.check_conditions()
        return source

    def check_conditions(self) -> None:
        """Every condition is one that can be evaluated in process, with exactly Spark's answer."""
        for expression in self._expressions:
            compile_expression(
                expression, self.schema, ansi=self.settings.ansi, time_zone=self.settings.time_zone
            )

    @property
    def _expressions(self) -> list[Expression]:
        needs = self.asked.needs
        where = [] if needs.where is None else [needs.where]
        return [*where, *(condition.expression for condition in needs.conditions)]

    @property
    def schema(self) -> pa.Schema:
        """Every column the question reads, in Spark's types."""
        names = {column.name.lower() for column in self.asked.needs.columns}
        for expression in self._expressions:
            names |= {name.lower() for name in expression.columns}
        columns: list[Column] = [column for column in schema_of(self.df) if column.name.lower() in names]
        return arrow_schema(columns, self.df.schema)

    def result(self) -> DataFrame:
        """What users get."""
        fields = output.fields_of(self.operator, self.df.schema)
        n_buckets = buckets_for(self.decision, self.settings)
        task = task_of(self.operator, self.settings, self.options, n_buckets=n_buckets)
        told = listening(self.df, self.asked.needs, self.options.ties)
        pieces, observation = self._pieces(task, told)
        if self.decision.strategy == "shuffle":
            found = merged_rows(pieces, task, fields, told)
        else:
            found = merged(pieces, task, fields, self.decision)
        return remembering(output.finished(found, self.asked), observation, told)

    def _pieces(self, task: Task, told: Any) -> tuple[DataFrame, Observation | None]:
        """What tasks make of the files, and where the rows are counted that they drop."""
        drops = self.options.on_bad_rows == "drop"
        whole = self.decision.strategy == "shuffle"
        session = self.df.sparkSession
        if self.file_parts and isinstance(self.files, HadoopFiles):
            entry, groups = "read_contents", [self.file_parts]
            reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
            source = reader.load([plain(part.path) for part in self.file_parts]).select("path", "content")
        else:
            entry, groups = "read", _groups(self.file_parts, self.sizes, self.settings)
            source = session.range(0, len(groups), 1, max(1, len(groups)))
        reading = Reading(
            task, self.schema, whole, self.settings.ansi, self.settings.time_zone, groups, drops
        )
        if not drops:
            return source.mapInArrow(shipped(entry, reading, told), SHUFFLED), None
        # a task's count travels in a row of its own, from which the JVM observes it
        observation = Observation("situ")
        pieces = source.mapInArrow(shipped(entry, reading, told), f"{SHUFFLED}, {N_BAD_ROWS} bigint")
        counted = pieces.observe(observation, F.coalesce(F.sum(N_BAD_ROWS), F.lit(0)).alias(N_BAD_ROWS))
        return counted.where(F.col("data").isNotNull()).select("bucket", "data"), observation


def _check_contents(sizes: dict[str, int]) -> None:
    """Spark opens these files for us: each is handed over in one piece, and named without escapes."""
    for path, size in sizes.items():
        name = plain(path)
        if size > _MOST_AT_ONCE:
            why = f"{size:,} bytes are more than it hands over in one piece"
        elif _GLOB & set(name):
            why = "it takes such a name for a pattern"
        else:
            continue
        raise DataError(
            f"{name} cannot be reached with Arrow, nor through Spark: {why}",
            hint="use situ.match or situ.situations on spark.read.parquet(...)",
        )


def _decide(
    asked: str, operator: Operator, folders: Sequence[str], files: Files, sizes: dict[str, int]
) -> Decision:
    """Condensed if asked for or if the footers show that it is right, else whole events."""
    needs = operator.needs
    if not isinstance(operator, Condenses):
        return Decision("shuffle", "rows that cannot be condensed are brought together by partition", False)
    sliced = is_sliced(operator)
    if asked == "map-side":
        return Decision("direct", "it was asked for", sliced)
    if asked == "shuffle":
        return Decision("shuffle", "it was asked for", False)
    if len(sizes) > MOST_FOOTERS:
        return Decision(
            "shuffle", f"{len(sizes):,} files are more than the {MOST_FOOTERS:,} footers situ reads", False
        )
    footers = read_footers(files, list(sizes), needs.time.name)
    ordering: Ordering = judge(
        footers, Scan(needs.time.name, tuple(folders), _MOST_BYTES), [c.name for c in needs.partition]
    )
    if ordering.is_ordered:
        return Decision("direct", ordering.why, sliced, ordering)
    return Decision("shuffle", ordering.why, False, ordering)


def _folder_columns(df: DataFrame, files: Sequence[str]) -> dict[str, pa.DataType]:
    """Columns that are folders, and their types: what Spark says, else those that every file's path names."""
    named = hive_columns(df)
    if named is None:
        several = [folder_texts(path) for path in files]
        named = tuple(n for n in df.columns if several and all(n in own for own in several))
    for name in named:
        kind = df.schema[name].dataType.simpleString()
        if kind not in _FOLDER_TYPES:
            raise _unreadable(name, f"are {kind} values")
    columns = [column for column in schema_of(df) if column.name in named]
    return {field.name: field.type for field in arrow_schema(columns, df.schema)}


def _folder_values(path: str, folders: dict[str, pa.DataType]) -> dict[str, Any]:
    texts = folder_texts(path)
    return {name: _folder_value(name, texts[name], kind) for name, kind in folders.items()}


def _folder_value(name: str, text: str, kind: pa.DataType) -> Any:
    """What Spark makes of the text of a folder, which has led it to this type."""
    if text == _NULL_FOLDER:
        return None
    try:
        return pa.scalar(text).cast(kind).as_py()
    except pa.ArrowInvalid:
        raise _unreadable(name, f"hold {text!r}, which Spark reads as a {kind}") from None


def _unreadable(name: str, what: str) -> BindError:
    return BindError(
        f"the folders of {name} {what}, which situ does not read from the names of folders",
        hint="use situ.match or situ.situations on spark.read.parquet(...)",
    )


def _file_parts(path: str, size: int, values: dict[str, Any]) -> list[FilePart]:
    """A file in parts of about equal size."""
    n_parts = max(1, -(-size // _MOST_BYTES))
    borders = [size * i // n_parts for i in range(n_parts + 1)]
    return [FilePart(path, begin, end, values) for begin, end in pairwise(borders)]


def _groups(
    file_parts: Sequence[FilePart], sizes: dict[str, int], settings: Settings
) -> list[list[FilePart]]:
    """File parts for each task: as many tasks as keep all cores busy, of at most 128 MB."""
    total = sum(min(sizes[part.path], part.end - part.start) + _OPEN_COST for part in file_parts)
    most = min(_MOST_BYTES, max(_OPEN_COST, total // max(1, settings.n_tasks)))
    groups: list[list[FilePart]] = []
    room = 0
    for part in file_parts:
        cost = part.end - part.start + _OPEN_COST
        if not groups or cost > room:
            groups.append([])
            room = most
        groups[-1].append(part)
        room -= cost
    return groups
