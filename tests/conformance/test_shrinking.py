"""A random example that shows a defect is cut down to a few rows, so that it can be read.

The defects are planted in the oracles: nothing is compiled for them, and no change of situ moves them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, find, settings

import oracles.derive
import oracles.relations
from conformance.rows import differences
from conformance.strategies import Example, examples
from oracles.answer import answer

MOST_ROWS = 8
GENEROUS = settings(max_examples=1000, database=None, suppress_health_check=list(HealthCheck))


def met_by_is_taken_for_after(allen: Callable[..., str]) -> Callable[..., str]:
    return lambda *ends: {"met-by": "after"}.get(allen(*ends), allen(*ends))


def a_minimum_is_met_one_tick_late(admissible: Callable[..., Any]) -> Callable[..., Any]:
    return lambda ts, te, instants, least, most: admissible(ts, te, instants, least and least + 1, most)


@pytest.mark.parametrize(
    ("module", "name", "defect"),
    [
        (oracles.relations, "allen", met_by_is_taken_for_after),
        (oracles.derive, "admissible_instant", a_minimum_is_met_one_tick_late),
    ],
)
def test_a_defect_is_shown_by_few_rows(module: Any, name: str, defect: Callable[..., Any]) -> None:
    def shows(example: Example) -> bool:
        right = answer(example.rows, example.question)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, name, defect(getattr(module, name)))
            return bool(differences(answer(example.rows, example.question), right))

    found = find(examples(max_symbols=2), shows, settings=GENEROUS, random=Random(1))
    assert len(found.rows) <= MOST_ROWS, found
