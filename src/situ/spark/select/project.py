"""One select in the JVM: what Python needs of a DataFrame, and nothing else.

Conditions become one integer column, bit i set where condition i is true (null is not true). Beside it
travel the partition columns, the time, extra ORDER BY columns and the attributes aggregates read, each
column once however many uses it has. Times travel as they are: Arrow holds them as microseconds since
the epoch whatever the session's time zone, so that nothing is computed for them in the JVM.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from situ.carry.batch.direct import N_BAD_ROWS
from situ.errors import BindError, no_condition
from situ.language.text.nodes import Expression
from situ.language.text.types import Column, Schema
from situ.rows.needs import OF_WHERE, Needs
from situ.rows.read import MASK

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, Observation

SPLIT = "_situ_split"
_MASK_TYPES = ((8, "tinyint"), (16, "smallint"), (32, "int"), (64, "bigint"))


class Times(Protocol):
    """What a stream's times decide about its rows."""

    @property
    def has_watermark(self) -> bool: ...

    def mark(self, df: DataFrame) -> DataFrame: ...

    def leave_out(self, events: DataFrame) -> DataFrame: ...


def schema_of(df: DataFrame) -> Schema:
    """A DataFrame's columns under Spark's type names."""
    return tuple(Column(field.name, field.dataType.simpleString()) for field in df.schema.fields)


def project(
    df: DataFrame,
    needs: Needs,
    *,
    drop_bad_rows: Observation | str | bool = False,
    split: SparkColumn | None = None,
    extra: Sequence[SparkColumn] = (),
    times: Times | None = None,
) -> DataFrame:
    """Select what is needed; conditions that do not fit fail here, with our errors.

    The columns of `needs`, the derived ones last, travel as _c0, _c1, ..., after them the mask.
    `drop_bad_rows` leaves out rows without a time; an Observation, or on a stream a name, also counts them,
    as `n_bad_rows`.
    `extra` columns travel behind the mask, `split` after them: it is evaluated before the conditions, as
    near to the scan as can be. `times` has a say before and after WHERE; rows that WHERE removes move a
    watermark as well (SEM 8.1).
    """
    check_conditions(df, needs)
    events = df if times is None else times.mark(df)
    if needs.where is not None:
        events = events.filter(_where(needs.where, times is not None and times.has_watermark))
    if drop_bad_rows is not False:
        time_column = column_named(needs.time.name)
        if drop_bad_rows is not True:
            events = events.observe(drop_bad_rows, F.count_if(time_column.isNull()).alias(N_BAD_ROWS))
        events = events.filter(time_column.isNotNull())
    if times is not None:
        events = times.leave_out(events)
    if split is not None:
        events = events.select("*", split.alias(SPLIT))
    columns = [column_named(column.name).alias(f"_c{i}") for i, column in enumerate(needs.columns)]
    columns += [
        F.expr(one.expression.sql).alias(f"_c{i}") for i, one in enumerate(needs.derived, len(needs.columns))
    ]
    columns += [mask_of([condition.expression for condition in needs.conditions]).alias(MASK), *extra]
    if split is not None:
        columns.append(F.col(SPLIT))
    return events.select(*columns)


def travelling(needs: Needs, column: Column) -> str:
    """The name under which a column of `needs` travels."""
    return f"_c{needs.columns.index(column)}"


def _where(condition: Expression, behind_watermark: bool) -> SparkColumn:
    """WHERE as a filter; Spark moves one in front of a watermark unless it is of the task as well."""
    holds = F.expr(condition.sql)
    return F.when(F.spark_partition_id() >= 0, holds) if behind_watermark else holds


def mask_of(conditions: Sequence[Expression]) -> SparkColumn:
    """Bit i where condition i is true, in the smallest integer type; equal conditions are evaluated once."""
    kind = next(kind for width, kind in _MASK_TYPES if len(conditions) <= width)
    width = next(width for width, _ in _MASK_TYPES if len(conditions) <= width)
    bits: dict[str, int] = {}
    for i, condition in enumerate(conditions):
        bits[condition.sql] = bits.get(condition.sql, 0) | 1 << i
    if not bits:
        return F.lit(0).cast(kind)
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


def check_conditions(df: DataFrame, needs: Needs) -> None:
    """Every condition is boolean to Spark, or an error of ours says which is not."""
    named = [(condition.name, condition.expression) for condition in needs.conditions]
    if needs.where is not None:
        named.append((OF_WHERE, needs.where))
    try:
        types = _types(df, [condition for _, condition in named])
    except AnalysisException:
        for what, condition in named:  # one at a time, to find which one it is
            try:
                _types(df, [condition])
            except AnalysisException as error:
                raise _not_evaluated(what, condition, error) from None
        raise
    for (what, condition), kind in zip(named, types, strict=True):
        if kind not in ("boolean", "void"):
            raise no_condition(what, condition.sql, kind)


def _types(df: DataFrame, expressions: Sequence[Expression]) -> list[str]:
    columns = [F.expr(expression.sql).alias(f"_{i}") for i, expression in enumerate(expressions)]
    return [field.dataType.simpleString() for field in df.select(*columns).schema.fields]


def travelling_types(df: DataFrame, needs: Needs) -> T.StructType:
    """The columns of a DataFrame and, behind them, those that are derived."""
    if not needs.derived:
        return df.schema
    columns = []
    for name, expression in needs.derived:
        try:
            columns += df.select(F.expr(expression.sql).alias(name)).schema.fields
        except AnalysisException as error:
            raise _not_evaluated("what prev looks back at", expression, error) from None
    return T.StructType([*df.schema.fields, *columns])


def _not_evaluated(what: str, expression: Expression, error: AnalysisException) -> BindError:
    return BindError(
        f"Spark cannot evaluate {what}, {expression.sql}: {first_sentence(error)}",
        hint="check the names of functions and columns, and the types of their arguments",
    )


def first_sentence(error: AnalysisException) -> str:
    """Spark's message without its suggestions and plans."""
    text = str(error).partition("JVM stacktrace:")[0].strip()
    return text.splitlines()[0].strip().removesuffix(";") if text else type(error).__name__
