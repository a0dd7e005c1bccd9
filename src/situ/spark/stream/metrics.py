"""The figures of a running query: events, matches, late rows, state size, lag.

The stateful operator's counts travel as observed metrics, so every StreamingQueryListener sees them; here
is one that sums them up for dashboards and for the live line of `situ stream`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.listener import StreamingQueryListener

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
        StreamingQueryProgress,
    )

COUNTS = ("late_rows", "ignored_rows", "tied_rows", "matches")
_PREFIX = "situ_"


def metrics_name(question: str, what: str = "counts") -> str:
    """The name under which a question's counts are observed: its own, so that several can share a stream."""
    return f"{_PREFIX}{question}_{what}"


@dataclass(frozen=True)
class Figures:
    """A query's figures: sums since it was started, and the latest of what changes."""

    events: int = 0
    matches: int = 0
    late_rows: int = 0
    ahead_rows: int = 0  # rows later than now + max_ahead, set aside (SEM 8.6)
    ignored_rows: int = 0  # rows that close intervals the window has passed (SEM 6.3)
    tied_rows: int = 0  # rows left out because a later one of their partition has the same time (SEM 1.3)
    bad_rows: int = 0  # rows without a time, dropped with on_bad_rows="drop"
    micro_batches: int = 0
    events_per_second: float = 0.0  # in the latest micro-batch
    batch_seconds: float = 0.0
    state_bytes: int = 0
    state_rows: int = 0
    lag_records: int | None = None  # how far behind the source's end, where the source tells
    watermark: str | None = None

    def to_json(self) -> str:
        """One line for a log or a dashboard."""
        return json.dumps(asdict(self))


NOTHING = Figures()


def figures_of(progress: StreamingQueryProgress | Mapping[str, Any], before: Figures = NOTHING) -> Figures:
    """The figures after one more micro-batch, from Spark's report of it."""
    report = progress if isinstance(progress, Mapping) else json.loads(progress.json)
    figures = observed_of(report)
    sums = {
        name: sum(int(each.get(name) or 0) for each in figures)
        for name in (*COUNTS, "ahead_rows", "n_bad_rows")
    }
    states = report.get("stateOperators") or []
    lags = [source.get("metrics", {}).get("maxOffsetsBehindLatest") for source in report.get("sources", [])]
    known = [int(lag) for lag in lags if lag is not None]
    return replace(
        before,
        events=before.events + n_events(report),
        matches=before.matches + sums["matches"],
        late_rows=before.late_rows + sums["late_rows"],
        ahead_rows=before.ahead_rows + sums["ahead_rows"],
        ignored_rows=before.ignored_rows + sums["ignored_rows"],
        tied_rows=before.tied_rows + sums["tied_rows"],
        bad_rows=before.bad_rows + sums["n_bad_rows"],
        micro_batches=before.micro_batches + 1,
        events_per_second=float(report.get("processedRowsPerSecond") or 0.0),
        batch_seconds=float((report.get("durationMs") or {}).get("triggerExecution", 0)) / 1000,
        state_bytes=sum(_state_bytes(state) for state in states),
        state_rows=sum(int(state.get("numRowsTotal", 0)) for state in states),
        lag_records=max(known) if known else None,
        watermark=(report.get("eventTime") or {}).get("watermark"),
    )


def observed_of(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What situ's queries have observed in a micro-batch."""
    return [
        _by_name(observed if isinstance(observed, Mapping) else observed.asDict())
        for name, observed in (report.get("observedMetrics") or {}).items()
        if name.startswith(_PREFIX)
    ]


def n_events(report: Mapping[str, Any]) -> int:
    """The rows of all sources; a Connect session leaves it to us to add them up."""
    total = report.get("numInputRows")
    if total is None:
        total = sum(int(source.get("numInputRows") or 0) for source in report.get("sources", []))
    return int(total)


def _by_name(observed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Counts by name; a Connect session reports a list of values beside the schema that names them."""
    if observed.keys() == {"values", "schema"}:
        names = [field["name"] for field in observed["schema"]["fields"]]
        return dict(zip(names, observed["values"], strict=True))
    return observed


def _state_bytes(state: Mapping[str, Any]) -> int:
    """What the state store holds: its files, and what is not in files yet."""
    custom = state.get("customMetrics") or {}
    on_disk = int(custom.get("rocksdbSstFileSizeBytes") or custom.get("rocksdbTotalSSTFilesBytes") or 0)
    return on_disk or int(state.get("memoryUsedBytes") or 0)


class MetricsListener(StreamingQueryListener):
    """Keeps the figures of every running situ query; `spark.streams.addListener(MetricsListener())`."""

    def __init__(self) -> None:
        self._figures: dict[str, Figures] = {}
        self._ended: set[str] = set()
        self._lock = threading.Condition()

    def figures(self, query_id: str | None = None) -> Figures:
        """The figures of a query by its id (`str(stream.id)`), or of the only one there is."""
        with self._lock:
            if query_id is None:
                return next(iter(self._figures.values()), Figures())
            return self._figures.get(query_id, Figures())

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        with self._lock:
            self._figures.setdefault(str(event.id), Figures())

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        with self._lock:
            query_id = str(event.progress.id)
            self._figures[query_id] = figures_of(event.progress, self._figures.get(query_id, Figures()))

    def onQueryIdle(self, event: Any) -> None:
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        with self._lock:
            self._ended.add(str(event.runId))
            self._lock.notify_all()

    def wait_until_ended(self, run_id: str, seconds: float) -> bool:
        """Until every report of a run has come: Spark sends them later, and the one of its end last."""
        with self._lock:
            return self._lock.wait_for(lambda: run_id in self._ended, seconds)
