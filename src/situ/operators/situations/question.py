"""Matches or situations, of events or of given intervals: four operators, made in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from situ.carry.contract import Returned, Setting
from situ.errors import OptionError, QueryError
from situ.language.situations.absent import unbounded_absence, unbounded_hint
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, bind
from situ.language.situations.described import has_ticks
from situ.language.situations.having import without_having
from situ.language.situations.printer import absence_text, item_text
from situ.language.text.looking import looks_back
from situ.language.text.nodes import Expression
from situ.language.text.types import Column, Schema, Schemas
from situ.language.text.words import KEEP_ALL_VALUES, quote
from situ.operators.identity import fingerprint
from situ.operators.situations.events import EventMatches, EventSituations
from situ.operators.situations.given import IntervalMatches, IntervalSituations
from situ.operators.situations.look_back import LookBack, look_back_of
from situ.operators.situations.result import MATCH_ID, MATCH_TIME, aggregates_of
from situ.options import Options, check_forget_after
from situ.rows.instants import AtTime, Lasting
from situ.rows.needs import Condition, Needs, Order, Part
from situ.rows.read import with_derived

_ONLY_EVENTS = ("ties", "forget_after")  # SEM 6.4: equal instants and gaps are normal for intervals
_ONLY_INTERVALS = ("points",)
_ONLY_ROW_PATTERNS = ("match_span", "match_time", "max_steps", "max_matches", "timeouts")


@dataclass(frozen=True)
class SituationsQuestion:
    """What matches and situations have in common as questions."""

    query: Query

    all_rows_count = False  # one state for each instant (SEM 1.3)
    takes_row_patterns = False  # as symbols (SEM 17)

    @property
    def kind(self) -> str:
        """The public call."""
        raise NotImplementedError

    @cached_property
    def name(self) -> str:
        """From the query's text."""
        return fingerprint(self.query).hex()[:8]

    @property
    def time(self) -> str | None:
        """The first column of ORDER BY."""
        return self.query.order_by[0] if self.query.order_by else None

    @property
    def facts(self) -> Mapping[str, Any]:
        """The call and the query's canonical text."""
        return {"kind": self.kind, "query": str(self.query)}

    def check_options(self, passed: Mapping[str, Any]) -> None:
        """Refuse what only events, or only given intervals, can be asked for."""
        what = "events" if self.query.intervals is None else "given intervals"
        for name in passed:
            if name in _ONLY_ROW_PATTERNS:
                raise OptionError(f"option {name} is for row patterns (MATCH_RECOGNIZE)", hint="leave it out")
            if not self.takes(name):
                raise OptionError(f"option {name} does not apply to {what}", hint="leave it out")

    def takes(self, option: str) -> bool:
        """Whether an option means something to this question."""
        others = _ONLY_INTERVALS if self.query.intervals is None else _ONLY_EVENTS
        return option not in (*others, *_ONLY_ROW_PATTERNS)

    def check_stream(self) -> None:
        """Of what has no pattern only open situations are kept."""

    def bind(self, schema: Schema | Schemas, options: Options) -> AskedSituations:
        """Resolve the query's names and types."""
        if self.query.row_patterns and not self.takes_row_patterns:
            raise row_patterns_refused(self.query)
        bound = bind(self.query, schema, time=options.time, time_unit=options.time_unit)
        return AskedSituations(
            bound,
            needs_of(bound, options),
            self.kind,
            check_forget_after(options.forget_after, bound.time, bound.within),
            options.match_id,
        )


def row_patterns_refused(query: Query) -> QueryError:
    """The error where symbols may not be row patterns (SEM 17.6)."""
    names = " and ".join(symbol.name for symbol in query.row_patterns)
    return QueryError(
        f"{names}: a symbol that is a row pattern is taken by situ.match and situ.situations in process and "
        "by push operators, and not elsewhere yet",
        hint="on Spark collect what fits into a table: situ.match(df.toArrow(), query)",
    )


