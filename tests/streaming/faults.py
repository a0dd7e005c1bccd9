"""Faults at chosen points: chances that can be drawn again, and folders that nothing can be written to."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

SEED = "SITU_FAULT_SEED"


def chance() -> Random:
    """Chances from a seed that a failing test shows; `SITU_FAULT_SEED=... pytest ...` draws them again."""
    seed = int(os.environ.get(SEED) or time.time_ns() % 10**9)
    print(f"to replay: {SEED}={seed}")
    return Random(seed)


@contextmanager
def blocked(folder: Path) -> Iterator[Path]:
    """A file in the place of a folder: whoever writes there fails. Yields where the folder is meanwhile.

    Spark writes a micro-batch down in one folder after the other (state, the sink's log, commits), so a
    stream whose next folder is blocked dies between the two.
    """
    away = folder.with_name(f"{folder.name}.away")
    folder.rename(away)
    folder.write_text("")
    try:
        yield away
    finally:
        folder.unlink()
        away.rename(folder)


def latest(folder: Path) -> int:
    """The largest number among the names of a folder of Spark's, -1 for none."""
    return max((int(path.name.partition(".")[0]) for path in folder.glob("[0-9]*")), default=-1)
