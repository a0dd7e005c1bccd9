"""All matches over time, from what is known of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from situ.plotting.scene import Clock, Mark, Overview

_MAX_ROWS = 20  # partitions named in an overview, if no more have pictures
_BINS = 120


class Seen(NamedTuple):
    """A match: of which partition, from when on, when it was certain, and the picture that shows it."""

    title: str
    begin: int
    instant: int
    picture: int | None = None


def overview_of(seen: Sequence[Seen], n_counted: int, n_matches: int, clock: Clock) -> Overview | None:
    """All matches over time; None if there is none.

    The first `n_counted` are counted, behind them come those that have a picture and are not among them.
    """
    if not seen:
        return None
    begin, end = min(one.begin for one in seen), max(one.instant for one in seen) + 1
    instants = [one.instant for one in seen[:n_counted]]
    counts, _ = np.histogram(instants, bins=min(_BINS, max(10, n_counted)), range=(begin, end))
    pictured = [one for one in seen if one.picture is not None]
    names = [one.title for one in seen]
    position = {name: i for i, name in enumerate(_rows(names, {one.title for one in pictured}))}
    marks = tuple(
        Mark(position[one.title], one.begin, one.instant, one.picture)
        for one in seen
        if one.title in position
    )
    return Overview(
        title=f"{n_matches:,} match{'es' if n_matches != 1 else ''}",
        clock=clock,
        begin=begin,
        end=end,
        counts=tuple(counts.tolist()),
        rows=tuple(position),
        marks=marks,
        n_matches=n_matches,
        notes=_notes(len(pictured), n_counted, n_matches, marks, set(names) - set(position)),
    )


def _rows(names: Sequence[str], pictured: set[str]) -> list[str]:
    """The partitions that get a row: those with pictures, then those with most matches, the latter first."""
    often = [name for name, _ in Counter(names).most_common()]
    others = set([name for name in often if name not in pictured][: max(0, _MAX_ROWS - len(pictured))])
    return [name for name in often if name in pictured or name in others]


def _notes(
    n_drawn: int, n_found: int, n_matches: int, marks: Sequence[Mark], rowless: set[str]
) -> tuple[str, ...]:
    """What the marks of an overview are, and what it leaves out."""
    n_strokes = sum(mark.picture is None for mark in marks)
    notes = []
    if n_drawn:
        notes.append(
            "The numbered dot is the match with a picture."
            if n_drawn == 1
            else f"The numbered dots are the {n_drawn:,} matches with a picture."
        )
    if n_strokes:
        notes.append(
            "The stroke is a match without one."
            if n_strokes == 1
            else f"The {n_strokes:,} strokes are matches without one."
        )
    if rowless:
        notes.append(f"Without a row: {len(rowless):,} more partition{'s' if len(rowless) != 1 else ''}.")
    if n_found < n_matches:
        notes.append(f"Counted and marked are the first {n_found:,} of {n_matches:,} matches.")
    return tuple(notes)
