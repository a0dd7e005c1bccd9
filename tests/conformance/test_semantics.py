"""What docs/semantics claims about itself, held against the oracles' definitions."""

from __future__ import annotations

from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from oracles.derive import Situation
from oracles.match import detection_instant, final_instant, matches
from oracles.question import Question
from oracles.relations import ALLEN, allen, atoms

PREFIX_GROUPS = (
    {"overlaps", "finished-by", "contains"},
    {"starts", "equals", "started-by"},
    {"during", "finishes", "overlapped-by"},
)
INSTANTS = range(9)
SPANS = [(ts, te) for ts, te in product(range(7), repeat=2) if ts < te]

spans = st.sampled_from(SPANS)
relation_sets = st.sets(st.sampled_from(ALLEN))


def situation(span: tuple[int, int]) -> Situation:
    return Situation(*span, admissible=span[0], events=())


def question(constraints: dict[tuple[str, str], frozenset[str]], **other: object) -> Question:
    symbols = tuple(dict.fromkeys(symbol for pair in constraints for symbol in pair))
    return Question(symbols, dict.fromkeys(symbols, lambda _: False), constraints, **other)


def closed_form(a: Situation, b: Situation, allowed: set[str]) -> int:
    """The two lines of SEM 4.2."""
    groups = {True: PREFIX_GROUPS[0] if a.ts < b.ts else PREFIX_GROUPS[2], False: PREFIX_GROUPS[1]}
    if a.te <= b.ts or b.te <= a.ts or groups[a.ts != b.ts] <= allowed:
        return max(a.ts, b.ts)
    return min(a.te, b.te)


@given(spans, spans, relation_sets)
def test_the_rule_for_the_earliest_instant_is_what_certainty_means(x, y, others) -> None:
    a, b = situation(x), situation(y)
    allowed = others | {allen(*x, *y)}
    asked = question({("A", "B"): frozenset(allowed)})
    assert detection_instant(asked, {"A": a, "B": b}, INSTANTS, []) == closed_form(a, b, allowed)


@given(spans, spans, relation_sets)
def test_a_constraint_that_does_not_hold_is_never_certain(x, y, others) -> None:
    asked = question({("A", "B"): frozenset(others - {allen(*x, *y)})})
    assert detection_instant(asked, {"A": situation(x), "B": situation(y)}, INSTANTS, []) is None


@given(spans, spans, spans, st.tuples(relation_sets, relation_sets, relation_sets), st.sampled_from([2, 3]))
def test_sets_without_what_cannot_hold_are_certain_at_the_same_instant(x, y, z, others, n_written) -> None:
    """SEM 3.5, with the smallest sets there are: the relations that occur in some solution of the pattern."""
    chosen = dict(zip("ABC", (x, y, z), strict=True))
    written = {
        (a, b): frozenset(more | {allen(*chosen[a], *chosen[b])})
        for (a, b), more in zip(combinations("ABC", 2), others, strict=True)
    }
    written = dict(list(written.items())[:n_written])  # two of them leave B and C unconstrained
    configuration = {symbol: situation(span) for symbol, span in chosen.items()}
    td = detection_instant(question(written), configuration, INSTANTS, [])
    assert td == detection_instant(question(smallest(written)), configuration, INSTANTS, [])


def smallest(written: dict[tuple[str, str], frozenset[str]]) -> dict[tuple[str, str], frozenset[str]]:
    """For every pair of three symbols, the relations it has in some solution.

    Three intervals have six endpoints, so six instants give every order of them.
    """
    six = [(ts, te) for ts, te in product(range(6), repeat=2) if ts < te]
    found: dict[tuple[str, str], set[str]] = {pair: set() for pair in combinations("ABC", 2)}
    for spans_of in (dict(zip("ABC", triple, strict=True)) for triple in product(six, repeat=3)):
        names = {(a, b): allen(*spans_of[a], *spans_of[b]) for a, b in found}
        if all(names[pair] in allowed for pair, allowed in written.items()):
            for pair, name in names.items():
                found[pair].add(name)
    return {pair: frozenset(names) for pair, names in found.items()}


@given(
    st.lists(spans, min_size=1, max_size=4),
    st.lists(spans, min_size=1, max_size=4),
    relation_sets,
    st.integers(0, 8),
)
def test_every_final_match_is_an_early_match(xs, ys, names, within) -> None:
    """SEM 4.5."""
    situations = {"A": list(map(situation, xs)), "B": list(map(situation, ys))}

    def found(emit: str) -> list[dict[str, Situation]]:
        asked = question({("A", "B"): frozenset(names)}, within=within, emit=emit)
        return [chosen for chosen, _ in matches(asked, situations, INSTANTS, [])]

    early = found("EARLY")
    assert all(chosen in early for chosen in found("FINAL"))


def test_before_and_after_stand_for_two_atoms_each() -> None:
    """SEM 3.4: intersecting with followed-by leaves followed-by."""
    assert atoms({"before"}) & atoms({"followed-by"}) == {"followed-by"}
    assert atoms({"after"}) & atoms({"follows"}) == {"follows"}
    assert len(atoms({*ALLEN, "followed-by", "follows"})) == 15


def test_the_final_instant_needs_every_end() -> None:
    closed, still_open = situation((1, 3)), Situation(2, None, 2, ())
    assert final_instant({"A": closed}) == 3
    assert final_instant({"A": closed, "B": still_open}) is None
