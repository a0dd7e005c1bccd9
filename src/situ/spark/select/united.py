"""The DataFrames of several sources as one (SEM 13): WHERE and conditions are evaluated in each of them.

It has the columns of all sources, null where a source has none, and a mask: bit i where condition i holds,
nothing set in rows that WHERE removes, which still count for the largest time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql import types as T

from situ.carry.contract import Asked, Question
from situ.errors import SourceError
from situ.language.text.nodes import Expression
from situ.language.text.types import Schema, Schemas
from situ.options import Options
from situ.rows.needs import Condition, Needs, Part
from situ.spark.select.project import check_conditions, column_named, mask_of, schema_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MASK = "_situ_mask"


def frames_of(events: DataFrame | Mapping[str, DataFrame]) -> list[DataFrame]:
    """The DataFrames that were given; one that is none of Spark is refused."""
    if not isinstance(events, Mapping):
        return [events]
    for name, frame in events.items():
        if type(frame).__module__.partition(".")[0] != "pyspark":
            raise SourceError(
                f"{name} is a {type(frame).__name__} in memory, and others are Spark DataFrames",
                hint="give all sources as DataFrames of one Spark session, or all as tables in memory",
            )
    return list(events.values())


def schemas_of(frames: Mapping[str, DataFrame]) -> Schemas:
    """The columns of DataFrames by name."""
    return {name: schema_of(frame) for name, frame in frames.items()}


@dataclass(frozen=True)
class OfUnited:
    """A question that is bound to several sources, as it is asked of their union."""

    question: Question
    asked: Asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self.question, name)

    def bind(self, schema: Schema | Schemas, options: Options) -> Asked:
        """What it is bound to already; conditions are bits of the mask."""
        return self.asked


def asked_of_united(asked: Any) -> Asked:
    """The same asked of the union."""
    needs: Needs = asked.needs
    conditions = [
        Condition(one.name, Expression(f"GETBIT({_MASK}, {i}) = 1", (_MASK,)))
        for i, one in enumerate(needs.conditions)
    ]
    where = Expression(f"{_MASK} <> 0", (_MASK,))
    of_united: Asked = replace(asked, needs=replace(needs, conditions=tuple(conditions), where=where))
    return of_united


def united(frames: Sequence[DataFrame], needs: Needs, keep: Sequence[str] = ()) -> DataFrame:
    """The union of the DataFrames of the parts; columns of `keep` are in each of them."""
    fields = united_fields([frame.schema for frame in frames], needs)
    return reduce(
        lambda one, other: one.union(other),
        (_projected(frame, part, fields, keep) for frame, part in zip(frames, needs.parts, strict=True)),
    )


def _projected(
    frame: DataFrame, part: Part, fields: Sequence[T.StructField], keep: Sequence[str]
) -> DataFrame:
    check_conditions(frame, part.needs)
    columns = []
    for field in fields:
        own = part.own(field.name)
        column = F.lit(None) if own is None else column_named(own)
        columns.append(column.cast(field.dataType).alias(field.name))
    mask = mask_of([condition.expression for condition in part.needs.conditions])
    if part.needs.where is not None:
        mask = F.when(F.expr(part.needs.where.sql), mask).otherwise(mask.bitwiseXOR(mask))
    return frame.select(*columns, mask.alias(_MASK), *(F.col(name) for name in keep))


def united_fields(schemas: Sequence[T.StructType], needs: Needs) -> list[T.StructField]:
    """The columns of all sources, each of the type it has in the first that has it."""
    found = []
    for column in needs.columns:
        owners = zip(schemas, (part.own(column.name) for part in needs.parts), strict=True)
        schema, own = next((schema, own) for schema, own in owners if own is not None)
        found.append(T.StructField(column.name, schema[own].dataType))
    return found
