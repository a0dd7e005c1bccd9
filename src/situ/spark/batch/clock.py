"""How far time has come at the end of a DataFrame, for results that fall between events (SEM 11.9).

The largest time counts rows that WHERE removes, which no task sees. So it is an aggregate of its own, of one
row that Spark brings to every task; nothing is collected and nothing runs before the result is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from situ.carry.batch.clock import clock_names
from situ.language.text.types import MICROSECONDS
from situ.rows.kernels.numbers import OPEN
from situ.rows.needs import Needs
from situ.spark.select.project import column_named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def with_clock(pieces: DataFrame, df: DataFrame, needs: Needs, known: int | None) -> DataFrame:
    """The pieces, where tasks ask for the clock and do not know it with the largest time of `df` behind."""
    if not needs.ticks or known is not None:
        return pieces
    return pieces.crossJoin(F.broadcast(_latest(df, needs)))


def _latest(df: DataFrame, needs: Needs) -> DataFrame:
    """One row: the columns that tell the largest instant, null where there is none."""
    several = [column_named(column.name) for column in needs.instant.told_by(needs.time)]
    instant = F.coalesce(*several)
    timed = df.where(column_named(needs.time.name).isNotNull())
    if needs.time.unit is not None:  # neither NaN nor what no tick can hold
        timed = timed.where(F.abs(instant) < F.lit(2.0**63 / MICROSECONDS[needs.time.unit]))
    elif needs.time.type == "bigint":
        timed = timed.where(instant < F.lit(int(OPEN)))  # reserved: no time
    names = clock_names(needs).values()
    if len(several) == 1:
        return timed.agg(*(F.max(one).alias(name) for one, name in zip(several, names, strict=True)))
    # of rows that end together a point may be widened, and then is the last
    order = F.struct(instant, F.coalesce(several[0] == several[-1], F.lit(False)))
    own = F.struct(*(one.alias(name) for one, name in zip(several, names, strict=True)))
    return timed.agg(F.max_by(own, order).alias("_row")).select("_row.*")
