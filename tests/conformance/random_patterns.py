"""Random PATTERN and RETURN clauses.

A pattern is drawn around witness intervals, one per symbol, that satisfy every constraint: so it always
compiles, and where the witnesses are situations of the data it nearly always matches something.
"""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import strategies as st

from conformance.patterns import COMPARISONS
from oracles.relations import ALLEN, allen

Span = tuple[int, int]
Item = tuple[str, str, str | None]


@st.composite
def spans(draw: st.DrawFn) -> Span:
    ts = draw(st.integers(0, 6))
    return ts, ts + draw(st.integers(1, 5))


@st.composite
def patterns(draw: st.DrawFn, witness: dict[str, Span], followed: bool = True) -> str:
    """PATTERN text over a chain, star, clique or tree of the symbols; empty for one symbol."""
    symbols = tuple(witness)
    pairs = {
        "chain": list(pairwise(symbols)),
        "star": [(symbols[0], symbol) for symbol in symbols[1:]],
        "clique": list(combinations(symbols, 2)),
        "tree": [(symbols[draw(st.integers(0, i - 1))], symbols[i]) for i in range(1, len(symbols))],
    }[draw(st.sampled_from(["chain", "star", "clique", "tree"]))]
    return " AND ".join(draw(constraint(pair, witness, followed)) for pair in pairs)


@st.composite
def constraint(draw: st.DrawFn, pair: tuple[str, str], witness: dict[str, Span], followed: bool) -> str:
    """One constraint that the witnesses satisfy, by names or by endpoints, in either direction."""
    a, b = pair if draw(st.booleans()) else pair[::-1]
    if draw(st.integers(0, 5)) == 0:
        left, right = draw(st.tuples(st.integers(0, 1), st.integers(0, 1)))
        signs = [sign for sign, holds in COMPARISONS.items() if holds(witness[a][left], witness[b][right])]
        return f"{a}.{('ts', 'te')[left]} {draw(st.sampled_from(signs))} {b}.{('ts', 'te')[right]}"
    holding = allen(*witness[a], *witness[b])
    if followed and holding in ("before", "after") and draw(st.integers(0, 2)) == 0:
        holding = {"before": "followed-by", "after": "follows"}[holding]
    pool = [*ALLEN, "followed-by", "follows"] if followed else ALLEN
    others = draw(st.lists(st.sampled_from(pool), max_size=draw(st.sampled_from([0, 0, 3, 8]))))
    return f"{a} {';'.join(dict.fromkeys([*others, holding]))} {b}"


@st.composite
def return_items(
    draw: st.DrawFn, symbols: tuple[str, ...], aggregates: list[tuple[str, str | None]]
) -> tuple[Item, ...]:
    """Nothing (so RETURN is left out), or some aggregates beside every endpoint."""
    if draw(st.integers(0, 2)) == 0:
        return ()
    chosen = draw(
        st.lists(st.tuples(st.sampled_from(aggregates), st.sampled_from(symbols)), max_size=5, unique=True)
    )
    return star(symbols) + tuple((function, symbol, attribute) for (function, attribute), symbol in chosen)


def star(symbols: tuple[str, ...]) -> tuple[Item, ...]:
    return tuple((end, symbol, None) for symbol in symbols for end in ("ts", "te"))


def return_clause(items: tuple[Item, ...]) -> str:
    """RETURN with the columns r0, r1...; empty for no items."""

    def text(function: str, symbol: str, attribute: str | None) -> str:
        if function in ("ts", "te", "duration"):
            return f"{symbol}.{function}"
        if function == "value":
            return f"{symbol}.{attribute}"
        return f"{function}({symbol}.{attribute})" if attribute else f"{function}({symbol})"

    return "RETURN " + ", ".join(f"{text(*item)} AS r{i}" for i, item in enumerate(items)) if items else ""
