"""The strategy "direct": Parquet files whose rows never pass through the JVM.

It is taken for `situ.match_parquet` and `situ.situations_parquet`, and for DataFrames that are plain scans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from situ.expressions import Compiled, compile_condition
from situ.expressions.zones import zone_name
from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.options import Options, read_options
from situ.rows.clock import check_until, tick_of, until_of
from situ.rows.kernels.numbers import LONG_AGO, OPEN
from situ.rows.needs import OF_WHERE, Condition
from situ.rows.read import compiled_columns
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
from situ.spark.files.footers import MOST_FOOTERS, Footer, Ordering, judge, read_footers
from situ.spark.files.reach import ArrowFiles, Files, HadoopFiles, files_of, of_each
from situ.spark.select import output
from situ.spark.select.project import schema_of
from situ.spark.session.catalyst import NotPlainError
from situ.spark.session.functions import called, user_functions
from situ.spark.session.plain_scan import PlainScan, plain_scan
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
_OF_ZONES = {"from_utc_timestamp", "to_utc_timestamp", "convert_timezone"}
_TIMES = ("date", "timestamp", "timestamp_ntz")
_FOLDER_TYPES = ("string", "tinyint", "smallint", "int", "bigint", "date", "double")


def run(
    spark: SparkSession, paths: str | Sequence[str], question: Question, passed: dict[str, Any]
) -> DataFrame:
    """The answer to a question over Parquet files: tasks read them themselves, which is the fastest way.

    Every condition must be one that situ evaluates in process (else use spark.read.parquet).
    """
    return Source.of_paths(spark, paths, question, passed).result()


@dataclass(frozen=True)
class Source:
    """Files and a question bound to them."""

    df: DataFrame  # what Spark would read: its schema is the one that counts
    scan: PlainScan
    asked: Asked
    operator: Operator
    options: Options
    settings: Settings
    files: Files
    file_parts: list[FilePart]
    sizes: dict[str, int]
    folders: frozenset[str]  # the columns that are folders
    n_files: int  # also those that no row is read from

    @classmethod
    def of_paths(
        cls, spark: SparkSession, paths: str | Sequence[str], question: Question, passed: dict[str, Any]
    ) -> Source:
        """Bind the question and list the files; no row is read."""
        options = read_options(passed, OPTIONS, "Parquet files", ELSEWHERE)
        question.check_options(passed)
        df = spark.read.parquet(*([paths] if isinstance(paths, str) else paths))
        scan = PlainScan({name: name for name in df.columns})
        return cls._bound(df, scan, sorted(df.inputFiles()), question, options)

    @classmethod
    def of_frame(cls, df: DataFrame, question: Question, passed: dict[str, Any]) -> Source:
        """The same for a DataFrame; NotPlainError unless tasks are sure to read the very rows that it has."""
        options = read_options(passed, OPTIONS, "a batch DataFrame", ELSEWHERE)
        question.check_options(passed)
        scan = plain_scan(df)
        files = sorted(df.inputFiles())
        others = [path for path in files if not path.startswith("file:")]
        if others:  # workers may not be allowed what Spark is, or not know the place
            raise NotPlainError(f"{others[0]} is not on a local or mounted disk")
        source = cls._bound(df, scan, files, question, options)
        source.check_certain()
        return source

    @classmethod
    def _bound(
        cls, df: DataFrame, scan: PlainScan, files: list[str], question: Question, options: Options
    ) -> Source:
        asked = question.bind(schema_of(df), options)
        needs = asked.needs
        check_partition_types(needs)
        settings = settings_of(df.sparkSession)
        operator = operator_of(asked, df, settings, options)
        until_of(options, needs, operator.schema)
        folders = _folder_columns(df, scan, files)
        chosen = {path: _folder_values(path, folders, scan) for path in files}
        for condition in (scan.kept, needs.where):
            if condition is not None:
                chosen = {p: v for p, v in chosen.items() if may_be_true(condition, folder_ranges(v))}
        reached = files_of(df, files[0]) if files else ArrowFiles()
        sizes = dict(zip(chosen, of_each(reached.size, chosen), strict=True))
        if isinstance(reached, HadoopFiles):
            _check_contents(sizes)
            file_parts = [FilePart(path, 0, sizes[path], values) for path, values in chosen.items()]
        else:
            file_parts = [
                part for path, values in chosen.items() for part in _file_parts(path, sizes[path], values)
            ]
        source = cls(
            df,
            scan,
            asked,
            operator,
            options,
            settings,
            reached,
            file_parts,
            sizes,
            frozenset(folders),
            len(files),
        )
        _ = source.compiled  # what cannot be evaluated is refused before a footer is read
        return source

    @cached_property
    def _decided(self) -> tuple[list[Footer], Decision]:
        """Read when first asked for: it takes a look into every file."""
        asked = self.options.strategy
        return _decide(asked, self.operator, self.folders, self.scan, self.files, self.sizes)

    @property
    def footers(self) -> list[Footer]:
        """As far as they were read."""
        return self._decided[0]

    @property
    def decision(self) -> Decision:
        """Whether rows are condensed where they are read, and why."""
        return self._decided[1]

    @cached_property
    def compiled(self) -> list[Compiled]:
        """Every condition is one that can be evaluated in process, with exactly Spark's answer."""
        ansi, zone, needs = self.settings.ansi, self.settings.time_zone, self.asked.needs
        conditions = [
            compile_condition(one.expression, self.schema, one.name, ansi=ansi, time_zone=zone)
            for one in self._conditions
        ]
        return [*conditions, *compiled_columns(needs, self.schema, ansi=ansi, time_zone=zone).values()]

    def check_certain(self) -> None:
        """Nothing about the files or the conditions lets tasks find other rows than Spark would."""
        self._check_conditions()
        if len(self.footers) < len(self.sizes):
            raise NotPlainError(self.decision.why)
        if not self.asked.needs.partition and self.is_whole and isinstance(self.operator, Condenses):
            raise NotPlainError(f"without PARTITION BY the files must be in order, and {self.decision.why}")
        self._check_types()

    def _check_conditions(self) -> None:
        functions = called(self._expressions)
        if functions & _OF_ZONES or (
            self._reads_times and isinstance(zone_name(self.settings.time_zone), str)
        ):
            raise NotPlainError(
                "the clocks of a zone may have changed otherwise by Java's books than by Python's"
            )
        for compiled, expression in zip(self.compiled, self._expressions, strict=True):
            if compiled.can_fail:  # Spark may find that it need not be evaluated
                raise NotPlainError(f"{expression.sql} fails for some values")
        for name, kind in self._derived_types.items():
            if kind != self.operator.schema.field(name).type:
                raise NotPlainError("what prev looks back at is of another type to Spark")
        own = user_functions(self.df.sparkSession, functions)
        if own:
            raise NotPlainError(f"the session may have a function {own[0]} of its own")

    @property
    def _derived_types(self) -> dict[str, pa.DataType]:
        derived = self.asked.needs.derived
        compiled = self.compiled[len(self.compiled) - len(derived) :]
        return {one.name: own.type for one, own in zip(derived, compiled, strict=True)}

    @property
    def _reads_times(self) -> bool:
        """Does a condition read a time?"""
        read = {name.lower() for one in self._expressions for name in one.columns}
        return any(one.type in _TIMES for one in self._columns if one.name.lower() in read)

    def _check_types(self) -> None:
        wanted = {
            self.scan.named[one.name]: one.type for one in self._columns if one.name not in self.folders
        }
        for footer in self.footers:
            if footer.has_old_dates:
                raise NotPlainError(f"{footer.path} has dates of the calendar before 1582")
            for name, kind in wanted.items():
                if footer.types.get(name) != kind:
                    found = footer.types.get(name, "nothing")
                    raise NotPlainError(f"{footer.path} holds {found} as {name}, and not {kind}")

    @property
    def is_whole(self) -> bool:
        """Are all events brought together, and not only what they are condensed to?"""
        return self.decision.strategy == "shuffle"

    @property
    def _conditions(self) -> list[Condition]:
        needs = self.asked.needs
        filters = [Condition(OF_WHERE, one) for one in (self.scan.kept, needs.where) if one is not None]
        return [*filters, *needs.conditions]

    @property
    def _expressions(self) -> list[Expression]:
        derived = [one.expression for one in self.asked.needs.derived]
        return [*(condition.expression for condition in self._conditions), *derived]

    @property
    def schema(self) -> pa.Schema:
        """Every column the question reads, in Spark's types."""
        return arrow_schema(self._columns, self.df.schema)

    @property
    def _columns(self) -> list[Column]:
        names = {column.name.lower() for column in self.asked.needs.columns}
        for expression in self._expressions:
            names |= {name.lower() for name in expression.columns}
        return [one for one in (*schema_of(self.df), *self.scan.only_kept) if one.name.lower() in names]

    def result(self) -> DataFrame:
        """What users get."""
        fields, task = output.fields_of(self.operator, self.df.schema), self.task
        told = listening(self.df, self.asked.needs, self.options.ties)
        pieces, observation = self._pieces(task, told)
        if self.is_whole:
            found = merged_rows(pieces, self.df, task, fields, told)
        else:
            found = merged(pieces, self.df, task, fields, self.decision)
        return remembering(output.finished(found, self.asked), observation, told)

    @property
    def task(self) -> Task:
        """What workers need to know."""
        n_buckets = buckets_for(self.decision, self.settings)
        return task_of(self.operator, self.settings, self.options, n_buckets=n_buckets, clock=self.clock)

    @cached_property
    def clock(self) -> int | None:
        """How far time comes, for results that fall between events; None where that is to be found out."""
        needs = self.asked.needs
        if not needs.ticks:
            return None
        until, latest = until_of(self.options, needs, self.operator.schema), self._latest_in_footers()
        if until is not None and latest is not None:
            check_until(until, latest, needs)
        return latest if until is None else until

    def _latest_in_footers(self) -> int | None:
        """The largest time of the input, where the footers of all files tell it and a filter hides none."""
        needs = self.asked.needs
        is_simple = self.scan.kept is None and not needs.instant.columns and needs.time.unit is None
        if not is_simple or len(self.footers) < self.n_files:
            return None
        kind = self.operator.schema.field(needs.time.name).type
        latest = int(LONG_AGO)
        for footer in self.footers:
            if footer.n_rows:
                tick = None if footer.span is None else tick_of(footer.span.high, kind, needs)
                if tick is None or tick == OPEN:
                    return None
                latest = max(latest, tick)
        return None if latest == LONG_AGO else latest

    def _pieces(self, task: Task, told: Any) -> tuple[DataFrame, Observation | None]:
        """What tasks make of the files, and where the rows are counted that they drop."""
        drops = self.options.on_bad_rows == "drop"
        session = self.df.sparkSession
        if self.file_parts and isinstance(self.files, HadoopFiles):
            entry, groups = "read_contents", [self.file_parts]
            reader = session.read.format("binaryFile").option("recursiveFileLookup", "true")
            source = reader.load([plain(part.path) for part in self.file_parts]).select("path", "content")
        else:
            entry, groups = "read", _groups(self.file_parts, self.sizes, self.settings)
            source = session.range(0, len(groups), 1, max(1, len(groups)))
        reading = Reading(
            task,
            self.schema,
            self.is_whole,
            self.settings.ansi,
            self.settings.time_zone,
            groups,
            drops,
            {name: file for name, file in self.scan.named.items() if name != file},
            self.scan.kept,
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
    asked: str,
    operator: Operator,
    folders: Iterable[str],
    scan: PlainScan,
    files: Files,
    sizes: dict[str, int],
) -> tuple[list[Footer], Decision]:
    """Condensed if asked for or if the footers show that it is right, else whole events."""
    sliced = is_sliced(operator)
    if asked == "map-side" and isinstance(operator, Condenses):
        return [], Decision("direct", "it was asked for", sliced)
    if asked == "shuffle":
        return [], Decision("shuffle", "it was asked for", False)
    if len(sizes) > MOST_FOOTERS:
        why = f"{len(sizes):,} files are more than the {MOST_FOOTERS:,} footers situ reads"
        return [], Decision("shuffle", why, False)
    time = scan.named[operator.needs.time.name]
    footers = read_footers(files, list(sizes), time)
    if not isinstance(operator, Condenses):
        why = "rows that cannot be condensed are brought together by partition"
        return footers, Decision("shuffle", why, False)
    partition = [scan.named[column.name] for column in operator.needs.partition]
    hive = tuple(scan.named[name] for name in folders)
    ordering: Ordering = judge(footers, Scan(time, hive, _MOST_BYTES), partition)
    if ordering.is_ordered:
        return footers, Decision("direct", ordering.why, sliced, ordering)
    return footers, Decision("shuffle", ordering.why, False, ordering)


def _folder_columns(df: DataFrame, scan: PlainScan, files: Sequence[str]) -> dict[str, pa.DataType]:
    """Columns that are folders, and their types: what Spark says, else those that every file's path names."""
    hive = hive_columns(df)
    if hive is None:
        several = [folder_texts(path) for path in files]
        hive = tuple(n for n in df.columns if several and all(n in own for own in several))
    columns = [one for one in (*schema_of(df), *scan.only_kept) if scan.named[one.name] in hive]
    for column in columns:
        if column.type not in _FOLDER_TYPES:
            raise _unreadable(column.name, f"are {column.type} values")
    return {field.name: field.type for field in arrow_schema(columns, df.schema)}


def _folder_values(path: str, folders: dict[str, pa.DataType], scan: PlainScan) -> dict[str, Any]:
    texts = folder_texts(path)
    return {name: _folder_value(name, texts[scan.named[name]], kind) for name, kind in folders.items()}


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
