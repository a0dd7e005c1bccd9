"""Times in as few bytes as they need: most lie close together, at multiples of some step."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from situ.rows.kernels.narrow import common_step
from situ.saved.codec import Reader, Writer


def write_times(writer: Writer, time: npt.NDArray[np.int64]) -> None:
    """Add times to a piece."""
    low, step, multiples = narrowed(time)
    writer.array(np.array([low, step], np.int64))
    writer.array(multiples)


def read_times(reader: Reader) -> npt.NDArray[np.int64]:
    """What `write_times` wrote."""
    low, step = reader.array().tolist()
    return widened(low, step, cast(Any, reader.array()))


def narrowed(time: npt.NDArray[np.int64]) -> tuple[int, int, npt.NDArray[np.unsignedinteger]]:
    """`low`, `step` and the multiples of step above low, in as few bytes as they need; see `widened`."""
    if not len(time):
        return 0, 1, np.empty(0, np.uint8)
    low, high, step = common_step(time)
    step = max(1, int(step))
    reach = (int(high) - int(low)) // step
    width = next(kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if reach <= np.iinfo(kind).max)
    above = time.view(np.uint64) - np.uint64(int(low) % 2**64)
    return int(low), step, (above // np.uint64(step) if step > 1 else above).astype(width)


def widened(low: int, step: int, multiples: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.int64]:
    """What `narrowed` was given."""
    above = multiples.astype(np.uint64) * np.uint64(step)
    return (above + np.uint64(low % 2**64)).view(np.int64)
