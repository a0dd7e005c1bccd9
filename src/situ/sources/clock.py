"""Event times as Arrow columns: microseconds since the epoch, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

DEFAULT_START = datetime(2024, 1, 1, tzinfo=UTC)
TIMESTAMP = pa.timestamp("us", tz="UTC")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_microseconds(moment: datetime) -> int:
    """Return microseconds since the epoch, exactly; a time without a zone is taken as UTC."""
    delta = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def timestamps(microseconds: np.ndarray) -> pa.Array:
    """Return int64 microseconds since the epoch as an Arrow timestamp array, without a copy."""
    return pa.array(microseconds).view(TIMESTAMP)
