"""Printing and parsing are inverse for row patterns, and out of others come errors of ours alone."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import situ
from language.mutations import WORDS
from language.rows.strategies import row_texts
from situ.errors import NestingError, QueryError

OWN_WORDS = """
    MATCH_RECOGNIZE MEASURES ONE ALL ROW ROWS PER MATCH AFTER SKIP TO NEXT PAST LAST FIRST PREV RUNNING FINAL
    STRATEGY TILL ANY MAXIMAL INCREMENTAL SUBSET PERMUTE {- -} {2,3} {0} ^ $ *? CLASSIFIER() MATCH_NUMBER()
    A.* count(*) FILTER (WHERE A.x LAST(A.x, 1) PREV(
"""
ROW_WORDS = [*WORDS, *OWN_WORDS.split()]


@given(row_texts())
def test_canonical_text_parses_back_to_an_equal_query(text: str) -> None:
    parsed = situ.query(text)
    note(str(parsed))
    again = situ.query(str(parsed))
    assert again == parsed
    assert hash(again) == hash(parsed)
    assert str(again) == str(parsed)
    assert pickle.loads(pickle.dumps(parsed)) == parsed
    assert parsed._repr_html_()


@st.composite
def broken_texts(draw: st.DrawFn) -> str:
    """The text of a row pattern with a few of its parts removed, doubled, swapped or replaced."""
    parts = draw(row_texts()).split(" ")
    for _ in range(draw(st.integers(1, 3))):
        position, other = draw(st.integers(0, len(parts) - 1)), draw(st.integers(0, len(parts) - 1))
        action = draw(st.integers(0, 3))
        if action == 0 and len(parts) > 1:
            del parts[position]
        elif action == 1:
            parts.insert(position, draw(st.sampled_from(ROW_WORDS)))
        elif action == 2:
            parts[position], parts[other] = parts[other], parts[position]
        else:
            parts[position] = draw(st.sampled_from(ROW_WORDS))
    return " ".join(parts)


soups = st.lists(st.sampled_from(ROW_WORDS), max_size=30).map(" ".join)


@given(
    st.one_of(
        broken_texts(),
        soups.map(lambda soup: f"FROM t MATCH_RECOGNIZE ({soup})"),
        soups.map(lambda soup: f"FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN ({soup}))"),
        soups.map(lambda soup: f"FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) DEFINE A AS {soup})"),
        soups.map(lambda soup: f"FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES {soup} AS m PATTERN (A B))"),
    )
)
def test_broken_texts(text: str) -> None:
    try:
        parsed = situ.query(text)
    except QueryError as error:
        refusal = error
    else:
        assert situ.query(str(parsed)) == parsed
        return
    assert type(refusal) is not QueryError
    assert refusal.message in str(refusal)


def test_deep_patterns_are_read_and_deeper_ones_refused() -> None:
    def nested(depth: int) -> str:
        return f"FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN ({'(' * depth}A{')*' * depth}))"

    parsed = situ.query(nested(49))
    assert situ.query(str(parsed)) == parsed
    with pytest.raises(NestingError):
        situ.query(nested(51))
    with pytest.raises(NestingError):
        situ.query(nested(10_000))
