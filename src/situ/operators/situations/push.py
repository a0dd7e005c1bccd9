"""What `query.operator` gives a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pyarrow as pa

from situ.carry.push import PushOperator
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.engine import Engine
from situ.operators.situations.events import EventMatches
from situ.operators.situations.given import IntervalMatches
from situ.operators.situations.question import Matching
from situ.plan.explain import Explanation, explain_query

Schemas: TypeAlias = pa.Schema | Mapping[str, pa.Schema]  # of one table, or of several by name


class SituationsPush(PushOperator):
    """A push operator for matches, which can also explain its plan."""

    operator: EventMatches | IntervalMatches

    def __init__(
        self,
        query: Query,
        schema: Schemas,
        *,
        state: bytes | None = None,
        question: Matching | None = None,
        **options: Any,
    ) -> None:
        self.query = query
        super().__init__(question or Matching(query), schema, state=state, **options)

    @property
    def bound(self) -> BoundQuery:
        """The query and the columns it reads."""
        return self.operator.asked.bound

    @property
    def engine(self) -> Engine:
        """The query compiled."""
        engine: Engine = self.operator.engine
        return engine

    def explain(self) -> Explanation:
        """What was understood of the query, and what its plan has done so far."""
        return explain_query(self.bound.query).with_actuals(self.engine.actuals())


def operator(query: Query, schema: Schemas, *, state: bytes | None = None, **options: Any) -> SituationsPush:
    """An operator for rows of this schema, or of these by name, from the start or from saved `state`."""
    return SituationsPush(query, schema, state=state, **options)
