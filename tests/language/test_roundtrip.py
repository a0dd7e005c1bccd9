"""Printing and parsing are inverse, for every query."""

from __future__ import annotations

import pickle

from hypothesis import given, note

from language.strategies import query_texts
from situ.language import query


@given(query_texts())
def test_canonical_text_parses_back_to_an_equal_query(text: str) -> None:
    parsed = query(text)
    note(str(parsed))
    again = query(str(parsed))
    assert again == parsed
    assert hash(again) == hash(parsed)
    assert str(again) == str(parsed)


@given(query_texts())
def test_a_query_survives_pickling(text: str) -> None:
    parsed = query(text)
    restored = pickle.loads(pickle.dumps(parsed))
    assert restored == parsed
    assert [symbol.condition and symbol.condition.columns for symbol in restored.symbols] == [
        symbol.condition and symbol.condition.columns for symbol in parsed.symbols
    ]
