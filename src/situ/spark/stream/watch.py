"""On the driver: many late rows in a stream are said once in the log, whoever started it.

`situ.match` and `situ.situations` add one listener to a session, which reads what Spark reports after every
micro-batch. Workers could only write to logs that nobody reads.
"""

from __future__ import annotations

import atexit
import json
import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pyspark.errors import PySparkException
from pyspark.sql.streaming.listener import StreamingQueryListener

from situ.rows.late_log import LateLog
from situ.spark.stream.metrics import n_events, observed_of

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
_SECONDS_FOR_REPORTS = 5


def watch(session: SparkSession) -> None:
    """Have an eye on the streams of a session from now on."""
    with _lock:
        if session in _watched:
            return
        _watched.add(session)
    listener = LateRowsListener()
    try:
        session.streams.addListener(listener)
    except PySparkException as error:  # a server may refuse listeners; streams run without
        _log.warning("this session takes no listener, so late rows show in metrics only: %s", error)
        return
    atexit.register(_leave, session, listener)


def _leave(session: SparkSession, listener: LateRowsListener) -> None:
    """Before Python ends: a report that finds nobody any more would be an error in Spark's log."""
    with suppress(Exception):  # the session may have been stopped, or its server be gone
        if not session.streams.active:
            listener.wait_until_idle(_SECONDS_FOR_REPORTS)
        session.streams.removeListener(listener)


class LateRowsListener(StreamingQueryListener):
    """Follows every run of a stream of situ."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._changed = threading.Condition()

    def wait_until_idle(self, seconds: float) -> None:
        """Until the end of every run has been reported, which Spark does a little after it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._runs, seconds)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        with self._changed:
            self._runs[str(event.runId)] = _Run()

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        report = json.loads(event.progress.json)
        if observed_of(report):
            with self._changed:
                run = self._runs.setdefault(str(event.progress.runId), _Run())
            run.note(report)

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        with self._changed:
            self._runs.pop(str(event.runId), None)
            self._changed.notify_all()


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
