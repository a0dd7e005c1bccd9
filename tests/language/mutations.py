"""Ways to break a query text."""

from __future__ import annotations

from hypothesis import strategies as st

from language.strategies import query_texts


def _words(listed: str) -> list[str]:
    return listed.split(" ")


WORDS = [
    *_words("FROM WHERE ORDER BY PARTITION DEFINE AS AT LEAST MOST BETWEEN AND PATTERN WITHIN EMIT RETURN"),
    *_words(
        "INTERVALS SYMBOL STARTING ENDING ID NOT OR IN IS NULL LIKE CASE WHEN THEN END INTERVAL DISTINCT"
    ),
    *_words(
        "SELECT OVER A B ts te before meets overlapped by speed count avg rand 5 5s 1.5e3 1e999999999 .5"
    ),
    *_words("( ) [ ] , ; . < <= = -> => :: - -- /* */ ' \" ` ? @ : * % ~ ! | || & \\ # $ { } > >>"),
    *_words("array< struct<a: 'a' `b` r' X'1' \u00e9 \u901f \x00 \ud800 \u200b \n \t"),
]


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """A valid query with a few of its parts removed, doubled, swapped or replaced."""
    parts = draw(query_texts()).split(" ")
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, len(parts) - 1))
        action = draw(st.integers(0, 4))
        if action == 0:
            del parts[position : position + draw(st.integers(1, 3))]
        elif action == 1:
            parts.insert(position, draw(st.sampled_from(WORDS)))
        elif action == 2:
            parts[position] = draw(st.sampled_from(WORDS))
        elif action == 3:
            other = draw(st.integers(0, len(parts) - 1))
            parts[position], parts[other] = parts[other], parts[position]
        else:
            parts[position] = parts[position][: draw(st.integers(0, 5))]
        parts = parts or [""]
    return " ".join(parts)


word_soups = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
prefixed_soups = word_soups.map(lambda soup: f"FROM t DEFINE A AS {soup}")
pattern_soups = word_soups.map(lambda soup: f"FROM t DEFINE A AS x, B AS y PATTERN {soup}")
return_soups = word_soups.map(lambda soup: f"FROM t DEFINE A AS x RETURN {soup}")
random_bytes = st.binary(max_size=200).map(lambda raw: raw.decode("latin-1"))
