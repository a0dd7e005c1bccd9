"""Values of result rows as pictures tell them: instants as ticks, anything as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from situ.errors import OptionError
from situ.expressions.zones import zone_of
from situ.language.text.types import Column
from situ.plotting.scene import Clock


@dataclass(frozen=True)
class Teller:
    """Tells values by one clock."""

    clock: Clock

    @classmethod
    def of(cls, time: pa.DataType, zone: str | None) -> Teller:
        """For a time column: in `zone`, or in the column's own; times without a zone have none."""
        own = getattr(time, "tz", None)
        return cls(Clock(not pa.types.is_integer(time), own and _known(zone or own)))

    def ticks(self, value: Any) -> int:
        """A time of a result row as ticks."""
        if isinstance(value, int):
            return value
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        moment: datetime = value if value.tzinfo else value.replace(tzinfo=UTC)
        return round((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)

    def told(self, value: Any) -> str:
        """A value as text."""
        if value is None:
            return "none"
        if isinstance(value, float):
            return f"{value:.4g}"
        if isinstance(value, datetime):  # the zone is told once, under the time axis
            if value.tzinfo is not None:
                value = value.astimezone(zone_of(self.clock.zone or "UTC"))
            return str(value.replace(tzinfo=None))
        return str(value)

    def title(self, row: dict[str, Any], partition: Sequence[Column], source: str) -> str:
        """What a match is of: its partition, or all of the source."""
        return ", ".join(f"{column.name} {self.told(row[column.name])}" for column in partition) or source


def _known(zone: str) -> str:
    """The zone, or UTC where Python does not know it: a picture says which one it is in."""
    try:
        zone_of(zone)
    except OptionError:
        return "UTC"
    return zone
