"""What `query.operator` gives a user whose query has row patterns among its symbols."""

from __future__ import annotations

from typing import Any

from situ.language.situations.ast import Query
from situ.operators.composed.patterns import check_bounded
from situ.operators.composed.question import ComposedMatching
from situ.operators.situations.push import Schemas, SituationsPush


class ComposedPush(SituationsPush):
    """A push operator for matches."""

    def __init__(self, query: Query, schema: Schemas, *, state: bytes | None = None, **options: Any) -> None:
        check_bounded(query)
        super().__init__(query, schema, state=state, question=ComposedMatching(query), **options)
