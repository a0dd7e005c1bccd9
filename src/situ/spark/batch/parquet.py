"""`situ.match_parquet` and `situ.situations_parquet`: files whose rows never pass through the JVM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Observation
from pyspark.sql import functions as F

from situ.carry.batch.direct import Reading, Unit, folder_ranges
from situ.carry.batch.ranges import may_be_true
from situ.carry.batch.task import Kind, Task
from situ.carry.in_process import check_matchable
from situ.errors import BindError, DataError, OptionError
from situ.expressions import compile_expression
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, Column, bind
from situ.options import Options, check_applicable, check_forget_after, read_options
from situ.spark.batch.job import (
    ELSEWHERE,
    OPTIONS,
    SHUFFLED,
    check_partition_types,
    merged,
    remembering,
    task_of,
)
from situ.spark.batch.strategy import Decision, is_sliced
from situ.spark.batch.tied import listening
from situ.spark.files.footers import MOST_FOOTERS, Ordering, judge, read_footers
from situ.spark.files.reach import ArrowFiles, Files, HadoopFiles, files_of, folder_texts, of_each, plain
from situ.spark.select import output
from situ.spark.select.project import N_BAD_ROWS, layout_of, schema_of
from situ.spark.session.plans import Scan, hive_columns
from situ.spark.session.settings import Settings, settings_of
from situ.spark.session.ship import shipped
from situ.spark.session.types import arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
_MOST_BYTES = 128 << 20  # of a unit; a row group is never cut
_OPEN_COST = 4 << 20
_MOST_AT_ONCE = 1 << 30  # bytes of a file that Spark opens for us, which comes as one value
_GLOB = set("{}[]*?\\")
_FOLDER_TYPES = ("string", "tinyint", "smallint", "int", "bigint", "date", "double")


def match_parquet(spark: SparkSession, paths: str | Sequence[str], query: Query, **options: Any) -> DataFrame:
    """Every match in Parquet files, once: tasks read the files themselves, which is the fastest way.

    Every condition must be one that situ evaluates in process (else use situ.match on spark.read.parquet).
    """
    check_matchable(query)
    source = Source.of(spark, paths, query, options, "match")
    match_id = source.options.match_id
    fields = output.match_fields(source.bound, source.df.schema, match_id=match_id)
    return source.result(fields, lambda found: output.matches(found, source.bound, match_id=match_id))


def situations_parquet(
    spark: SparkSession, paths: str | Sequence[str], query: Query, **options: Any
) -> DataFrame:
    """The derived situations themselves, one row each (SEM 5.5), of files read as `match_parquet` does."""
    source = Source.of(spark, paths, query, options, "situations")
    fields = output.situation_fields(source.bound, source.df.schema)
    return source.result(fields, lambda found: output.situations(found, source.bound))


@dataclass(frozen=True)
class Source:
    """Files and a query bound to them."""

    df: DataFrame  # what Spark would read: its schema is the one that counts
    bound: BoundQuery
    options: Options
    kind: Kind
    forget_after: int | None
    settings: Settings
    files: Files
    units: list[Unit]
    sizes: dict[str, int]
    decision: Decision

    @classmethod
    def of(
        cls, spark: SparkSession, paths: str | Sequence[str], query: Query, given: dict[str, Any], kind: Kind
    ) -> Source:
        """Bind the query and list the files; no row is read."""
        options = read_options(given, OPTIONS, "Parquet files", ELSEWHERE)
        check_applicable(given, query)
        _refuse_intervals(query)
        df = spark.read.parquet(*([paths] if isinstance(paths, str) else paths))
        bound = bind(query, schema_of(df), time=options.time)
        check_partition_types(bound)
        settings = settings_of(spark)
        files = sorted(df.inputFiles())
        folders = _folder_columns(df, files)
        chosen = {path: _folder_values(path, folders) for path in files}
        if query.where is not None:
            chosen = {p: v for p, v in chosen.items() if may_be_true(query.where, folder_ranges(v))}
        reached = files_of(df, files[0]) if files else ArrowFiles()
        sizes = dict(zip(chosen, of_each(reached.size, chosen), strict=True))
        if isinstance(reached, HadoopFiles):
            _check_contents(sizes)
            units = [Unit(path, 0, sizes[path], values) for path, values in chosen.items()]
        else:
            units = [unit for path, values in chosen.items() for unit in _units(path, sizes[path], values)]
        decision = _decide(options.strategy, bound, kind, list(folders), reached, sizes)
        forget_after = check_forget_after(options.forget_after, bound)
        source = cls(df, bound, options, kind, forget_after, settings, reached, units, sizes, decision)
        source.check_conditions()
        return source

    def check_conditions(self) -> None:
        """Every condition is one that can be evaluated in process, with exactly Spark's answer."""
        query = self.bound.query
        for expression in [query.where, *(symbol.condition for symbol in query.symbols)]:
            if expression is not None:
                compile_expression(
                    expression, self.schema, ansi=self.settings.ansi, time_zone=self.settings.time_zone
                )

    @property
    def schema(self) -> pa.Schema:
        """Every column the query reads, in Spark's types."""
        query = self.bound.query
        names = {column.name.lower() for column in layout_of(self.bound).columns}
        for expression in [query.where, *(symbol.condition for symbol in query.symbols)]:
            names |= {name.lower() for name in expression.columns} if expression is not None else set()
        columns: list[Column] = [column for column in self.bound.schema if column.name.lower() in names]
        return arrow_schema(columns, self.df.schema)

    def result(self, fields: Any, finished: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """What `finished` makes of what workers find, in the columns `fields`."""
        options = self.options
        task = task_of(
            self.bound,
            self.df.schema,
            self.settings,
            fields,
            layout=layout_of(self.bound),
            kind=self.kind,
            ties=options.ties,
            join=options.join,
            points=options.points,
            forget_after=self.forget_after,
            match_id=options.match_id,
        )
        told = listening(self.df, self.bound, options.ties)
        pieces, observation = self._pieces(task, told)
        if self.decision.strategy == "shuffle":
            found = pieces.repartition(F.col("bucket")).mapInArrow(
                shipped("merge_events", task, told), fields
            )
        else:
            found = merged(pieces, task, fields, self.decision)
        return remembering(finished(found), observation, told)

    def _pieces(self, task: Task, told: Any) -> tuple[DataFrame, Observation | None]:
        """What tasks make of the files, and where the rows are counted that they drop."""
        drops = self.options.on_bad_rows == "drop"
        whole = self.decision.strategy == "shuffle"
        session = self.df.sparkSession
        if self.units and isinstance(self.files, HadoopFiles):
            entry, groups = "read_contents", [self.units]
            reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
            given = reader.load([plain(unit.path) for unit in self.units]).select("path", "content")
        else:
            entry, groups = "read", _groups(self.units, self.sizes, self.settings)
            given = session.range(0, len(groups), 1, max(1, len(groups)))
        reading = Reading(task, self.schema, whole, self.settings.time_zone, groups, drops)
        if not drops:
            return given.mapInArrow(shipped(entry, reading, told), SHUFFLED), None
        # a task's count travels in a row of its own, from which the JVM observes it
        observation = Observation("situ")
        pieces = given.mapInArrow(shipped(entry, reading, told), f"{SHUFFLED}, {N_BAD_ROWS} bigint")
        counted = pieces.observe(observation, F.coalesce(F.sum(N_BAD_ROWS), F.lit(0)).alias(N_BAD_ROWS))
        return counted.where(F.col("data").isNotNull()).select("bucket", "data"), observation


def _refuse_intervals(query: Query) -> None:
    if query.intervals is not None:
        raise OptionError(
            "Parquet files are read directly for events only, not for given intervals",
            hint="use situ.match or situ.situations on spark.read.parquet(...)",
        )


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
    asked: str, bound: BoundQuery, kind: Kind, folders: Sequence[str], files: Files, sizes: dict[str, int]
) -> Decision:
    """Condensed if asked for or if the footers show that it is right, else whole events."""
    sliced = is_sliced(bound, kind)
    if asked == "map-side":
        return Decision("direct", "it was asked for", sliced)
    if asked == "shuffle":
        return Decision("shuffle", "it was asked for", False)
    if len(sizes) > MOST_FOOTERS:
        return Decision(
            "shuffle", f"{len(sizes):,} files are more than the {MOST_FOOTERS:,} footers situ reads", False
        )
    footers = read_footers(files, list(sizes), bound.time.name)
    ordering: Ordering = judge(
        footers, Scan(bound.time.name, tuple(folders), _MOST_BYTES), [c.name for c in bound.partition]
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


def _units(path: str, size: int, values: dict[str, Any]) -> list[Unit]:
    """A file in parts of about equal size."""
    n_parts = max(1, -(-size // _MOST_BYTES))
    borders = [size * i // n_parts for i in range(n_parts + 1)]
    return [Unit(path, begin, end, values) for begin, end in pairwise(borders)]


def _groups(units: Sequence[Unit], sizes: dict[str, int], settings: Settings) -> list[list[Unit]]:
    """Units for each task: as many tasks as keep all cores busy, of at most 128 MB."""
    total = sum(min(sizes[unit.path], unit.end - unit.start) + _OPEN_COST for unit in units)
    most = min(_MOST_BYTES, max(_OPEN_COST, total // max(1, settings.n_tasks)))
    groups: list[list[Unit]] = []
    room = 0
    for unit in units:
        cost = unit.end - unit.start + _OPEN_COST
        if not groups or cost > room:
            groups.append([])
            room = most
        groups[-1].append(unit)
        room -= cost
    return groups
