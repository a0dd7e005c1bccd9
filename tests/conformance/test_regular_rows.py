"""Where each row has one variable a pattern is a regular expression: many histories at a time."""

from __future__ import annotations

import random
import re

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import situ
from conformance.random_row_patterns import pattern_text, patterns
from conformance.test_row_semantics import as_regex, is_short_work
from oracles.row_items import Pattern

LETTERS = st.lists(st.sampled_from("ABCD|"), max_size=400).map("".join)
HISTORIES = 100  # of each pattern: what is drawn, and shuffled anew as often as it takes
SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("letter", pa.string())])


def spans(regex: re.Pattern[str], text: str, *, to_next: bool) -> list[tuple[int, int]]:
    """First row and number of rows of each match (ROW 4.8)."""
    found, start = [], 0
    while start < len(text):
        match = regex.match(text, start)
        if match:
            found.append((start, match.end() - start))
        start = match.end() if match and match.end() > start and not to_next else start + 1
    return found


@settings(max_examples=2 * settings.default.max_examples, deadline=None)
@given(patterns(), LETTERS, st.booleans(), st.booleans())
def test_matches_are_those_of_re(pattern: Pattern, drawn: str, to_next: bool, is_timed: bool) -> None:
    """ROW 4.5, 4.6, 4.8, walked and, where instants are asked for, searched: a hundred histories each."""
    assume(is_short_work(pattern))
    texts = [text[:8] for text in drawn.split("|")]
    shuffling = random.Random(0)
    while len(texts) < HISTORIES:
        texts += ["".join(shuffling.sample(text, len(text))) for text in (*texts, "AABBCD")]
    rows = [(k, t, letter) for k, text in enumerate(texts) for t, letter in enumerate(text)]
    table = pa.table([list(column) for column in zip(*rows, strict=True)] or [[], [], []], schema=SCHEMA)
    names = sorted(set(re.findall("[A-D]", pattern_text(pattern))))
    query = (
        "FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY t "
        "MEASURES MATCH_NUMBER() AS number, count(*) AS n, array_agg(CLASSIFIER()) AS word "
        f"AFTER MATCH SKIP {'TO NEXT ROW' if to_next else 'PAST LAST ROW'} PATTERN ({pattern_text(pattern)}) "
        + (f"DEFINE {', '.join(f'{name} AS letter = {name!r}' for name in names)})" if names else ")")
    )
    found = situ.match(table, query, match_span=True, match_time=is_timed).to_pylist()
    regex = re.compile(as_regex(pattern))
    wanted = {
        (k, number + 1): (n, start if n else None, text[start : start + n])
        for k, text in enumerate(texts)
        for number, (start, n) in enumerate(spans(regex, text, to_next=to_next))
    }
    assert {
        (row["k"], row["number"]): (row["n"], row["match_start"], "".join(row["word"])) for row in found
    } == wanted
