"""situ's engine behind the same small interface as the baselines: batches of arrays in, matches counted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

import situ
from benchmarks.data import Events
from benchmarks.experiment import Watch
from situ.language.situations.binder import bind
from situ.operators.situations.engine import Engine, Input
from situ.operators.situations.input import attribute_states
from situ.operators.situations.judged import JudgedEngine, is_judged
from situ.operators.situations.kernels.layout import Rows
from situ.plan.plan import Planner
from situ.rows.schema import spark_schema


def engine_of(text: str, n_symbols: int, **options: object) -> Engine:
    """The compiled query over columns t, s0, s1, ..."""
    schema = pa.schema([("t", pa.int64()), *((f"s{i}", pa.bool_()) for i in range(n_symbols))])
    bound = bind(situ.query(text), spark_schema(schema))
    engine_type = JudgedEngine if is_judged(bound.query) else Engine
    return engine_type(bound, **options)  # type: ignore[arg-type]


class SituMatcher:
    """One partition, step by step."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.known = engine.nothing_known(1)

    def step(self, events: Events) -> int:
        """Take in a batch; the number of matches it completes (their endpoints are materialised)."""
        rows = Rows(events.time, events.mask, np.array([0, len(events.time)], np.int64))
        given = Input(rows, attribute_states(self.engine, {}, len(events.time)))
        found, self.known = self.engine.step(given, self.known)
        return len(found.instant)

    def derive(self, events: Events) -> int:
        """A step without its join: situations derived and kept, nothing matched."""
        rows = Rows(events.time, events.mask, np.array([0, len(events.time)], np.int64))
        given = Input(rows, attribute_states(self.engine, {}, len(events.time)))
        self.known = self.engine.keep(given, *self.engine.derive(rows, self.known), self.known)
        return 0


def with_order(engine: Engine, order: tuple[int, ...] | None) -> Engine:
    """The engine with a join order that does not change, or its own planner for None."""
    if order is not None:
        engine.planner = Planner(engine.spec.relations, join="range", order=order)
        engine._plan_changed()
    return engine


def visited(engine: Engine) -> int:
    """Candidates all joins have looked at so far."""
    return engine.n_visited + int(engine._work.visited.sum())


def feed(matcher: SituMatcher, batches: Iterable[Events], watch: Watch) -> tuple[int, int]:
    """Push all batches; only the matcher's own time is counted, not the generator's."""
    events = matches = 0
    for batch in batches:
        with watch:
            matches += matcher.step(batch)
        events += len(batch.time)
    return events, matches
