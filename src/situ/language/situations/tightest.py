"""Of several bounds only the tightest (SEM 9.4): of differences on two endpoints, and of lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from situ.errors import InconsistentPatternError
from situ.language.situations.ast import Difference, Endpoint, Symbol
from situ.language.situations.draft import Distance, Length
from situ.language.text.durations import duration_text
from situ.language.text.words import quote


def tightest(written: Iterable[Distance], order: dict[str, int]) -> tuple[Difference, ...]:
    """One difference for each two endpoints, in the order of symbols, ts before te."""

    def place_of(endpoint: Endpoint) -> tuple[int, bool]:
        return order[endpoint.symbol], endpoint.end == "te"

    kept: dict[tuple[Endpoint, Endpoint], Difference] = {}
    for one, _ in written:
        other = kept.setdefault((one.left, one.right), one)
        if (one.bound.value, not one.is_strict) < (other.bound.value, not other.is_strict):
            kept[one.left, one.right] = one
    return tuple(sorted(kept.values(), key=lambda one: (place_of(one.left), place_of(one.right))))


def with_lengths(symbols: Sequence[Symbol], lengths: Iterable[Length]) -> tuple[Symbol, ...]:
    """The symbols, with what PATTERN says of how long they last; of DEFINE's bounds the tighter stay."""
    by_name = {symbol.name: symbol for symbol in symbols}
    for name, low, high, place in lengths:
        symbol = by_name[name]
        least, most = symbol.at_least, symbol.at_most
        if low is not None and (least is None or least.value < low.value):
            least = low
        if high is not None and (most is None or most.value > high.value):
            most = high
        if least is not None and most is not None and least.value > most.value:
            raise place.error(
                InconsistentPatternError,
                f"no {name} can last for at least {duration_text(least)} and at most {duration_text(most)}",
                hint=f"change this, or the length of {quote(name)} in DEFINE",
            )
        by_name[name] = replace(symbol, at_least=least, at_most=most)
    return tuple(by_name[symbol.name] for symbol in symbols)