class Matching(SituationsQuestion):
    """`situ.match`."""

    kind = "match"

    def __init__(self, query: Query) -> None:
        if not query.can_match:
            raise QueryError(
                "a query of several symbols needs a PATTERN to match", hint="or ask for situ.situations"
            )
        absent = [symbol for symbol in query.symbols if symbol.name in query.absent_names]
        super().__init__(replace(query, symbols=(*query.positives, *absent)))

    def check_stream(self) -> None:
        """State must be bounded (SEM 4.6)."""
        if self.query.within is None:
            raise QueryError(
                "a stream needs a window, or its state would grow for ever",
                hint="say how long a match may take from its first start to its detection: WITHIN 5 minutes",
            )
        unbounded = unbounded_absence(self.query)
        if unbounded is not None:  # SEM 11.7
            raise QueryError(
                f"a {unbounded.symbol} of any age could fit {absence_text(unbounded)}, "
                "so a stream would have to keep them all",
                hint=unbounded_hint(unbounded),
            )


class Deriving(SituationsQuestion):
    """`situ.situations`: PATTERN and HAVING have no say in it, and followed-by would keep more in state."""

    kind = "situations"

    def __init__(self, query: Query) -> None:
        super().__init__(replace(without_having(query), constraints=(), differences=(), absences=()))

    def check_stream(self) -> None:
        """An open situation is kept whatever its age, so what is kept of it may not grow (SEM 5.2)."""
        for item in self.query.items:
            if item.function in KEEP_ALL_VALUES and self.query.intervals is None:
                raise QueryError(
                    f"{item_text(item)} of the situations of a stream has no window that bounds its state",
                    hint="match the situations with a window: one symbol, WITHIN 1 hour EMIT FINAL",
                )


@dataclass(frozen=True)
class AskedSituations:
    """A query bound to the columns of an input."""

    bound: BoundQuery
    needs: Needs
    kind: str
    forget_after: int | None
    match_id: bool
    whole: Query | None = None  # of one asked to count: the query with its RETURN

    def counting(self) -> AskedSituations:
        """The same without RETURN: no attribute needs to be read or carried anywhere."""
        query = replace(self.bound.query, items=(), returns=(), having=None)
        bound = replace(self.bound, query=query, attributes=(), item_types=())
        needs = replace(self.needs, attributes=_plain_of(look_back_of(bound)))
        return replace(self, bound=bound, needs=needs, whole=self.bound.query)

    @property
    def returned(self) -> tuple[Returned, ...]:
        """What users see: RETURN and match_time (SEM 5.1), or the columns of SEM 5.5."""
        if self.kind == "match":
            items = [Returned(item.name, item.expression) for item in self.bound.query.returns]
            ids = [Returned(MATCH_ID, MATCH_ID)] * self.match_id
            return (*items, Returned(MATCH_TIME, MATCH_TIME), *ids)
        values = [Returned(name, f"_value_{i}") for i, name in enumerate(aggregates_of(self.bound))]
        return (*(Returned(name, name) for name in ("symbol", "ts", "te", "n_events")), *values)

    @property
    def having(self) -> Expression | None:
        """HAVING, over the items that are emitted."""
        return self.bound.query.having

    def operator(
        self, schema: pa.Schema, setting: Setting
    ) -> EventMatches | EventSituations | IntervalMatches | IntervalSituations:
        """One of four."""
        schema = with_derived(self.needs, schema, ansi=setting.ansi, time_zone=setting.time_zone)
        operator = self._operator(schema, setting)
        _ = operator.looking  # what cannot be evaluated is refused where the question is asked
        return operator

    def _operator(
        self, schema: pa.Schema, setting: Setting
    ) -> EventMatches | EventSituations | IntervalMatches | IntervalSituations:
        if self.bound.query.intervals is None:
            return (EventMatches if self.kind == "match" else EventSituations)(self, schema, setting)
        return (IntervalMatches if self.kind == "match" else IntervalSituations)(self, schema, setting)

    def identity(self, schema: pa.Schema) -> bytes:
        """What saved state belongs to: the query, the types of the columns it keeps values of, options."""
        needs = self.needs
        keys, ties = ([column.name for column in own] for own in (needs.partition, needs.ties))
        names = [needs.time.name, *keys, *needs.attribute_names, *ties]
        types = "|".join(f"{name}:{schema.field(name).type}" for name in names)
        widens = isinstance(self.needs.instant, Lasting) and self.needs.instant.widen
        unit = f" {self.bound.time.unit}" if self.bound.time.unit else ""
        options = f"|{self.kind} {self.forget_after} {widens}{unit}"
        text = fingerprint(self.bound.query) + types.encode() + options.encode()
        return hashlib.blake2b(text, digest_size=16).digest()


