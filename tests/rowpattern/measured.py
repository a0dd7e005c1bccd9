"""Random matches over random rows, and every item of measures by brute force, row by row."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

VARIABLES = ("A", "B", "C", "D")
UNIONS = {"U": ("A", "C"), "W": ("B", "D")}
POSITIONS = (0, 1, 2, 0, 1, 3)  # the variable of each
EXCLUDED = (False, False, False, True, False, False)
LEADING = 5  # the position that only the first row of a match can have

Row = dict[str, Any]


class Divided(Exception):
    """By zero: what Spark refuses under ANSI."""


def _or_null(function: Callable[..., Any], *names: str) -> Callable[[Row], Any]:
    """Of these columns, null where one is."""
    return lambda row: None if any(row[n] is None for n in names) else function(*(row[n] for n in names))


def _quotient(x: int) -> float:
    if x == 0:
        raise Divided
    return 60 / x


# Expressions over one row as text, what they read, and what they are.
EXPRESSIONS: dict[str, tuple[tuple[str, ...], Callable[[Row], Any]]] = {
    "x": (("x",), lambda row: row["x"]),
    "f": (("f",), lambda row: row["f"]),
    "s": (("s",), lambda row: row["s"]),
    "b": (("b",), lambda row: row["b"]),
    "t": (("t",), lambda row: row["t"]),
    "x + t": (("x", "t"), _or_null(lambda x, t: x + t, "x", "t")),
    "x > 1": (("x",), _or_null(lambda x: x > 1, "x")),
    "COALESCE(x, 7)": (("x",), lambda row: 7 if row["x"] is None else row["x"]),
    "60 / x": (("x",), _or_null(_quotient, "x")),
    "_classifier": (("_classifier",), lambda row: row["_classifier"]),
    "CONCAT(_classifier, '!')": (("_classifier",), _or_null(lambda c: c + "!", "_classifier")),
}
NUMERIC = ("x", "f", "x + t", "COALESCE(x, 7)", "60 / x", "t")
TRUTHS = ("b", "x > 1")


@dataclass
class Match:
    """Rows by place, each with the position of the automaton that took it."""

    slot: int
    start: int
    rows: list[tuple[int, int]] = field(default_factory=list)
    number: int = 0
    instant: int | None = None


@dataclass
class Drawn:
    """Rows of all slots in order, and matches among them."""

    rows: list[Row]
    slot: list[int]
    matches: list[Match]
    unmatched: list[int]

    def history(self, slot: int) -> tuple[int, int]:
        """From its first row to the one behind its last."""
        places = [place for place, own in enumerate(self.slot) if own == slot]
        return places[0], places[-1] + 1


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    """Up to three partitions with a few rows each."""
    rows: list[Row] = []
    slots: list[int] = []
    for slot in range(draw(st.integers(1, 3))):
        for time in range(draw(st.integers(1, 7))):
            rows.append(
                {
                    "k": f"k{slot}",
                    "t": 10 * time + draw(st.integers(0, 9)),
                    "x": draw(st.none() | st.integers(-3, 3)),
                    "f": draw(st.none() | st.sampled_from([0.5, -1.25, 3.0, 1e9, 0.0])),
                    "s": draw(st.none() | st.sampled_from(["", "a", "b", "ab"])),
                    "b": draw(st.none() | st.booleans()),
                }
            )
            slots.append(slot)
    data = Drawn(rows, slots, [], [])
    for slot in sorted(set(slots)):
        low, high = data.history(slot)
        taken: set[int] = set()
        for number, start in enumerate(sorted(draw(st.sets(st.integers(low, high - 1), max_size=4))), 1):
            match = Match(slot, start, number=number, instant=draw(st.none() | st.integers(0, 90)))
            if draw(st.integers(0, 3)):
                places = sorted({start, *draw(st.sets(st.integers(start, high - 1), max_size=4))})
                others = st.integers(0, LEADING - 1)
                match.rows = [(place, draw(others)) for place in places]
                if draw(st.booleans()):
                    match.rows[0] = (places[0], LEADING)
            data.matches.append(match)
            taken |= {start, *(place for place, _ in match.rows)}
        data.unmatched += [place for place in range(low, high) if place not in taken]
    return data


@dataclass(frozen=True)
class Nav:
    """A navigation to be tried."""

    expression: str
    variable: str | None
    is_first: bool
    offset: int
    shift: int
    is_final: bool


@dataclass(frozen=True)
class Agg:
    """An aggregate to be tried."""

    function: str
    argument: str | None
    variable: str | None
    is_distinct: bool
    where: str | None
    is_final: bool
    more: tuple[str, ...] = ()


_variables = st.sampled_from([None, *VARIABLES, *UNIONS])
navigations = st.builds(
    Nav,
    st.sampled_from(list(EXPRESSIONS)),
    _variables,
    st.booleans(),
    st.integers(0, 2),
    st.integers(-2, 2),
    st.booleans(),
)
_FUNCTIONS: dict[str, Sequence[str]] = {
    "count": list(EXPRESSIONS),
    "min": [name for name in EXPRESSIONS],
    "max": [name for name in EXPRESSIONS],
    "array_agg": list(EXPRESSIONS),
    **dict.fromkeys(("sum", "avg", "stddev", "variance", "median", "percentile"), NUMERIC),
    **dict.fromkeys(("any", "every", "count_if"), TRUTHS),
}


@st.composite
def aggregates(draw: st.DrawFn) -> Agg:
    """Any function of something it can take."""
    function = draw(st.sampled_from(["count(*)", *_FUNCTIONS]))
    where = draw(st.none() | st.sampled_from([*TRUTHS, "60 / x > 0"]))
    variable, is_final = draw(_variables), draw(st.booleans())
    if function == "count(*)":
        return Agg("count", None, variable, False, where, is_final)
    more = ("0.25",) if function == "percentile" else ()
    argument = draw(st.sampled_from(_FUNCTIONS[function]))
    return Agg(function, argument, variable, draw(st.booleans()), where, is_final, more)


def _of(text: str, row: Row) -> Any:
    if text == "60 / x > 0":
        value = EXPRESSIONS["60 / x"][1](row)
        return None if value is None else value > 0
    return EXPRESSIONS[text][1](row)


def _members(variable: str | None) -> tuple[str, ...]:
    return VARIABLES if variable is None else UNIONS.get(variable, (variable,))


def name_at(match: Match, place: int) -> str | None:
    """The variable of a row of the match."""
    return next((VARIABLES[POSITIONS[position]] for own, position in match.rows if own == place), None)


def value_of(item: Nav | Agg | None, data: Drawn, match: Match, depth: int | None) -> Any:
    """An item's value for the row of output at this depth of the match; None: MATCH_NUMBER()."""
    if item is None:
        return match.number
    visible = match.rows if item.is_final or depth is None else match.rows[: depth + 1]
    own = [place for place, _ in visible if name_at(match, place) in _members(item.variable)]
    seen = [data.rows[place] | {"_classifier": name_at(match, place)} for place in own]
    if isinstance(item, Agg):
        return _aggregate(item, seen)
    if item.offset >= len(own):
        return None
    place = own[item.offset if item.is_first else -1 - item.offset] + item.shift
    low, high = data.history(match.slot)
    if not low <= place < high:
        return None
    return _of(item.expression, data.rows[place] | {"_classifier": name_at(match, place)})


