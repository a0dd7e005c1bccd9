"""DataFrames that are Parquet files, with columns chosen and renamed and rows filtered, and nothing else.

Tasks can read such files themselves and give the very rows that Spark would. Whatever is not known to be
such a plan is not one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import sqlglot.expressions as exp

from situ.language.text.nodes import Expression
from situ.language.text.types import Column
from situ.spark.session.catalyst import NotPlainError, condition_text
from situ.spark.session.plans import analyzed, is_plain_scan, items, optimized

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Which files there are, Spark lists; of other options, such as calendars of old dates, nothing is known here.
_LISTING = {
    "path",
    "paths",
    "basepath",
    "recursivefilelookup",
    "pathglobfilter",
    "modifiedbefore",
    "modifiedafter",
    "mergeschema",
    "serialization.format",  # what a metastore notes
}
# Settings that change what Spark reads from files, and the values at which they do not.
_SETTINGS = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "corrected",
    "spark.sql.parquet.int96RebaseModeInRead": "corrected",
}
_FILE_FORMAT = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_FILE_INDEXES = ("InMemoryFileIndex", "CatalogFileIndex")


@dataclass(frozen=True)
class PlainScan:
    """What a DataFrame takes from files."""

    named: dict[str, str]  # a column's name here, and in the files (or the folders)
    kept: Expression | None = None  # only rows for which this is true
    only_kept: tuple[Column, ...] = ()  # columns that only this reads, under names of their own


def plain_scan(df: DataFrame) -> PlainScan:
    """What a DataFrame takes from Parquet files, if that is all it does; else NotPlainError."""
    for setting, harmless in _SETTINGS.items():
        found = str(df.sparkSession.conf.get(setting, harmless)).lower()
        if found != harmless:
            raise NotPlainError(f"{setting} is {found}")
    plan = analyzed(df)
    if plan is None:
        return _connect_scan(df)
    # Cached rows are not read from files again. That shows only in an optimized plan, and in one of a new
    # DataFrame: each keeps the plan it was first asked for.
    if not is_plain_scan(optimized(df.select("*"))):
        raise NotPlainError("the plan is more than a scan with filters and projections")
    return _Reader().read(plan)


class _Reader:
    """Follows a plan down to its files; columns are told apart by the numbers that Spark gives them."""

    def __init__(self) -> None:
        self._sources: dict[int, int] = {}  # a renamed column, and the one it is
        self._filters: list[Any] = []  # the last comes first

    def read(self, plan: Any) -> PlainScan:
        output = [(column.name(), column.exprId().id()) for column in items(plan.output())]
        relation = self._down_to_files(plan)
        files = {column.exprId().id(): column for column in items(relation.output())}
        named = {name: files[self._source(number)].name() for name, number in output}
        if len({name.lower() for name in named}) < len(output):
            raise NotPlainError("two columns have one name")
        return self._with_filters(named, files) if self._filters else PlainScan(named)

    def _down_to_files(self, node: Any) -> Any:
        while (kind := node.getClass().getSimpleName()) != "LogicalRelation":
            if kind == "Project":
                self._note_names(items(node.projectList()))
            elif kind == "Filter":
                self._filters.append(node.condition())
            elif kind not in ("SubqueryAlias", "View"):
                raise NotPlainError(f"the plan has {kind}")
            node = node.children().head()
        _check_files(node)
        return node

    def _note_names(self, projected: list[Any]) -> None:
        for one in projected:
            kind = one.getClass().getSimpleName()
            if kind == "AttributeReference":
                continue
            if kind != "Alias" or one.child().getClass().getSimpleName() != "AttributeReference":
                raise NotPlainError(f"the column {one.name()} is computed")
            self._sources[one.exprId().id()] = one.child().exprId().id()

    def _source(self, number: int) -> int:
        while number in self._sources:
            number = self._sources[number]
        return number

    def _with_filters(self, named: dict[str, str], files: dict[int, Any]) -> PlainScan:
        """The filters as one condition over the names that columns have in the end, or are given here."""
        here = {file: name for name, file in reversed(named.items())}
        own = {}  # columns that are not the DataFrame's
        for i, column in enumerate(files.values()):
            if column.name() not in here:
                own[_free(f"_situ_kept_{i}", named)] = column
        here |= {column.name(): name for name, column in own.items()}
        names = {number: here[files[self._source(number)].name()] for number in {*files, *self._sources}}
        text = " AND ".join(condition_text(condition, names) for condition in reversed(self._filters))
        read = sorted({column.name for column in Expression(text, ()).tree.find_all(exp.Column)})
        only_kept = tuple(Column(name, own[name].dataType().simpleString()) for name in read if name in own)
        named = named | {name: own[name].name() for name in read if name in own}
        return PlainScan(named, Expression(text, tuple(read)), only_kept)


def _free(name: str, taken: dict[str, str]) -> str:
    while name in {other.lower() for other in taken}:
        name += "_"
    return name


def _check_files(node: Any) -> None:
    """Only Spark's own way of reading Parquet files of which the path says everything."""
    relation = node.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        raise NotPlainError("the input is not files")
    if relation.fileFormat().getClass().getName() != _FILE_FORMAT:
        raise NotPlainError("the input is not plain Parquet files")
    if relation.location().getClass().getSimpleName() not in _FILE_INDEXES:
        raise NotPlainError("a table format chooses the files")
    if node.catalogTable().isDefined() and relation.partitionSchema().size():
        raise NotPlainError("the folders of a table may lie anywhere")
    _check_paths([path.toString() for path in items(relation.location().rootPaths())])
    names = {pair._1().lower() for pair in items(relation.options().toSeq())}
    if others := sorted(names - _LISTING):
        raise NotPlainError(f"the files are read with the option {others[0]}")


def _check_paths(paths: Sequence[str]) -> None:
    """Spark reads a file twice that is named twice."""
    ordered = sorted(f"{path.rstrip('/')}/" for path in paths)
    if any(other.startswith(one) for one, other in pairwise(ordered)):
        raise NotPlainError("a path is read twice")


def _connect_scan(df: DataFrame) -> PlainScan:
    """A Connect session shows no plan but what its client has written down: the bare scan is known by it."""
    plan = getattr(df, "_plan", None)
    is_scan = (
        type(plan).__name__ == "DataSource"
        and getattr(plan, "_format", None) == "parquet"
        and not getattr(plan, "_schema", None)
        and not getattr(plan, "_options", None)
        and bool(getattr(plan, "_paths", None))
    )
    if not is_scan:
        raise NotPlainError("a Connect session shows of a plan only whether it is spark.read.parquet(...)")
    _check_paths(plan._paths)  # type: ignore[union-attr]
    return PlainScan({name: name for name in df.columns})
