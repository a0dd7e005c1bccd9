"""Many late rows are said once in the log, with the watermark that would have taken them in (SEM 8.2)."""

from __future__ import annotations

import logging
import time

import numpy as np

from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration

_log = logging.getLogger(__name__)

FEWEST, SHARE = 10, 0.01  # many: so many rows at least, and such a share of the rows of a stretch
_STRETCH = 10_000  # rows after which counting begins anew, so that months without late rows do not hide them
_UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000, 1_000)  # days to milliseconds


class LateLog:
    """Counts the late rows of one operator or stream; speaks at most once."""

    def __init__(self, *, delay: int | None = None, in_microseconds: bool = True) -> None:
        self._delay = -1 if delay is None else delay  # the watermark there is
        self._in_microseconds = in_microseconds
        self._has_spoken = False
        self._since = 0  # how many rows had come when this stretch began
        self._n_late = 0
        self._late_by: int | None = None

    def note(self, n_rows: int, n_late: int, earliest: int | None, seen: int | None) -> None:
        """Late rows have come, with `n_rows` all together so far, the earliest of them at `earliest`.

        `seen` is the largest time of earlier pushes or micro-batches. Nothing is said of a watermark where
        either is not known, or where the one there is would have done (rows before what `advance` said).
        """
        if self._has_spoken or not n_late:
            return
        self._n_late += n_late
        if earliest is not None and seen is not None and seen - earliest > self._delay:
            self._late_by = max(self._late_by or 0, seen - earliest)
        n_stretch = n_rows - self._since
        if self._n_late >= FEWEST and self._n_late >= SHARE * n_stretch:
            self._has_spoken = True
            _log.warning("%s", self._text(n_stretch, seen))
        elif n_stretch >= _STRETCH:
            self._since, self._n_late, self._late_by = n_rows, 0, None

    def _text(self, n_rows: int, seen: int | None) -> str:
        share = f"{self._n_late:,} of {n_rows:,} rows ({self._n_late / n_rows:.0%})"
        text = f"{share} came too late and were left out."
        if self._late_by is not None:
            delay = enough(self._late_by) if self._in_microseconds else f"{self._late_by:,}"
            text += f" A watermark of {delay} would have taken them in."
        if seen is not None and self._in_microseconds and seen > time.time_ns() // 1000:
            latest = str(np.datetime64(seen, "us")).replace("T", " ")
            text += (
                f" The latest time seen, {latest}, is still to come: "
                "if a clock is wrong, max_ahead sets its rows aside."
            )
        return text + " This is said once; the count goes on."


def enough(microseconds: int) -> str:
    """A duration at least so long, in round numbers, as an option and Spark's withWatermark read it.

    >>> enough(3_783_000_001), enough(1), enough(2 * 86_400_000_000), enough(0)
    ('64 minutes', '1 millisecond', '2 days', '0 seconds')
    """
    size = next((size for size in _UNITS if microseconds >= 10 * size), _UNITS[-1])
    return duration_text(Duration(-(-microseconds // size) * size, has_unit=True))
