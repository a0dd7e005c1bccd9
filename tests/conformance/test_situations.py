"""`situ.situations` gives what the oracles derive (SEM 5.5)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import situ
from conformance.checking import agree
from conformance.strategies import Example, examples
from oracles.aggregate import item
from oracles.answer import batch_clock, partitions, situations_of
from oracles.derive import Situation, in_order

LATER = 10**9  # after every event: what is known of a situation at the end of the input


def derived(example: Example) -> list[tuple[Any, ...]]:
    """Partition values, symbol, ts, te, n_events of every situation that exists for matching."""
    question, clock = example.question, batch_clock(example.rows, example.question)
    found = []
    for key, part in partitions(example.rows, question):
        events = in_order(part, question.time, question.ties)
        for symbol, situations in situations_of(events, question).items():
            for one in reached(situations, clock):
                found.append((*key, symbol, one.ts, one.te, item("count", one, None, LATER)))
    return found


def reached(situations: list[Situation], clock: int) -> list[Situation]:
    """A silence that is open is one from its tick on (SEM 12.2)."""
    return [one for one in situations if one.admissible <= clock]


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
    question, clock = example.question, batch_clock(example.rows, example.question)
    asked = [one for one in question.items if one[2] is not None]
    names = list(dict.fromkeys(named(function, attribute) for function, _, attribute in asked))
    wanted = []
    for key, part in partitions(example.rows, question):
        events = in_order(part, question.time, question.ties)
        for symbol, situations in situations_of(events, question).items():
            own = {named(f, attribute): (f, attribute) for f, of, attribute in asked if of == symbol}
            for one in reached(situations, clock):
                values = [item(own[n][0], one, own[n][1], LATER) if n in own else None for n in names]
                wanted.append((*key, symbol, one.ts, *values))
    result = situ.situations(example.table, situ.query(example.text))
    columns = [*question.partition, "symbol", "ts", *names]
    assert result.column_names[len(question.partition) + 4 :] == names
    agree(list(zip(*(result[column].to_pylist() for column in columns), strict=True)), wanted, example)
