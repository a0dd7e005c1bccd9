"""`situ.situations` gives what the oracles derive (SEM 5.5)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.strategies import Example, examples
from oracles.aggregate import item
from oracles.answer import partitions, situations_of
from oracles.derive import in_order

LATER = 10**9  # after every event: what is known of a situation at the end of the input


def derived(example: Example) -> list[tuple[Any, ...]]:
    """Partition values, symbol, ts, te, n_events of every situation that exists for matching."""
    question = example.question
    found = []
    for key, part in partitions(example.rows, question):
        events = in_order(part, question.time, question.ties)
        for symbol, situations in situations_of(events, question).items():
            for one in situations:
                found.append((*key, symbol, one.ts, one.te, item("count", one, None, LATER)))
    return found


@given(examples(shuffled=True), st.sampled_from([1, 2]))
def test_every_situation_is_derived(example: Example, threads: int) -> None:
    result = situ.situations(example.table, situ.query(example.text), threads=threads)
    columns = [*example.question.partition, "symbol", "ts", "te", "n_events"]
    assert result.column_names[: len(columns)] == columns
    rows = zip(*(result[column].to_pylist() for column in columns), strict=True)
    agree(list(rows), derived(example), example)


def named(function: str, attribute: str) -> str:
    """SEM 5.5: `avg_x`, `percentile_0_3_x`."""
    return f"{function.replace(' ', '_').replace('.', '_')}_{attribute}"


@given(examples(shuffled=True))
def test_situations_have_the_values_that_return_asks_for(example: Example) -> None:
    question = example.question
    asked = [one for one in question.items if one[2] is not None]
    names = list(dict.fromkeys(named(function, attribute) for function, _, attribute in asked))
    wanted = []
    for key, part in partitions(example.rows, question):
        events = in_order(part, question.time, question.ties)
        for symbol, situations in situations_of(events, question).items():
            own = {named(f, attribute): (f, attribute) for f, of, attribute in asked if of == symbol}
            for one in situations:
                values = [item(own[n][0], one, own[n][1], LATER) if n in own else None for n in names]
                wanted.append((*key, symbol, one.ts, *values))
    result = situ.situations(example.table, situ.query(example.text))
    columns = [*question.partition, "symbol", "ts", *names]
    assert result.column_names[len(question.partition) + 4 :] == names
    agree(list(zip(*(result[column].to_pylist() for column in columns), strict=True)), wanted, example)
