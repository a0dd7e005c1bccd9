"""One select in the JVM: what Python needs of a DataFrame, and nothing else.

Conditions become one integer column, bit i set where condition i is true (null is not true). Beside it
travel the partition columns, the time, extra ORDER BY columns and the attributes aggregates read, each
column once however many uses it has. Times travel as they are: Arrow holds them as microseconds since
the epoch whatever the session's time zone, so that nothing is computed for them in the JVM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F

from situ.errors import BindError, ConditionTypeError, DataError
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, Column, Schema, bind
from situ.language.text.nodes import Expression
from situ.rows.keys import encode, shown
from situ.rows.prepare import Prepared
from situ.rows.schema import to_ticks

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, Observation

MASK, SPLIT = "_mask", "_situ_split"
N_BAD_ROWS = "n_bad_rows"
_MASK_TYPES = ((8, "tinyint"), (16, "smallint"), (32, "int"), (64, "bigint"))


@dataclass(frozen=True)
class Layout:
    """Which travelling column is which: positions in `columns`, for tasks to read batches by."""

    columns: tuple[Column, ...]  # travel as _c0, _c1, ...; after them the mask
    partition: tuple[int, ...]
    time: int
    ties: tuple[int, ...]
    attributes: tuple[int, ...]
    others: tuple[int, ...] = ()  # of given intervals: end, then id if there is one

    @property
    def names(self) -> list[str]:
        """The names the columns travel under, without the mask."""
        return [f"_c{i}" for i in range(len(self.columns))]


class Times(Protocol):
    """What a stream's times decide about its rows."""

    @property
    def has_watermark(self) -> bool: ...

    def mark(self, df: DataFrame) -> DataFrame: ...

    def leave_out(self, events: DataFrame) -> DataFrame: ...


@dataclass(frozen=True)
class Projection:
    """A query bound to a DataFrame, and the DataFrame reduced to what the query needs."""

    bound: BoundQuery
    layout: Layout
    events: DataFrame


def schema_of(df: DataFrame) -> Schema:
    """A DataFrame's columns under Spark's type names."""
    return tuple(Column(field.name, field.dataType.simpleString()) for field in df.schema.fields)


def project(
    df: DataFrame,
    query: Query,
    *,
    time: str | None = None,
    drop_bad_rows: Observation | str | bool = False,
    split: SparkColumn | None = None,
    extra: Sequence[SparkColumn] = (),
    times: Times | None = None,
) -> Projection:
    """Bind the query and select what it needs; what does not fit fails here, with our errors.

    `drop_bad_rows` leaves out rows without a time; an Observation, or on a stream a name, also counts them,
    as `n_bad_rows`.
    `extra` columns travel behind the mask, `split` after them: it is evaluated before the conditions, as
    near to the scan as can be. `times` has a say before and after WHERE; rows that WHERE removes move a
    watermark as well (SEM 8.1).
    """
    bound = bind(query, schema_of(df), time=time)
    query = bound.query
    layout = layout_of(bound)
    conditions = conditions_of(query)
    _check_conditions(df, query, conditions)
    events = df if times is None else times.mark(df)
    if query.where is not None:
        events = events.filter(_where(query.where, times is not None and times.has_watermark))
    if drop_bad_rows is not False:
        time_column = column_named(bound.time.name)
        if drop_bad_rows is not True:
            events = events.observe(drop_bad_rows, F.count_if(time_column.isNull()).alias(N_BAD_ROWS))
        events = events.filter(time_column.isNotNull())
    if times is not None:
        events = times.leave_out(events)
    if split is not None:
        events = events.select("*", split.alias(SPLIT))
    columns = [
        column_named(column.name).alias(name)
        for column, name in zip(layout.columns, layout.names, strict=True)
    ]
    columns += [mask_of(conditions).alias(MASK), *extra]
    if split is not None:
        columns.append(F.col(SPLIT))
    return Projection(bound, layout, events.select(*columns))


def _where(condition: Expression, behind_watermark: bool) -> SparkColumn:
    """WHERE as a filter; Spark moves one in front of a watermark unless it is of the task as well."""
    holds = F.expr(condition.sql)
    return F.when(F.spark_partition_id() >= 0, holds) if behind_watermark else holds


def layout_of(bound: BoundQuery) -> Layout:
    """The columns a bound query needs, each once."""
    columns: dict[str, Column] = {}
    by_name = {column.name.lower(): column for column in bound.schema}

    def place(column: Column) -> int:
        columns.setdefault(column.name, column)
        return list(columns).index(column.name)

    intervals = bound.query.intervals
    others: list[str] = []
    if intervals is not None:
        others = [name for name in (intervals.ending, intervals.id_by) if name is not None]
    partition = tuple(map(place, bound.partition))
    at_time = place(bound.time)
    ties, attributes = tuple(map(place, bound.ties)), tuple(map(place, bound.attributes))
    placed = tuple(place(by_name[name.lower()]) for name in others)
    return Layout(tuple(columns.values()), partition, at_time, ties, attributes, placed)


