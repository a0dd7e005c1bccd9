"""A row pattern as a question: what it needs of rows, and the operator that answers it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from situ.carry.contract import Returned, Setting
from situ.errors import OptionError, QueryError
from situ.language.rows.ast import MatchNumber, RowQuery
from situ.language.rows.binder import bind
from situ.language.rows.bound import BoundRows
from situ.language.text.nodes import Expression
from situ.language.text.types import Schema, Schemas
from situ.operators.rowpattern.bounds import bounds_of
from situ.operators.rowpattern.conditions import ConditionPlan, plan_conditions
from situ.operators.rowpattern.measures import MeasurePlan, plan_measures
from situ.operators.rowpattern.operator import RowOperator
from situ.operators.rowpattern.output import Extras
from situ.operators.rowpattern.positions import automaton_of
from situ.options import Options, check_forget_after
from situ.rows.kernels.numbers import UNBOUNDED
from situ.rows.needs import Needs, Towards

_NOT_FOR_ROWS = {
    "join": "rows are not joined",
    "points": "it is for FROM INTERVALS",
    "until": "results come with rows, and at the end of the input",
}


@dataclass(frozen=True)
class RowMatching:
    """`situ.match` of a row pattern."""

    query: RowQuery

    all_rows_count = True

    @cached_property
    def name(self) -> str:
        """From the query's text."""
        return self._fingerprint.hex()[:8]

    @cached_property
    def _fingerprint(self) -> bytes:
        return hashlib.blake2b(str(self.query).encode(), digest_size=16).digest()

    @property
    def time(self) -> str | None:
        """The first column of ORDER BY."""
        return self.query.order_by[0].name

    @property
    def facts(self) -> Mapping[str, Any]:
        """The call and the query's canonical text."""
        return {"kind": "match", "query": str(self.query)}

    def check_options(self, passed: Mapping[str, Any]) -> None:
        """Refuse what means nothing to rows."""
        for name, why in _NOT_FOR_ROWS.items():
            if name in passed:
                raise OptionError(f"option {name} does not apply to row patterns: {why}", hint="leave it out")
        if passed.get("ties") == "last":
            raise OptionError(
                'ties="last" does not apply to row patterns: every row counts',
                hint='leave it out, or refuse rows that ORDER BY leaves in no order with ties="error"',
            )
        if passed.get("timeouts"):
            if self.query.within is None:
                raise OptionError("timeouts needs a window that ends", hint="add WITHIN to the query")
            if self.query.strategy == "any":
                raise OptionError("timeouts does not go with STRATEGY SKIP TILL ANY", hint="leave it out")

    def check_stream(self) -> None:
        """State must be bounded (ROW 8.1)."""
        query = self.query
        automaton = automaton_of(query.pattern, query.variables)
        bounds = bounds_of(automaton)
        if query.within is None and bounds is not None and bounds.most is None:
            raise QueryError(
                "a stream needs a window, or its state would grow for ever: nothing else bounds the rows of "
                "a match of this pattern",
                hint="say how long a match may take from its first row to its last: WITHIN 5 minutes",
            )
        if any(way.at_last for ways in (*automaton.follow, automaton.start) for way in ways):
            raise QueryError(
                "a stream has no last row, so `$` can never be seen to hold",
                hint="leave out $, or ask the whole table",
            )
        if query.empty == "unmatched":
            raise QueryError(
                "WITH UNMATCHED ROWS is for whole tables: of a row of a stream it is never known "
                "that no match will have it",
                hint="write SHOW EMPTY MATCHES or OMIT EMPTY MATCHES",
            )

    def bind(self, schema: Schema | Schemas, options: Options) -> AskedRows:
        """Resolve the query's names and types."""
        if isinstance(schema, Mapping):
            raise QueryError(
                "MATCH_RECOGNIZE reads one table, and several were given", hint="give the table itself"
            )
        bound = bind(self.query, schema, time=options.time, time_unit=options.time_unit)
        query = bound.query
        conditions = plan_conditions(bound, automaton_of(query.pattern, query.variables))
        extras = Extras(options.match_span, options.match_time, options.match_id)
        measures = plan_measures(bound, conditions.automaton, extras)
        forget_after = int(UNBOUNDED)
        if options.forget_after is not None:
            if bound.time is None:
                raise OptionError("forget_after needs a time as first ORDER BY column", hint="leave it out")
            found = check_forget_after(options.forget_after, bound.time, bound.within)
            forget_after = int(UNBOUNDED) if found is None else found
        if options.match_time:
            check_looking_ahead(query, conditions)
        if bound.time is None and (options.match_span or options.match_time):
            raise QueryError(
                "match_span and match_time need a time column first in ORDER BY, ascending",
                hint="order by a timestamp, a date or a whole number",
            )
        return AskedRows(
            bound,
            needs_of(bound, conditions, measures, options),
            conditions,
            measures,
            options.match_time,
            forget_after,
            options.max_steps,
            options.max_matches,
            options.timeouts,
        )