def _aggregate(item: Agg, seen: list[Row]) -> Any:
    if item.where is not None:
        seen = [row for row in seen if _of(item.where, row)]
    if item.argument is None:
        return len(seen)
    values = [value for row in seen if (value := _of(item.argument, row)) is not None]
    if item.function == "count_if":
        values = [value for value in values if value]
    if item.is_distinct:
        values = list(dict.fromkeys(values))
    if item.function in ("count", "count_if"):
        return len(values)
    if item.function == "array_agg":
        return values
    if not values:
        return None
    return _TAKEN[item.function](values)


def _percentile(values: list[Any], fraction: float) -> float:
    ordered, at = sorted(values), (len(values) - 1) * fraction
    low, high = ordered[math.floor(at)], ordered[math.ceil(at)]
    return float(low + (at - math.floor(at)) * (high - low))


_TAKEN: dict[str, Callable[[list[Any]], Any]] = {
    "sum": math.fsum,
    "avg": lambda values: math.fsum(values) / len(values),
    "min": min,
    "max": max,
    "any": any,
    "every": all,
    "stddev": lambda values: statistics.stdev(values) if len(values) > 1 else None,
    "variance": lambda values: statistics.variance(values) if len(values) > 1 else None,
    "median": lambda values: _percentile(values, 0.5),
    "percentile": lambda values: _percentile(values, 0.25),
}


def rows_of_output(data: Drawn, rows: str, empty: str) -> list[tuple[Match | None, int | None, int]]:
    """Each row of output: its match, its depth in it (None: an empty one), and its row of the input."""
    found: list[tuple[Match | None, int | None, int]] = []
    for match in data.matches:
        if rows == "one":
            found.append((match, len(match.rows) - 1 if match.rows else None, match.start))
        elif not match.rows and empty != "omit":
            found.append((match, None, match.start))
        else:
            found += [
                (match, depth, place)
                for depth, (place, position) in enumerate(match.rows)
                if not EXCLUDED[position]
            ]
    if rows == "all" and empty == "unmatched":
        found += [(None, None, place) for place in data.unmatched]
    return found
