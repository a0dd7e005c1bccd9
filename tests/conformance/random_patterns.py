"""Random PATTERN and RETURN clauses.

A pattern is written around witness intervals, one per symbol, that satisfy every constraint: so it always
compiles, and where the witnesses are situations of the data it nearly always matches something. What is
drawn does not depend on the witnesses: when a row is taken from an example, the rest of it stays as drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise, product
from typing import NamedTuple, TypeVar

from hypothesis import strategies as st

from conformance.patterns import COMPARISONS
from oracles.relations import ALLEN, allen

Span = tuple[int, int]
Item = tuple[str, str, str | None]
T = TypeVar("T")

WHOLE = 1000
shares = st.sampled_from(range(WHOLE))  # how far into a list that is not known yet, in thousandths
spans = st.sampled_from([(ts, ts + length) for ts in range(7) for length in range(1, 6)])


def at_share(items: Sequence[T], share: int) -> T:
    """The item that is this far into the list: items taken from elsewhere in it change little."""
    return items[share * len(items) // WHOLE]


class Form(NamedTuple):
    """How a constraint between two symbols is written."""

    by_endpoints: bool
    is_turned: bool  # B to A rather than A to B
    follows: bool  # `followed-by` rather than `before`
    ends: tuple[int, int]  # ts (0) or te (1) of each, in endpoint form
    sign: int  # which of the two or three comparisons that hold


# What varies fastest is drawn evenly: Hypothesis prefers the beginning of a list.
FORMS = [
    Form(by_endpoints, is_turned, follows, ends, sign)
    for sign, ends, follows, is_turned, by_endpoints in product(
        range(6), product([0, 1], repeat=2), [False, False, True], [False, True], [False] * 3 + [True]
    )
]
Link = tuple[Form, list[str]]  # a constraint but for what the witnesses decide: other relations allowed


def link(followed: bool) -> st.SearchStrategy[Link]:
    names = st.sampled_from([*ALLEN, "followed-by", "follows"] if followed else ALLEN)
    few = {size: st.lists(names, max_size=size) for size in (0, 3, 8)}
    forms = [form for form in FORMS if followed or not form.follows]
    return st.tuples(st.sampled_from(forms), st.sampled_from([0, 0, 3, 8]).flatmap(few.__getitem__))


LINKS = {followed: link(followed) for followed in (True, False)}


class Network(NamedTuple):
    """Constraints over a chain, star, clique or tree of the symbols."""

    shape: str
    earlier: list[int]  # in a tree: which of the symbols before it one is joined to, as a share
    links: list[Link]

    def pairs(self, symbols: tuple[str, ...]) -> list[tuple[str, str]]:
        if self.shape == "chain":
            return list(pairwise(symbols))
        if self.shape == "star":
            return [(symbols[0], symbol) for symbol in symbols[1:]]
        if self.shape == "clique":
            return list(combinations(symbols, 2))
        return [(at_share(symbols[:i], self.earlier[i]), symbols[i]) for i in range(1, len(symbols))]

    def written(self, witness: dict[str, Span], may_follow: bool = True) -> str:
        """PATTERN without its keyword, such that the witnesses satisfy it; empty for one symbol."""
        pairs = self.pairs(tuple(witness))
        return " AND ".join(
            constraint(link, *pair, witness, may_follow) for link, pair in zip(self.links, pairs, strict=True)
        )


@cache
def networks(n_symbols: int, followed: bool = True) -> st.SearchStrategy[Network]:
    """As many links as the shape needs for so many symbols."""
    n_links = {"chain": n_symbols - 1, "star": n_symbols - 1, "clique": n_symbols * (n_symbols - 1) // 2}

    def of_shape(shape: str) -> st.SearchStrategy[Network]:
        n = n_links.get(shape, n_symbols - 1)
        return st.builds(
            Network,
            shape=st.just(shape),
            earlier=st.tuples(*[shares] * (n_symbols if shape == "tree" else 0)),
            links=st.tuples(*[LINKS[followed]] * n),
        )

    shapes = {shape: of_shape(shape) for shape in ("chain", "star", "clique", "tree")}
    return st.sampled_from(list(shapes)).flatmap(shapes.__getitem__)


def constraint(link: Link, first: str, second: str, witness: dict[str, Span], may_follow: bool = True) -> str:
    """By names or by endpoints, in either direction."""
    form, others = link
    if not may_follow:
        form = form._replace(follows=False)
        others = [{"followed-by": "before", "follows": "after"}.get(name, name) for name in others]
    a, b = (second, first) if form.is_turned else (first, second)
    if form.by_endpoints:
        left, right = form.ends
        signs = [sign for sign, holds in COMPARISONS.items() if holds(witness[a][left], witness[b][right])]
        return f"{a}.{('ts', 'te')[left]} {signs[form.sign % len(signs)]} {b}.{('ts', 'te')[right]}"
    holding = allen(*witness[a], *witness[b])
    if form.follows:
        holding = {"before": "followed-by", "after": "follows"}.get(holding, holding)
    return f"{a} {';'.join(dict.fromkeys([*others, holding]))} {b}"


def some_items(
    symbols: tuple[str, ...], aggregates: Sequence[tuple[str, str | None]]
) -> st.SearchStrategy[tuple[Item, ...]]:
    """Nothing (so RETURN is left out), or some aggregates beside every endpoint."""
    pairs = st.tuples(st.sampled_from(aggregates), st.sampled_from(symbols))
    items = st.lists(pairs, max_size=5, unique=True).map(
        lambda chosen: star(symbols) + tuple((name, symbol, column) for (name, column), symbol in chosen)
    )
    return st.sampled_from([st.just(()), items, items]).flatmap(lambda chosen: chosen)


def star(symbols: tuple[str, ...]) -> tuple[Item, ...]:
    return tuple((end, symbol, None) for symbol in symbols for end in ("ts", "te"))


def return_clause(items: tuple[Item, ...]) -> str:
    """RETURN with the columns r0, r1...; empty for no items."""

    def text(function: str, symbol: str, attribute: str | None) -> str:
        if function in ("ts", "te", "duration"):
            return f"{symbol}.{function}"
        if function == "value":
            return f"{symbol}.{attribute}"
        function, _, fraction = function.partition(" ")
        behind = f", {fraction}" if fraction else ""
        return f"{function}({symbol}.{attribute}{behind})" if attribute else f"{function}({symbol})"

    return "RETURN " + ", ".join(f"{text(*item)} AS r{i}" for i, item in enumerate(items)) if items else ""
