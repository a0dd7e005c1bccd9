"""What a run did beside what was planned: `situ.explain` with data."""

from __future__ import annotations

from typing import Any

import numpy as np

from situ.carry.in_process import why
from situ.language.situations.ast import Query
from situ.operators.situations.question import Matching
from situ.operators.situations.why import constrained_pairs
from situ.operators.situations.why_report import Why
from situ.plan.explain import Actuals, Explanation, explain_query


def explain(events: Any, query: Query, **options: Any) -> Explanation:
    """What was understood of the query, and what it does to a table."""
    return explanation_of(why(events, Matching(query), options))


def explanation_of(counted: Why) -> Explanation:
    """The explanation of a query whose candidates have been counted."""
    n = len(counted.query.symbols)
    candidates, survivors = np.zeros((n, n)), np.zeros((n, n))
    for (left, right), pairs in zip(constrained_pairs(counted.query), counted.constraints, strict=True):
        candidates[left, right], survivors[left, right] = pairs.near, pairs.satisfied
    actuals = Actuals(
        situations=tuple(counted.situations.values()),
        candidates=candidates,
        survivors=survivors,
        matches=counted.matches,
        events=counted.n_events,
    )
    explained = explain_query(counted.query).with_actuals(actuals)
    return explained.with_notes(*counted.ties_lines)