def needs_of(bound: BoundQuery, options: Options) -> Needs:
    """What a bound query needs of rows."""
    if bound.sources:
        return _needs_of_sources(bound, options)
    query = bound.query
    instant = AtTime()
    order: Order = "error" if options.ties == "error" else "last"
    if query.intervals is not None:
        end = replace(bound.column(query.intervals.ending), unit=bound.time.unit)
        ids = None if query.intervals.id_by is None else bound.column(query.intervals.id_by)
        instant, order = Lasting(end, ids, options.points == "widen"), "all"
    look_back = look_back_of(bound)
    attributes = dict.fromkeys([*bound.attributes, *_plain_of(look_back)])
    return Needs(
        time=bound.time,
        partition=bound.partition,
        ties=bound.ties,
        attributes=tuple(attributes),
        derived=() if look_back is None else look_back.derived,
        conditions=tuple(
            Condition(f"the condition of {symbol.name}", expression)
            for symbol, expression in zip(query.symbols, conditions_of(query), strict=True)
        ),
        where=query.where,
        order=order,
        instant=instant,
        only_where_true=query.intervals is None and look_back is None,
        window=bound.within,
        ticks=has_ticks(query),
    )


def _plain_of(look_back: LookBack | None) -> tuple[Column, ...]:
    return () if look_back is None else look_back.plain


_FALSE, _TRUE = Expression("FALSE", ()), Expression("TRUE", ())


def _needs_of_sources(bound: BoundQuery, options: Options) -> Needs:
    """Of several sources (SEM 13): behind the symbols' bits each source has one that is set in its rows."""
    parts = []
    names = bound.query.symbol_names
    for one in bound.sources:
        own = needs_of(one.bound, options)
        held = dict(zip(one.bound.query.symbol_names, own.conditions, strict=True))
        conditions = [held.get(name, Condition(f"the condition of {name}", _FALSE)) for name in names]
        conditions += [
            Condition(f"rows of {other.alias}", _TRUE if other is one else _FALSE) for other in bound.sources
        ]
        spelt = {column.name.lower(): column.name for column in own.columns}
        columns = [(united, spelt[name]) for name, united in one.names if name in spelt]
        own = replace(own, conditions=tuple(conditions), only_where_true=False)
        parts.append(Part(one.name, one.alias, own, tuple(columns)))
    first = parts[0].needs
    return replace(
        first,
        ties=bound.ties,
        attributes=bound.attributes,
        conditions=tuple(Condition(condition.name, _FALSE) for condition in first.conditions),
        where=None,
        window=bound.within,
        ticks=any(part.needs.ticks for part in parts) or bool(bound.query.absences),
        parts=tuple(parts),
    )


def conditions_of(query: Query) -> list[Expression]:
    """The condition of each symbol; SYMBOL BY compares with its name, a silence looks at every event."""
    found = []
    for symbol in query.symbols:
        if symbol.condition is not None:
            # what looks back is decided when rows are in order
            found.append(_FALSE if looks_back(symbol.condition) else symbol.condition)
            continue
        if symbol.is_silence:
            found.append(Expression("TRUE", ()))
            continue
        if symbol.rows is not None:
            found.append(_FALSE)  # no single row says where a match begins and ends
            continue
        kind = None if query.intervals is None else query.intervals.symbol_by
        assert kind is not None  # nothing else leaves a symbol without a condition
        name = symbol.name.replace("\\", "\\\\").replace("'", "\\'")
        found.append(Expression(f"{quote(kind)} = '{name}'", (kind,)))
    return found
