"""What is kept, drawn in text: a bar for each thing, over time, partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import pyarrow as pa

from situ.carry.contract import Span
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.keys import shown
from situ.rows.needs import Needs
from situ.rows.prepared import Positions
from situ.rows.schema import time_text

MOST_PARTITIONS, MOST_SPANS = 20, 40  # of a drawing: people look at it
_WIDTH = 50


def drawn(
    spans: Iterable[Span],
    horizon: Positions,
    keys: Sequence[pa.Array],
    needs: Needs,
    n_waiting: int,
    most: int = MOST_PARTITIONS,
) -> str:
    """The drawing, of so many partitions; `horizon` and `keys` are those of every slot."""
    several = sorted(spans, key=lambda span: (span.slot, span.begin, span.label))
    by_slot = {slot: list(own) for slot, own in groupby(several, key=lambda span: span.slot)}
    partitions = "partition" if len(horizon) == 1 else "partitions"
    lines = [f"{len(several):,} kept in {len(horizon):,} {partitions}, {n_waiting:,} rows waiting"]
    for slot in range(min(len(horizon), most)):
        lines += ["", *_partition(slot, by_slot.get(slot, []), int(horizon[slot]), keys, needs.time.told)]
    if len(horizon) > most:
        left = len(horizon) - most
        lines += ["", f"... and {left:,} more {'partition' if left == 1 else 'partitions'}"]
    return "\n".join(lines)


def _partition(
    slot: int, spans: Sequence[Span], horizon: int, keys: Sequence[pa.Array], time_type: str
) -> list[str]:
    named = ", ".join(str(shown(column[slot])) for column in keys)
    is_new = horizon == LONG_AGO
    reached = "nothing processed" if is_new else f"processed up to {time_text(horizon, time_type)}"
    lines = [f"{named or 'all events'}: {reached}"]
    if not spans:
        return [*lines, "  nothing kept"]
    begin = min(span.begin for span in spans)
    end = max([horizon, *(span.end or span.begin for span in spans)])
    width = max(len(span.label) for span in spans)
    for span in spans[:MOST_SPANS]:
        until = "goes on" if span.end is None else time_text(span.end, time_type)
        since = time_text(span.begin, time_type)
        lines.append(f"  {span.label:<{width}} |{_bar(span, begin, end)}| {since} to {until}")
    if len(spans) > MOST_SPANS:
        lines.append(f"  ... and {len(spans) - MOST_SPANS:,} more")
    return lines


def _bar(span: Span, begin: int, end: int) -> str:
    """`[---)` where it lies between begin and end; an open one ends in `>`.

    >>> _bar(Span(0, "A", 0, 50), 0, 100).rstrip()
    '[-----------------------)'
    >>> _bar(Span(0, "A", 50, None), 0, 100).strip()
    '[----------------------->'
    """
    scale = _WIDTH / max(1, end - begin)
    first = min(_WIDTH - 2, int((span.begin - begin) * scale))
    last = _WIDTH if span.end is None else int((span.end - begin) * scale)
    last = min(_WIDTH, max(first + 2, last))
    closed = ">" if span.end is None else ")"
    return (" " * first + "[" + "-" * (last - first - 2) + closed).ljust(_WIDTH)