def check_looking_ahead(query: RowQuery, conditions: ConditionPlan) -> None:
    """Refuse what cannot be timed: tests that wait for rows behind theirs, ends that wait (ROW 5.3, 9.6)."""
    if query.mode and any(way.at_last for ways in conditions.automaton.follow for way in ways):
        raise QueryError(
            f"{query.mode.upper()} MATCH has no match_time where the pattern asks for the last row by $",
            hint="leave out match_time, or $",
        )
    if not any(conditions.lag):
        return
    numbered = any(isinstance(item, MatchNumber) for item in query.items)
    what = "INCREMENTAL MATCH" if query.mode == "incremental" else None
    what = "MATCH_NUMBER under SKIP TILL ANY" if query.strategy == "any" and numbered else what
    if what is not None:
        raise QueryError(
            f"{what} with conditions that read NEXT is for whole tables, and without match_time",
            hint="read the row before instead, with PREV",
        )


def needs_of(bound: BoundRows, conditions: ConditionPlan, measures: MeasurePlan, options: Options) -> Needs:
    """What a bound row pattern needs of rows."""
    names = dict.fromkeys([*conditions.columns, *measures.columns])
    is_timeless = bound.time is None
    ties = bound.order if is_timeless else bound.order[1:]
    written = bound.query.order_by if is_timeless else bound.query.order_by[1:]
    return Needs(
        time=bound.order[0] if bound.time is None else bound.time,
        partition=bound.partition,
        ties=ties,
        towards=tuple(Towards(one.is_descending, one.nulls_last) for one in written),
        attributes=tuple(bound.column(name) for name in names),
        conditions=conditions.masked,
        where=bound.query.where,
        order="distinct" if options.ties == "error" else "all",
        is_timeless=is_timeless,
        window=bound.within,
        ticks=bound.within is not None,
    )


@dataclass(frozen=True)
class AskedRows:
    """A row pattern bound to the columns of an input."""

    bound: BoundRows
    needs: Needs
    conditions: ConditionPlan
    measures: MeasurePlan
    match_time: bool
    forget_after: int
    max_steps: int
    max_matches: int
    timeouts: bool

    @property
    def returned(self) -> tuple[Returned, ...]:
        """What users see behind the keys."""
        return self.measures.returned

    @property
    def having(self) -> Expression | None:
        """Every match is a result."""
        return None

    def counting(self) -> AskedRows:
        """Counting reads what matching does."""
        return self

    def operator(self, schema: pa.Schema, setting: Setting) -> RowOperator:
        """For columns of these types."""
        operator = RowOperator(self, schema, setting)
        _ = operator.engine, operator.measures  # what cannot be evaluated is refused where it is asked
        return operator

    def identity(self, schema: pa.Schema) -> bytes:
        """What saved state belongs to: the query, the types of the columns it keeps, options."""
        needs = self.needs
        names = [
            needs.time.name,
            *(column.name for column in (*needs.partition, *needs.ties)),
            *needs.attribute_names,
        ]
        types = "|".join(f"{name}:{schema.field(name).type}" for name in names)
        text = f"{self.bound.query}|{types}|{self.forget_after} {needs.time.unit} {self.timeouts}"
        return hashlib.blake2b(text.encode(), digest_size=16).digest()
