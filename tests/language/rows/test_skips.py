"""Which SKIP TO can never go on is told from the pattern alone: held against all words it has (ROW 4.9)."""

from __future__ import annotations

from itertools import permutations, product

from hypothesis import given
from hypothesis import strategies as st

from situ.language.rows.ast import (
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)
from situ.language.rows.skips import always_at_first_row

Words = set[tuple[str, ...]]
MOST_REPEATED = 4
LONGEST = 6

leaves = st.one_of(
    st.sampled_from("ABC").map(Variable), st.just(Empty()), st.booleans().map(lambda start: Anchor(start))
)


def _larger(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    bounds = st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (0, 3), (2, None), (3, 4), (1, 1)])
    return st.one_of(
        several.map(Concatenation),
        several.map(Alternation),
        several.map(Permutation),
        inner.map(Exclusion),
        st.builds(lambda body, bound: Repetition(body, *bound), inner, bounds),
    )


patterns = st.recursive(leaves, _larger, max_leaves=6)


def words(pattern: Pattern) -> Words:
    """The words of a pattern, as far as they are short and repeat few times."""
    match pattern:
        case Variable(name):
            return {(name,)}
        case Concatenation(parts):
            return joined([words(part) for part in parts])
        case Alternation(choices):
            return set().union(*map(words, choices))
        case Permutation(parts):
            return set().union(*(joined([words(part) for part in order]) for order in permutations(parts)))
        case Exclusion(body):
            return words(body)
        case Repetition(body, least, most):
            once = words(body)
            highest = MOST_REPEATED if most is None else most
            return set().union(*(joined([once] * number) for number in range(least, highest + 1)))
        case _:
            return {()}


def joined(parts: list[Words]) -> Words:
    whole: Words = {()}
    for part in parts:
        whole = {left + right for left, right in product(whole, part)}
        # long words tell nothing new, but those that are short must all be there
        whole = {word for word in whole if len(word) <= LONGEST} or {min(whole, key=len)}
    return whole


@given(patterns, st.sets(st.sampled_from("ABC"), min_size=1, max_size=2), st.booleans())
def test_it_is_told_from_the_words(pattern: Pattern, members: set[str], is_first: bool) -> None:
    def leads_on(word: tuple[str, ...]) -> bool:
        places = [place for place, name in enumerate(word) if name in members]
        return bool(places) and (places[0] if is_first else places[-1]) > 0

    expected = not any(map(leads_on, words(pattern)))
    assert always_at_first_row(pattern, frozenset(members), is_first) == expected
