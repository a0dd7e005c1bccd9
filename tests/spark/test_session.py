"""Every case, and random tables, through a real session in every way of running: equal to the oracles.

A job of a few rows is nearly all waiting, so all questions that were selected are asked at once, several
jobs at a time, and each test waits for its own answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from conformance.cases import load_all
from conformance.checking import agree, check
from conformance.random_intervals import interval_examples
from conformance.rows import ResultRow
from conformance.strategies import Example, bounded_by_window, examples
from oracles.answer import answer
from spark.session_work import Asking, Files, Sessions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOBS_AT_ONCE = 4
CASES = {case.name: case for case in load_all()}


def drawn(strategy: st.SearchStrategy[Example], n: int) -> list[Example]:
    """The same n examples in every run."""
    found: list[Example] = []

    @settings(max_examples=n, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def keep(example: Example) -> None:
        found.append(example)

    keep()
    return found[:n]


EXAMPLES = {
    **{f"events {i}": example for i, example in enumerate(drawn(examples(shuffled=True), 12))},
    **{f"window {i}": bounded_by_window(one, 9) for i, one in enumerate(drawn(examples(max_symbols=3), 6))},
    **{f"intervals {i}": example for i, example in enumerate(drawn(interval_examples(), 8))},
}
ASKINGS = {
    **{name: Asking(name, case.table, case.query, case.options) for name, case in CASES.items()},
    **{
        name: Asking(name, one.table, one.text, {"points": "widen"} if one.question.widen_points else {})
        for name, one in EXAMPLES.items()
    },
}


def pairs(names: Any) -> list[Any]:
    """Every question in each of its ways, as parameters."""
    return [pytest.param(name, way, id=f"{name}-{way}") for name in names for way in ASKINGS[name].ways()]


Answers = dict[tuple[str, str], Future[list[ResultRow]]]


@pytest.fixture(scope="module")
def answers(
    spark: SparkSession, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Answers]:
    """The answer to every question that a selected test is about, as soon as it is there."""
    chosen = [
        (item.callspec.params["name"], item.callspec.params["way"])
        for item in request.session.items
        if item.path == request.path
    ]
    files = Files(tmp_path_factory.mktemp("cases"), [ASKINGS[name] for name in {name for name, _ in chosen}])
    sessions = Sessions(spark)
    pool = ThreadPoolExecutor(JOBS_AT_ONCE)
    yield {(name, way): pool.submit(sessions.run, way, ASKINGS[name], files) for name, way in chosen}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("name", "way"), pairs(CASES))
def test_case(answers: Answers, name: str, way: str) -> None:
    check(CASES[name], lambda *_: answers[name, way].result())


@pytest.mark.parametrize(("name", "way"), pairs(EXAMPLES))
def test_random(answers: Answers, name: str, way: str) -> None:
    example = EXAMPLES[name]
    agree(answers[name, way].result(), answer(example.rows, example.question), example)
