"""What a stream's times decide before its rows reach the state: a watermark, and rows from the future.

Rows later than now + `max_ahead` are found first of all, below the watermark, so that they do not move it
(SEM 8.6). `now` is Spark's `current_timestamp()`, which in a stream is the time that Spark writes down with
the offsets of a micro-batch: a rerun of the batch after a crash decides alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from situ.carry.stream.program import IS_AHEAD
from situ.errors import OptionError, TimeColumnError
from situ.language.text.types import Column
from situ.options import Options, ticks
from situ.rows.ahead import are_timestamps, max_ahead_ticks
from situ.rows.instants import Lasting
from situ.rows.needs import Needs
from situ.spark.select.project import column_named

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

_INSTANT = "_situ_instant"
_WATERMARK = "spark.watermarkDelayMs"  # Spark's mark on a column that withWatermark was called with
_POLICY = "spark.sql.streaming.multipleWatermarkPolicy"
_US_PER_MS = 1000


@dataclass(frozen=True)
class StreamTimes:
    """The watermark of a stream and the reach of its clock, in microseconds; None where there is none."""

    needs: Needs
    delay: int | None
    max_ahead: int | None
    is_marked: bool  # the watermark is the DataFrame's own
    metrics: str  # the name to observe figures under
    keeps_ahead: bool  # rows from the future travel on, marked

    @classmethod
    def of(cls, df: DataFrame, needs: Needs, options: Options, metrics: str) -> StreamTimes:
        """Check that watermark and max_ahead fit the DataFrame and the query."""
        own = _own_watermark(df, needs)
        max_ahead = max_ahead_ticks(options.max_ahead, needs.time)
        if own is not None and options.watermark is not None:
            raise OptionError(
                "this DataFrame has a watermark already",
                hint="leave out withWatermark, or the option watermark",
            )
        if own is not None and max_ahead is not None:
            raise OptionError(
                "max_ahead sets rows aside before a watermark counts them, and this DataFrame has one",
                hint=f'leave out withWatermark and pass watermark="{own // _US_PER_MS} ms" to situ instead',
            )
        return cls(
            needs=needs,
            delay=_checked_delay(options.watermark, needs.time) if own is None else own,
            max_ahead=max_ahead,
            is_marked=own is not None,
            metrics=metrics,
            keeps_ahead=max_ahead is not None and options.late_rows,
        )

    @classmethod
    def of_sources(
        cls, frames: Sequence[DataFrame], needs: Needs, options: Options, metrics: str
    ) -> tuple[MarkedTimes, list[DataFrame]]:
        """The times of several sources, each of which has a watermark (SEM 13.5), and their marked rows."""
        several = [
            cls.of(frame, part.needs, options, metrics)
            for frame, part in zip(frames, needs.parts, strict=True)
        ]
        for part, times in zip(needs.parts, several, strict=True):
            if times.delay is None:
                raise OptionError(
                    f"a stream of several sources needs a watermark on each, and {part.name} has none",
                    hint='pass watermark="10 minutes" to situ, or call withWatermark on every DataFrame',
                )
        policy = str(frames[0].sparkSession.conf.get(_POLICY, "min"))
        if policy != "min":
            raise OptionError(
                f"{_POLICY} is {policy}, and rows of a source that is behind would all be late",
                hint=f'spark.conf.set("{_POLICY}", "min")',
            )
        whole = MarkedTimes(
            needs=needs,
            delay=max(times.delay for times in several if times.delay is not None),
            max_ahead=several[0].max_ahead,
            is_marked=True,
            metrics=metrics,
            keeps_ahead=False,
        )
        return whole, [times.mark(frame) for times, frame in zip(several, frames, strict=True)]

    @property
    def has_watermark(self) -> bool:
        """Whether rows wait."""
        return self.delay is not None

    def mark(self, df: DataFrame) -> DataFrame:
        """The rows with a mark on those that are ahead, and with the watermark that was asked for."""
        if self.max_ahead is not None:
            limit = self._now() + F.expr(f"INTERVAL '{self.max_ahead}' MICROSECONDS")
            df = df.select("*", F.coalesce(self._instant() > limit, F.lit(False)).alias(IS_AHEAD))
        if self.delay is not None and not self.is_marked:
            instant = self._instant()
            if self.max_ahead is not None:  # null counts as 1970 in Spark's largest time
                instant = F.when(~F.col(IS_AHEAD), instant)
            delay = f"{-(-self.delay // _US_PER_MS)} milliseconds"
            df = df.select("*", instant.alias(_INSTANT)).withWatermark(_INSTANT, delay)
        return df

    def leave_out(self, events: DataFrame) -> DataFrame:
        """Count the events that are ahead, and leave them out unless they are asked for.

        Without a watermark, Spark does not know the largest time so far; it is observed here.
        """
        figures = []
        if self.max_ahead is not None:
            figures.append(F.count_if(IS_AHEAD).alias("ahead_rows"))
        if self.delay is None and are_timestamps(self.needs.time):
            in_time = self._instant() if self.max_ahead is None else F.when(~F.col(IS_AHEAD), self._instant())
            figures.append(F.max(self._ticks(in_time)).alias("latest"))
        if figures:
            events = events.observe(self.metrics, *figures)
        return (
            events.filter(~F.col(IS_AHEAD)) if self.max_ahead is not None and not self.keeps_ahead else events
        )

    def _instant(self) -> SparkColumn:
        """SEM 6.3: an interval's instant is its end, its start while it is open."""
        start, instant = column_named(self.needs.time.name), self.needs.instant
        if not isinstance(instant, Lasting):
            return start
        end = column_named(instant.until.name)
        if instant.widen:
            end = F.when(start == end, end + F.expr("INTERVAL '1' MICROSECOND")).otherwise(end)
        return F.coalesce(end, start)

    def _now(self) -> SparkColumn:
        return F.current_timestamp() if self.needs.time.type == "timestamp" else F.localtimestamp()

    def _ticks(self, instant: SparkColumn) -> SparkColumn:
        if self.needs.time.type == "timestamp":
            return F.unix_micros(instant)
        return F.timestamp_diff("MICROSECOND", F.expr("TIMESTAMP_NTZ'1970-01-01'"), instant)


class MarkedTimes(StreamTimes):
    """Of several sources together: the rows of each were marked before they came together."""

    def mark(self, df: DataFrame) -> DataFrame:
        """The rows as they are."""
        return df


def _own_watermark(df: DataFrame, needs: Needs) -> int | None:
    """The delay of a DataFrame's watermark; it must be one on the query's time (SEM 8.1)."""
    fields = {field.name: field.metadata or {} for field in df.schema.fields}
    marked = {name: metadata[_WATERMARK] for name, metadata in fields.items() if _WATERMARK in metadata}
    if not marked:
        return None
    time = needs.time.name
    own = [needs.time.name, *(column.name for column in (needs.instant.end,) if column is not None)]
    if not marked.keys() & set(own):
        raise TimeColumnError(
            f"the watermark is on {', '.join(marked)}, but the query's time is {time}",
            hint=f'call withWatermark("{time}", ...), or ORDER BY {next(iter(marked))}',
        )
    return int(marked.get(time, max(marked.values()))) * _US_PER_MS


def _checked_delay(watermark: Any, time: Column) -> int | None:
    if watermark is not None and not are_timestamps(time):
        raise OptionError(
            f"on Spark a watermark needs a timestamp, and time column {time.name} is of type {time.type}",
            hint="make the column a timestamp, or leave out watermark and send rows in order",
        )
    return ticks(watermark, time, "watermark")
