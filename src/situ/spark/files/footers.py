"""What Parquet footers say about the order of the input, read by the driver without running a job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from situ.carry.batch.opening import folder_texts
from situ.errors import DataError
from situ.rows.needs import Needs
from situ.rows.plain import plain_schema
from situ.rows.schema import spark_schema
from situ.spark.files.reach import Files, files_of, of_each
from situ.spark.session.plans import Scan, Unknown, scan_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_FOOTERS = 10_000
_OLD_DATES = b"org.apache.spark.legacy"  # a note that Spark leaves in files


@dataclass(frozen=True)
class Span:
    """Least and greatest time of some rows."""

    low: Any
    high: Any


@dataclass(frozen=True)
class Footer:
    """One file: its size, and the times of each row group; None where there are no statistics."""

    path: str
    n_bytes: int
    n_rows: int
    row_groups: tuple[Span | None, ...]
    types: dict[str, str] = field(default_factory=dict)  # Spark's names of the types of columns
    has_old_dates: bool = False  # are days counted by the calendar of Spark 2

    @property
    def span(self) -> Span | None:
        """The times of the whole file."""
        known = [span for span in self.row_groups if span is not None]
        if len(known) < len(self.row_groups) or not known:
            return None
        return Span(min(span.low for span in known), max(span.high for span in known))


@dataclass(frozen=True)
class Ordering:
    """Are splits known to follow each other in time, and why (not)."""

    is_ordered: bool
    why: str
    n_files: int | None = None
    n_rows: int | None = None
    n_bytes: int | None = None


def ordering_of(df: DataFrame, needs: Needs) -> Ordering:
    """Whether a DataFrame's splits are known not to interleave in time."""
    scan = scan_of(df, needs.time.name)
    if isinstance(scan, Unknown):
        return Ordering(False, scan.why)
    files = sorted(df.inputFiles())
    if not files:
        return Ordering(False, "there are no files yet")
    if len(files) > MOST_FOOTERS:
        return Ordering(False, f"{len(files):,} files are more than the {MOST_FOOTERS:,} footers situ reads")
    try:
        footers = read_footers(files_of(df, files[0]), files, scan.time)
    except DataError as error:
        return Ordering(False, f"footers cannot be read from here ({error.message})")
    return judge(footers, scan, [column.name for column in needs.partition])


def read_footers(files: Files, paths: Sequence[str], time: str) -> list[Footer]:
    """The footer of every file."""
    return of_each(lambda path: read_footer(files, path, time), paths)


def read_footer(files: Files, path: str, time: str) -> Footer:
    """The footer of one file."""
    source, n_bytes = files.open_end(path)
    with source, pq.ParquetFile(source) as file:
        metadata = file.metadata
        positions = [i for i in range(metadata.num_columns) if metadata.schema.column(i).path == time]
        spans = tuple(_span(metadata.row_group(g), positions) for g in range(metadata.num_row_groups))
        return Footer(path, n_bytes, metadata.num_rows, spans, _types(file), _has_old_dates(metadata))


def _types(file: pq.ParquetFile) -> dict[str, str]:
    """The columns' types as Spark reads them; its old timestamps have a type that is not said to be one."""
    types = {one.name: one.type for one in spark_schema(plain_schema(file.schema_arrow))}
    schema = file.metadata.schema
    columns = [schema.column(i) for i in range(file.metadata.num_columns)]
    return types | {one.path: "timestamp" for one in columns if one.physical_type == "INT96"}


def _has_old_dates(metadata: Any) -> bool:
    return any(key.startswith(_OLD_DATES) for key in metadata.metadata or {})


def _span(row_group: Any, positions: Sequence[int]) -> Span | None:
    statistics = row_group.column(positions[0]).statistics if positions else None
    if statistics is None or not statistics.has_min_max:
        return None
    return Span(statistics.min, statistics.max)


def judge(footers: Sequence[Footer], scan: Scan, partition: Sequence[str]) -> Ordering:
    """Ordered if, among files that can share a partition value, times follow each other without touching."""
    filled = [footer for footer in footers if footer.n_rows]
    facts = {
        "n_files": len(footers),
        "n_rows": sum(footer.n_rows for footer in footers),
        "n_bytes": sum(footer.n_bytes for footer in footers),
    }
    groups: dict[tuple[str, ...], list[Footer]] = {}
    folders = [name for name in partition if name in scan.hive_columns]
    for footer in filled:
        if footer.span is None:
            return Ordering(
                False,
                f"{_name(footer)} has no statistics of the time column {scan.time} (Spark writes timestamps "
                "without them unless spark.sql.parquet.outputTimestampType is TIMESTAMP_MICROS)",
                **facts,
            )
        if footer.n_bytes > scan.max_split_bytes and not _follow([s for s in footer.row_groups if s]):
            return Ordering(
                False,
                f"{_name(footer)} is cut into splits, and the times of its row groups touch or interleave",
                **facts,
            )
        groups.setdefault(folder_values(footer.path, folders), []).append(footer)
    for files in groups.values():
        ordered = sorted(files, key=lambda footer: (footer.span.low, footer.span.high))  # type: ignore[union-attr]
        for one, other in pairwise(ordered):
            if other.span.low <= one.span.high:  # type: ignore[union-attr]
                return Ordering(
                    False, f"the times of {_name(one)} and {_name(other)} touch or interleave", **facts
                )
    return Ordering(
        True, f"the footers of {len(footers)} files show that their times do not interleave", **facts
    )


def _follow(spans: Sequence[Span]) -> bool:
    """Do the row groups of a file follow each other, upwards or downwards?"""
    up = all(one.high < other.low for one, other in pairwise(spans))
    down = all(other.high < one.low for one, other in pairwise(spans))
    return up or down


def folder_values(path: str, names: Sequence[str]) -> tuple[str, ...]:
    """The values of hive-partition columns in a path; numbers as one text, however they are written."""
    found = folder_texts(path)
    return tuple(_as_number(found.get(name, "")) for name in names)


def _as_number(text: str) -> str:
    """`1`, `01` and `1.0` alike: as text they may be several values, but that is no reason to interleave."""
    try:
        return str(float(text))
    except ValueError:
        return text


def _name(footer: Footer) -> str:
    return footer.path.rpartition("/")[2]