def conditions_of(query: Query) -> list[Expression]:
    """The condition of each symbol; SYMBOL BY is a comparison with the symbol's name."""
    found = []
    for symbol in query.symbols:
        if symbol.condition is not None:
            found.append(symbol.condition)
            continue
        kind = None if query.intervals is None else query.intervals.symbol_by
        assert kind is not None  # only SYMBOL BY leaves a symbol without a condition
        name = symbol.name.replace("\\", "\\\\").replace("'", "\\'")
        found.append(Expression(f"{quoted(kind)} = '{name}'", (kind,)))
    return found


def mask_of(conditions: Sequence[Expression]) -> SparkColumn:
    """Bit i where condition i is true, in the smallest integer type; equal conditions are evaluated once."""
    kind = next(kind for width, kind in _MASK_TYPES if len(conditions) <= width)
    width = next(width for width, _ in _MASK_TYPES if len(conditions) <= width)
    bits: dict[str, int] = {}
    for i, condition in enumerate(conditions):
        bits[condition.sql] = bits.get(condition.sql, 0) | 1 << i
    parts = [
        F.when(F.expr(sql), F.lit(_signed(bit, width)).cast(kind)).otherwise(F.lit(0).cast(kind))
        for sql, bit in bits.items()
    ]
    mask = parts[0]
    for part in parts[1:]:
        mask = mask.bitwiseOR(part)
    return mask


def _signed(bits: int, width: int) -> int:
    """The same bits as a signed number: Spark has no unsigned ones."""
    return bits - (1 << width) if bits >> (width - 1) else bits


def column_named(name: str) -> SparkColumn:
    """A column by its exact name, whatever characters it has."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """A name in back-quotes."""
    return "`" + name.replace("`", "``") + "`"


def _check_conditions(df: DataFrame, query: Query, conditions: Sequence[Expression]) -> None:
    """Every condition is boolean to Spark, or an error of ours says which is not."""
    named = [
        (f"the condition of {symbol.name}", condition)
        for symbol, condition in zip(query.symbols, conditions, strict=True)
    ]
    if query.where is not None:
        named.append(("the condition of WHERE", query.where))
    try:
        types = _types(df, [condition for _, condition in named])
    except AnalysisException:
        for what, condition in named:  # one at a time, to find which one it is
            try:
                _types(df, [condition])
            except AnalysisException as error:
                raise BindError(
                    f"Spark cannot evaluate {what}, {condition.sql}: {first_sentence(error)}",
                    hint="check the names of functions and columns, and the types of their arguments",
                ) from None
        raise
    for (what, condition), kind in zip(named, types, strict=True):
        if kind not in ("boolean", "void"):
            raise ConditionTypeError(
                f"{what} must be true or false, but {condition.sql} is a {kind}",
                hint="compare it with a value",
            )


def _types(df: DataFrame, expressions: Sequence[Expression]) -> list[str]:
    columns = [F.expr(expression.sql).alias(f"_{i}") for i, expression in enumerate(expressions)]
    return [field.dataType.simpleString() for field in df.select(*columns).schema.fields]


def first_sentence(error: AnalysisException) -> str:
    """Spark's message without its suggestions and plans."""
    text = str(error).partition("JVM stacktrace:")[0].strip()
    return text.splitlines()[0].strip().removesuffix(";") if text else type(error).__name__


def read_batch(layout: Layout, batch: pa.RecordBatch | pa.Table, mask_type: np.dtype[Any]) -> Prepared:
    """A batch of travelling columns as the engine's rows; its keys are coded within the batch."""
    columns = [_array(batch.column(i)) for i in range(len(layout.columns))]
    time = columns[layout.time]
    if time.null_count:
        raise bad_times(layout, columns, time)
    codes, keys = encode([columns[i] for i in layout.partition], batch.num_rows)
    return Prepared(
        codes,
        keys,
        to_ticks(time, layout.columns[layout.time].name),
        read_mask(_array(batch.column(len(layout.columns))), mask_type),
        {layout.columns[i].name: columns[i] for i in layout.attributes},
        [columns[i] for i in layout.ties],
    )


def read_mask(mask: pa.Array, mask_type: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The mask column as the engine's unsigned type."""
    signed = mask.to_numpy(zero_copy_only=False)
    unsigned: np.ndarray[Any, Any] = signed.view(np.dtype(f"u{signed.dtype.itemsize}"))
    return unsigned.astype(mask_type, copy=False)


def bad_times(layout: Layout, columns: Sequence[pa.Array], time: pa.Array) -> DataError:
    """What to say of rows without a time (SEM 1.4)."""
    first = int(np.flatnonzero(np.asarray(time.is_null()))[0])
    example = {
        column.name: shown(values[first]) for column, values in zip(layout.columns, columns, strict=True)
    }
    n_bad, name = time.null_count, layout.columns[layout.time].name
    return DataError(
        f"time column {name} is null in {n_bad} row{'s' if n_bad > 1 else ''} of this piece of the data, "
        f"for example {example}",
        hint='remove them with WHERE, or drop and count them with on_bad_rows="drop"',
    )


def _array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return column
