"""What a picture shows, as plain data: nothing here knows how it is drawn."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# Okabe and Ito's palette without its yellow, which is too light for lines: told apart by every kind of sight.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")


def colour_of(position: int) -> str:
    """The colour of the symbol at a position; after seven they repeat, so symbols are always named too."""
    return PALETTE[position % len(PALETTE)]


@dataclass(frozen=True)
class Clock:
    """How ticks are told: microseconds since the epoch, in a zone if they have one, or plain integers."""

    is_time: bool
    zone: str | None = None


@dataclass(frozen=True)
class Bar:
    """A situation; `te` is None while it is open. `level` keeps overlapping ones of a lane apart."""

    ts: int
    te: int | None
    role: str  # "match": part of the match, "other": could be, "refused": lasts too short or too long
    level: int = 0


@dataclass(frozen=True)
class Lane:
    """The situations of one symbol, or the rows of one variable."""

    symbol: str
    label: str
    colour: str
    bars: tuple[Bar, ...]
    rows: tuple[int, ...] = ()  # of a row pattern: the instants of the rows that its variable has taken

    @property
    def n_levels(self) -> int:
        """How many bars lie above each other at the most."""
        return 1 + max((bar.level for bar in self.bars), default=0)


@dataclass(frozen=True)
class Threshold:
    """A number that a condition compares a column with."""

    value: float
    label: str
    colour: str


@dataclass(frozen=True)
class Point:
    """A row of a match on a curve."""

    time: int
    value: float
    symbol: str


@dataclass(frozen=True)
class Curve:
    """A column over time, and the thresholds the conditions set for it."""

    name: str
    times: tuple[int, ...]
    values: tuple[float | None, ...]
    thresholds: tuple[Threshold, ...]
    symbols: tuple[str, ...]  # whose conditions read the column
    points: tuple[Point, ...] = ()
    is_stepped: bool = True  # does a value hold until the next one, as situations last; else rows are joined


@dataclass(frozen=True)
class Scene:
    """One match: its situations among the others, the curves behind them, and when it was certain."""

    title: str
    facts: tuple[tuple[str, str], ...]  # RETURN names and values
    clock: Clock
    begin: int  # the stretch of time shown
    end: int
    instant: int | None  # match_time; None where only the end of the input decided
    lanes: tuple[Lane, ...]
    curves: tuple[Curve, ...]

    def to_data(self) -> dict[str, Any]:
        """Lists, numbers and text only."""
        return asdict(self)


@dataclass(frozen=True)
class Mark:
    """A match in an overview: its first start, when it was certain, and the picture that shows it, if any."""

    row: int
    begin: int
    instant: int
    picture: int | None = None


@dataclass(frozen=True)
class Overview:
    """All matches over time: how many when, and whose."""

    title: str
    clock: Clock
    begin: int
    end: int
    counts: tuple[int, ...]  # matches in each of equal stretches from begin to end
    rows: tuple[str, ...]  # partitions with most matches, and all whose matches have a picture
    marks: tuple[Mark, ...]
    n_matches: int
    notes: tuple[str, ...] = ()  # what the marks are, and what is left out

    def to_data(self) -> dict[str, Any]:
        """Lists, numbers and text only."""
        return asdict(self)
