"""Which NO groups are refused, against every arrangement on a few ticks and far from them (SEM 11.6)."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from algebra.brute import Interval, intervals
from situ.algebra.relations import NAMES, relation
from situ.errors import QueryError
from situ.language import query

EVENTS = "FROM t DEFINE A AS a, C AS c"
GIVEN = "FROM INTERVALS t STARTING s ENDING e DEFINE A AS a, C AS c"
NEAR = list(intervals(9))
FAR = 100

Said = list[tuple[str, object]]


@st.composite
def groups(draw: st.DrawFn) -> Said:
    """Sets of relations and bounds on differences of C's and A's endpoints."""
    names = st.sets(st.sampled_from(tuple(NAMES)[:13]), min_size=1, max_size=4).map(frozenset)
    said: Said = [("set", one) for one in draw(st.lists(names, max_size=2))]
    ends, signs = st.sampled_from(["ts", "te"]), st.sampled_from(["<", "<=", ">=", ">"])
    offset = st.sampled_from([-2, -1, 1, 2])
    said += [("bound", one) for one in draw(st.lists(st.tuples(ends, signs, ends, offset), max_size=2))]
    return said


def text_of(said: Said) -> str:
    parts = []
    for kind, one in said:
        if kind == "set":
            parts.append(f"C {';'.join(sorted(one))} A")
        else:
            x, sign, y, offset = one
            parts.append(f"C.{x} {sign} A.{y} {'-' if offset < 0 else '+'} {abs(offset)}")
    return f"NO ({' AND '.join(parts)})"


def fits(said: Said, c: Interval, a: Interval) -> bool:
    for kind, one in said:
        if kind == "set":
            if not any(NAMES[name] >> relation(*c, *a) & 1 for name in one):
                return False
        else:
            x, sign, y, offset = one
            left, right = c[x == "te"], a[y == "te"] + offset
            if not {"<": left < right, "<=": left <= right, ">=": left >= right, ">": left > right}[sign]:
                return False
    return True


def is_refused(text: str) -> bool:
    try:
        query(text)
    except QueryError:
        return True
    return False


@settings(max_examples=300, deadline=None)
@given(groups().filter(bool), st.booleans(), st.sampled_from([None, 3]))
def test_what_is_refused_is_never_certain_or_forbids_nothing(
    said: Said, is_given: bool, most: int | None
) -> None:
    length = "" if most is None else f" AT MOST {most}"
    refused = is_refused(f"{GIVEN if is_given else EVENTS}{length} PATTERN {text_of(said)}")
    usual = [(ts, te) for ts, te in NEAR if most is None or te - ts <= most]
    # A row of a given interval that is still to come has a late end and any start.
    starts = range(FAR) if is_given else ()
    late = [(ts, FAR) for ts in starts] + [(FAR, FAR + 1), (FAR, 2 * FAR)]
    late = [(ts, te) for ts, te in late if most is None or te - ts <= most]
    always_possible = any(fits(said, c, a) for c, a in product(late, NEAR))
    can_fit = always_possible or any(fits(said, c, a) for c, a in product(usual, NEAR))
    assert refused == (always_possible or not can_fit)
