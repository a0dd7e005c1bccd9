"""One line for each step: what came in, what was looked at, what came out, what stays, how long it took.

Asked for by the environment (SITU_TRACE=1, also in Spark's workers) or by `op.trace()`; lines go to the
logger `situ.carry.trace`, and to standard error where the environment asks and nobody has set up logging.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from situ.carry.contract import Condensed, Emitted, Operator, Slice, Stepped, Works
from situ.rows.prepared import Prepared

_log = logging.getLogger(__name__)
Step = Callable[..., Stepped]


class Trace:
    """Steps an operator and tells of it; `carrier` is who asks."""

    def __init__(self, carrier: str) -> None:
        self._carrier = carrier
        _log.setLevel(logging.INFO)

    @classmethod
    def if_asked_for(cls, carrier: str) -> Trace | None:
        """A trace if SITU_TRACE is set, to anything but 0."""
        if os.environ.get("SITU_TRACE", "0") in ("", "0"):
            return None
        _show_on_standard_error()
        return cls(carrier)

    def step(
        self, operator: Operator, kept: Any, rows: Prepared, complete: int | None, *, at_end: bool = False
    ) -> Stepped:
        """A step, and its line."""
        touched = len(np.unique(rows.codes)) if rows.n_rows else 0
        return self._told(
            operator, kept, rows.n_rows, touched, lambda: operator.step(kept, rows, complete, at_end=at_end)
        )

    def step_condensed(
        self, operator: Any, kept: Any, condensed: Condensed, *, at_end: bool, complete: int | None = None
    ) -> Stepped:
        """A step of condensed rows, and its line."""
        n_rows = condensed.n_rows
        return self._told(
            operator,
            kept,
            int(n_rows.sum()),
            int((n_rows > 0).sum()),
            lambda: operator.step_condensed(kept, condensed, at_end=at_end, complete=complete),
        )

    def step_slice(self, operator: Any, one: Slice) -> Sequence[Emitted]:
        """The results of a slice, and its line."""
        return self._told(operator, None, None, 1, lambda: Stepped(None, operator.step_slice(one))).emitted

    def _told(
        self, operator: Operator, kept: Any, n_rows: int | None, touched: int, step: Callable[[], Stepped]
    ) -> Stepped:
        before = operator.work().n_candidates if isinstance(operator, Works) else 0
        began = time.perf_counter()
        stepped = step()
        ms = 1000 * (time.perf_counter() - began)
        figures: dict[str, Any] = {"rows": n_rows, "partitions": kept and kept.n_slots, "touched": touched}
        if isinstance(operator, Works):
            work = operator.work()
            figures |= {"plan": work.plan, "candidates": work.n_candidates - before}
        figures["results"] = sum(len(one.slot) for one in stepped.emitted)
        figures["late"] = 0 if stepped.late is None else int(stepped.late.sum())
        after = stepped.kept
        if after is not None and after is not kept:  # at the end nothing is kept
            figures |= {"kept": after.n_entries, "held": after.n_held}
        known = {name: value for name, value in figures.items() if value is not None}
        said = " ".join(f"{name}={value}" for name, value in known.items())
        _log.info("%s: %s ms=%.3f", self._carrier, said, ms)
        return stepped


def traced(operator: Operator, carrier: str) -> Step:
    """The operator's `step`, with a trace if SITU_TRACE asks for one."""
    trace = Trace.if_asked_for(carrier)
    return operator.step if trace is None else partial(trace.step, operator)


@cache
def _show_on_standard_error() -> None:
    """Where a user has set the variable and nothing else, the lines must be seen."""
    if not logging.getLogger().handlers and not logging.getLogger("situ").handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("situ trace %(message)s"))
        _log.addHandler(handler)
        _log.propagate = False
