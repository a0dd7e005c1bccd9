"""One partition matched in parallel where matches wait: slices of time, each with what is known before it.

What waits may reach back further than any overlap of rows. So situations are derived once, slice after slice
as in a stream, which is little work; the joins are what slices do in parallel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from situ.aggregate import AggregateSpec
from situ.operators.situations.condensed import CondensedEvents
from situ.operators.situations.judged import JudgedEngine
from situ.operators.situations.known import Known
from situ.operators.situations.saved import write_known
from situ.operators.situations.slices import borders_of
from situ.saved.codec import Writer


class JudgedSlice(NamedTuple):
    """Rows of one slice, and what is known before them."""

    condensed: CondensedEvents
    kept: Known
    complete: int | None  # as in a step: of the last slice, time goes on behind the rows (SEM 11.9)
    aggregates: tuple[AggregateSpec, ...]

    def write(self, writer: Writer) -> None:
        """Add it to a piece."""
        writer.array(np.array([] if self.complete is None else [self.complete], np.int64))
        write_known(writer, self.kept, self.aggregates)
        self.condensed.write(writer)


def judged_slices_of(
    engine: JudgedEngine, whole: CondensedEvents, wanted: int, least: int, complete: int | None
) -> Iterator[JudgedSlice]:
    """At most `wanted` slices with about equally much to do."""
    borders = borders_of(whole.rows.time, int(engine.spec.within), wanted, least)
    sliced = whole._replace(rows=whole.rows._replace(offset=borders))
    kept = engine.nothing_known(1)
    *before, last = sliced.cut(np.arange(len(borders)))
    for part in before:
        yield JudgedSlice(part, kept, None, engine.aggregates)
        events, begun = engine.begun(part.expanded(engine), kept, None)
        kept = engine.keep_begun(events, begun, kept)
    yield JudgedSlice(last, kept, complete, engine.aggregates)
