"""Random distances, words, NO groups, silences, gaps, HAVING and looks back (SEM 9 to 15).

Like all of a draft they are drawn before there are rows: what stands between positive symbols is written
around the witnesses (see random_patterns.py), so that it holds for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from conformance.features import ON
from conformance.patterns import WORDS
from conformance.random_patterns import Span, at_share, shares
from oracles.question import Gaps, Having, Row
from oracles.relations import ALLEN, allen

ENDS = ("ts", "te")
ABSENT = "XY"  # the names of absent symbols


def offset(endpoint: str, amount: int) -> str:
    return f"{endpoint} {'-' if amount < 0 else '+'} {abs(amount)}"


class Distance(NamedTuple):
    """A difference between endpoints of two symbols, as far as the witnesses do not decide it."""

    symbols: tuple[int, int]  # shares
    ends: tuple[int, int]
    form: str
    slack: tuple[int, int]  # by how much the witnesses are within the bounds; negative: they are not

    def written(self, witness: dict[str, Span]) -> str | None:
        a, b = two_of(tuple(witness), self.symbols)
        if a == b:
            return None
        x, y = (f"{symbol}.{ENDS[end]}" for symbol, end in zip((a, b), self.ends, strict=True))
        distance = witness[a][self.ends[0]] - witness[b][self.ends[1]]
        least, most = distance - self.slack[0], distance + self.slack[1]
        if self.form in ("<", "<="):
            return f"{x} {self.form} {offset(y, most + (self.form == '<'))}"
        if self.form in (">", ">="):
            return f"{offset(x, -least + (self.form == '>'))} {self.form} {y}"
        if 0 <= least <= most:
            return f"{x} - {y} BETWEEN {least} AND {most}"
        return f"{x} = {offset(y, distance)}"


def two_of(symbols: Sequence[str], chosen: tuple[int, int]) -> tuple[str, str]:
    """Two different ones where there are two."""
    first = at_share(symbols, chosen[0])
    others = [symbol for symbol in symbols if symbol != first] or list(symbols)
    return first, at_share(others, chosen[1])


class By(NamedTuple):
    """BY behind the relation that the witnesses have."""

    symbols: tuple[int, int]
    form: str
    slack: tuple[int, int]

    def written(self, witness: dict[str, Span]) -> str | None:
        a, b = two_of(tuple(witness), self.symbols)
        if a == b:
            return None
        name = allen(*witness[a], *witness[b])
        lengths = {
            "before": witness[b][0] - witness[a][1],
            "meets": 0,
            "overlaps": witness[a][1] - witness[b][0],
            "overlapped-by": witness[b][1] - witness[a][0],
            "met-by": 0,
            "after": witness[a][0] - witness[b][1],
        }
        if name not in lengths:
            common = min(witness[a][1], witness[b][1]) - max(witness[a][0], witness[b][0])
            return f"{a} while {b} BY AT LEAST {max(common - self.slack[0], 0)}"
        least, most = max(lengths[name] - self.slack[0], 0), lengths[name] + self.slack[1]
        bound = {"least": f"AT LEAST {least}", "most": f"AT MOST {most}"}.get(self.form)
        return f"{a} {name} {b} BY {bound or f'BETWEEN {least} AND {most}'}"


class Word(NamedTuple):
    """A word for a set that has the relation of the witnesses."""

    symbols: tuple[int, int]
    which: int

    def written(self, witness: dict[str, Span]) -> str | None:
        a, b = two_of(tuple(witness), self.symbols)
        if a == b:
            return None
        name = allen(*witness[a], *witness[b])
        fitting = [word for word, names in WORDS.items() if name in names]
        return f"{a} {at_share(fitting, self.which).replace('-', ' ')} {b}"


class Group(NamedTuple):
    """A NO group about one of the absent symbols."""

    absent: int
    sets: tuple[tuple[int, tuple[str, ...], bool], ...]  # to which positive (a share), relations, turned
    distances: tuple[tuple[int, tuple[int, int], str, int], ...]  # to which, ends, sign, bound
    bound: tuple[int, int]  # to which and by how much, where one is needed

    def written(self, positives: tuple[str, ...], are_given: bool) -> str:
        if len(positives) == 1:  # there the symbol behind NO is the absent one
            self = self._replace(sets=tuple((share, names, False) for share, names, _ in self.sets))
        c = ABSENT[self.absent]
        parts = []
        for share, names, is_turned in self.sets:
            p = at_share(positives, share)
            parts.append(f"{p} {';'.join(names)} {c}" if is_turned else f"{c} {';'.join(names)} {p}")
        for share, (c_end, p_end), sign, amount in self.distances:
            p = at_share(positives, share)
            parts.append(f"{c}.{ENDS[c_end]} {sign} {offset(f'{p}.{ENDS[p_end]}', amount)}")
        p, amount = at_share(positives, self.bound[0]), self.bound[1]
        if self.may_come_any_time(are_given):  # SEM 11.6, 11.8: else it could never be certain
            parts.append(f"{c}.{'te' if are_given else 'ts'} <= {p}.te + {amount}")
        if are_given and self.may_be_any_age():  # SEM 11.7: else a stream would keep everything
            parts.append(f"{c}.te >= {p}.ts - {amount}")
        return f"NO ({' AND '.join(parts)})" if len(parts) > 1 or "." in parts[0] else f"NO {parts[0]}"

    def of_absent(self) -> list[set[str]]:
        """The relations of each set, seen from the absent symbol."""
        return [
            {ALLEN[-1 - ALLEN.index(name)] if is_turned else name for name in names}
            for _, names, is_turned in self.sets
        ]

    def may_come_any_time(self, are_given: bool) -> bool:
        late = {"after"}
        if are_given:
            late |= {"met-by", "overlapped-by", "contains", "started-by"}
        return all(names & late for names in self.of_absent())

    def may_be_any_age(self) -> bool:
        return all("before" in names for names in self.of_absent())


class Back:
    """A condition that looks back: called with the row and the earlier ones."""

    def __init__(self, holds: Callable[[Row, list[Row]], bool | None]) -> None:
        self.holds = holds

    def __call__(self, row: Row, earlier: list[Row]) -> bool | None:
        return self.holds(row, earlier)


def at(earlier: list[Row], name: str, n: int = 1) -> Any:
    return earlier[-n][name] if len(earlier) >= n else None


def greater(x: Any, y: Any) -> bool | None:
    return None if x is None or y is None else x > y


BACKS = [
    ("x > prev(x)", Back(lambda row, earlier: greater(row["x"], at(earlier, "x")))),
    ("prev(a)", Back(lambda row, earlier: at(earlier, "a"))),
    ("prev(b, 2)", Back(lambda row, earlier: at(earlier, "b", 2))),
    ("prev(n, 3) IS NULL", Back(lambda row, earlier: at(earlier, "n", 3) is None)),
    (
        "c AND prev(n + 1) > 1",
        Back(lambda row, earlier: kleene_and(row["c"], greater_than_0(at(earlier, "n")))),
    ),
]


def greater_than_0(n: int | None) -> bool | None:
    return None if n is None else n > 0


def kleene_and(p: bool | None, q: bool | None) -> bool | None:
    return False if p is False or q is False else None if p is None or q is None else True


class Kept(NamedTuple):
    """HAVING about one or two symbols, by share."""

    symbols: tuple[int, int]
    form: int

    def about(self, positives: tuple[str, ...]) -> tuple[str, Having]:
        a, b = two_of(positives, self.symbols)
        forms = [
            (f"count({a}) > 1", (("count", a, None),), lambda n: n > 1),
            (f"first({a}.x) = first({b}.x)", (("first", a, "x"), ("first", b, "x")), equal),
            (f"last({a}.x) > 1", (("last", a, "x"),), lambda x: greater(x, 1)),
            (f"{a}.te IS NULL", (("te", a, None),), lambda te: te is None),
            (f"sum({a}.x) > 2", (("sum", a, "x"),), lambda x: greater(x, 2)),
            (f"count({a}) >= count({b})", (("count", a, None), ("count", b, None)), lambda m, n: m >= n),
        ]
        text, items, holds = forms[self.form % len(forms)]
        return text, Having(items, holds)


def equal(x: Any, y: Any) -> bool | None:
    return None if x is None or y is None else x == y


class Extras(NamedTuple):
    """Everything of SEM 9 to 15 that a draft may have beside the rest."""

    between: tuple[Distance | By | Word, ...] = ()
    groups: tuple[Group, ...] = ()
    silent: tuple[bool, ...] = ()  # of every positive symbol
    gaps: tuple[Gaps | None, ...] = ()
    backs: tuple[int | None, ...] = ()
    kept: Kept | None = None
    absent_gaps: Gaps | None = None
    absent_is_silent: bool = False

    def absent(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(ABSENT[group.absent] for group in self.groups))

    def written(self, pattern: str, witness: dict[str, Span], are_given: bool = False) -> str:
        parts = [pattern, *(one.written(witness) for one in self.between)]
        parts += [group.written(tuple(witness), are_given) for group in self.groups]
        return " AND ".join(filter(None, parts))


def ignoring(gaps: Gaps | None) -> str:
    if gaps is None:
        return ""
    return " IGNORING GAPS UP TO " + (f"{gaps.ticks}" if gaps.ticks else f"{gaps.events} EVENTS")


pairs = st.tuples(shares, shares)
slacks = st.tuples(st.sampled_from([0, 1, 3, 0, 2, -1]), st.sampled_from([0, 1, 3, 0, 2, -1]))
loose = st.tuples(st.sampled_from([0, 1, 3]), st.sampled_from([0, 1, 3]))
both_ends = st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1]))
distances = st.builds(Distance, pairs, both_ends, st.sampled_from(["<=", ">=", "between", "<", ">"]), slacks)
bys = st.builds(By, pairs, st.sampled_from(["most", "least", "between"]), loose)
words = st.builds(Word, pairs, shares)
set_names = st.lists(st.sampled_from([*ALLEN, *ALLEN[2:-2]]), min_size=1, max_size=4, unique=True).map(tuple)
sets = st.tuples(shares, set_names, st.sampled_from([False, False, True]))
group_distances = st.tuples(shares, both_ends, st.sampled_from(["<=", ">=", "<", ">"]), st.integers(-3, 6))
groups = st.builds(
    Group,
    absent=st.sampled_from([0, 0, 1]),
    sets=st.sampled_from([1, 1, 1, 2, 0]).flatmap(lambda n: st.tuples(*[sets] * n)),
    distances=st.sampled_from([0, 0, 1, 2]).flatmap(lambda n: st.tuples(*[group_distances] * n)),
    bound=st.tuples(shares, st.sampled_from([0, 1, 3, 5])),
)
some_gaps = st.sampled_from([Gaps(ticks=2), Gaps(ticks=1), Gaps(ticks=4), Gaps(events=1), Gaps(events=2)])


def seldom(feature: str, some: st.SearchStrategy[Any], otherwise: Any, one_in: int) -> st.SearchStrategy[Any]:
    """Drawn once in so many times, if the feature is on."""
    if feature not in ON:
        return st.just(otherwise)
    choices = [st.just(otherwise)] * (one_in - 1) + [some]
    return st.sampled_from(choices).flatmap(lambda chosen: chosen)


@cache
def extras(n_symbols: int, are_given: bool = False) -> st.SearchStrategy[Extras]:
    """Of given intervals what SEM 12, 14 and 15 refuse is left out."""
    of_pairs = [
        seldom(feature, st.tuples(some), (), 5 if n_symbols > 1 else 10**3)
        for feature, some in (("differences", distances), ("by", bys), ("words", words))
    ]
    negations = st.sampled_from([1, 1, 2]).flatmap(lambda n: st.tuples(*[groups] * n))
    absences = "absences of intervals" if are_given else "absences"

    def each(feature: str, some: st.SearchStrategy[Any], otherwise: Any) -> st.SearchStrategy[Any]:
        if are_given:
            return st.just((otherwise,) * n_symbols)
        return st.tuples(*[seldom(feature, some, otherwise, 5 * n_symbols)] * n_symbols)

    return st.builds(
        Extras,
        between=st.tuples(*of_pairs).map(lambda parts: sum(parts, ())),
        groups=seldom(absences, negations, (), 4),
        silent=each("silences", st.just(True), False),
        gaps=each("gaps", some_gaps, None),
        backs=each("prev", st.sampled_from(range(len(BACKS))), None),
        kept=seldom("having", st.builds(Kept, pairs, st.integers(0, 5)), None, 8),
        absent_gaps=st.none() if are_given else seldom("gaps", some_gaps, None, 8),
        absent_is_silent=st.just(False) if are_given else seldom("silences", st.just(True), False, 8),
    )
