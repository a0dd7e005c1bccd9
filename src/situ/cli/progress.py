"""A live bar of a Spark job's progress, from Spark's own count of tasks; silent unless a person watches."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS_BETWEEN_LOOKS = 0.2


@contextmanager
def progress_of(session: SparkSession, console: Console | None = None) -> Iterator[None]:
    """Show the stages that run while the block does, one bar each."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    done = threading.Event()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        watcher = threading.Thread(target=_watch, args=(session, progress, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _watch(session: SparkSession, progress: Progress, done: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    bars: dict[int, int] = {}
    while not done.wait(_SECONDS_BETWEEN_LOOKS):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is None:
                continue
            if stage not in bars:
                bars[stage] = int(progress.add_task(f"stage {len(bars) + 1}", total=info.numTasks))
            progress.update(bars[stage], completed=info.numCompletedTasks)  # type: ignore[arg-type]
