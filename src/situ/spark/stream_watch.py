"""On the driver: many late rows in a stream are said once in the log, whoever started it.

`situ.match` and `situ.situations` add one listener to a session, which reads what Spark reports after every
micro-batch. Workers could only write to logs that nobody reads.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pyspark.errors import PySparkException
from pyspark.sql.streaming.listener import StreamingQueryListener

from situ.engine.late_log import LateLog
from situ.spark.stream_metrics import n_events, observed_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.listener import (
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )

_log = logging.getLogger(__name__)
_watched: WeakSet[SparkSession] = WeakSet()
_lock = threading.Lock()


def watch(session: SparkSession) -> None:
    """Have an eye on the streams of a session from now on."""
    with _lock:
        if session in _watched:
            return
        _watched.add(session)
    try:
        session.streams.addListener(LateRowsListener())
    except PySparkException as error:  # a server may refuse listeners; streams run without
        _log.warning("this session takes no listener, so late rows show in metrics only: %s", error)


class LateRowsListener(StreamingQueryListener):
    """Follows every run of a stream of situ."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        report = json.loads(event.progress.json)
        if observed_of(report):
            self._runs.setdefault(str(event.progress.runId), _Run()).note(report)

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        with suppress(KeyError):
            del self._runs[str(event.runId)]


class _Run:
    """One run of a stream: its rows so far, and their largest time as far as it is known."""

    def __init__(self) -> None:
        self._late_log = LateLog()
        self._n_rows = 0
        self._latest: int | None = None

    def note(self, report: Mapping[str, Any]) -> None:
        """A micro-batch is done."""
        figures = observed_of(report)
        self._n_rows += n_events(report)
        seen = _largest([self._latest, *(each.get("seen") for each in figures)])
        earliest = [each["earliest_late"] for each in figures if each.get("earliest_late") is not None]
        n_late = sum(int(each.get("late_rows") or 0) for each in figures)
        self._late_log.note(self._n_rows, n_late, min(earliest, default=None), seen)
        self._latest = _largest([self._latest, *(each.get("latest") for each in figures)])


def _largest(several: list[int | None]) -> int | None:
    return max((int(one) for one in several if one is not None), default=None)
