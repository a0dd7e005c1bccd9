"""What a query is: frozen, hashable, picklable data. Text and builder both end here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Unpack

from situ.algebra.certainty import Admissible, admission
from situ.algebra.endpoints import End
from situ.language.rows.ast import RowQuery
from situ.language.text.nodes import Duration, Expression
from situ.language.text.tokens import tokenize

if TYPE_CHECKING:
    import pyarrow as pa

    from situ.keywords import OperatorOptions
    from situ.operators.situations.push import SituationsPush
    from situ.plan.explain import Explanation


@dataclass(frozen=True)
class Gaps:
    """IGNORING GAPS UP TO a length of time, or a number of events (SEM 14): exactly one of the two."""

    duration: Duration | None = None
    events: int | None = None


@dataclass(frozen=True)
class Symbol:
    """One DEFINE entry. `condition` is None where the symbol is given by SYMBOL BY (SEM 6), or a SILENCE.

    Or where its situations are matches of a row pattern (SEM 17): that has no source, partition and order.
    `on` is the name of the symbol's source where a query has several (SEM 13.2).
    """

    name: str
    condition: Expression | None = None
    at_least: Duration | None = None
    at_most: Duration | None = None
    is_silence: bool = False
    ignoring: Gaps | None = None
    on: str | None = None
    rows: RowQuery | None = None
    # were the types of columns known when it was read: a BETWEEN behind its condition is then a length
    is_typed: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class Constraint:
    """`left` stands to `right` in one of `relations` (bits, see algebra.relations).

    At most one per pair, all constraints written for the pair intersected, `left` before `right`
    in symbol order.
    """

    left: str
    right: str
    relations: int


@dataclass(frozen=True)
class Endpoint:
    """`A.ts` or `A.te`."""

    symbol: str
    end: End


@dataclass(frozen=True)
class Difference:
    """`left - right <= bound`, or `< bound` where it is strict (SEM 9.1); `bound` may be negative.

    Between endpoints of two symbols; of several on the same two endpoints only the tightest is kept.
    """

    left: Endpoint
    right: Endpoint
    bound: Duration
    is_strict: bool = False


@dataclass(frozen=True)
class Absence:
    """A NO group (SEM 11.1): no situation of `symbol` satisfies all of these.

    Every constraint goes from `symbol` to a positive symbol; every difference has an endpoint of `symbol`.
    """

    symbol: str
    constraints: tuple[Constraint, ...]
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True)
class Item:
    """One thing asked of a match: an aggregate over a situation's events, or an endpoint.

    function: first last count sum avg min max stddev median percentile collect_list (attribute None only
    for count), ts te duration (attribute None), value (A.attr alone, interval input only).
    """

    function: str
    symbol: str
    attribute: str | None = None
    fraction: float | None = None  # of percentile


@dataclass(frozen=True)
class ReturnItem:
    """`expression AS name`; in `expression`, `Query.items[i]` stands as the column `_item_<i>`."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class IntervalSource:
    """FROM INTERVALS: which columns give symbol, start, end and id (SEM 6)."""

    starting: str
    ending: str
    symbol_by: str | None = None
    id_by: str | None = None


@dataclass(frozen=True)
class SourceTable:
    """One of several sources (SEM 13.2): its FROM name, what conditions call it, and its own columns.

    `order_by` and `partition_by` stand at the places of the query's own, under this source's names; a column
    that only breaks ties in other sources is not among them.
    """

    name: str
    alias: str
    order_by: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    where: Expression | None = None

    @property
    def key(self) -> str:
        """The name under which its table is given: the FROM name without back-quotes."""
        return ".".join(token.value for token in tokenize(self.name) if token.is_name)


@dataclass(frozen=True)
class Query:
    """A checked query. RETURN * and no RETURN at all are stored expanded: A_ts, A_te per symbol (SEM 5.1).

    `having`, like the expressions of RETURN, is over columns `_item_<i>` (SEM 13.1). With several `sources`
    the columns of `order_by` and `partition_by` are the first one's.
    """

    source: str
    symbols: tuple[Symbol, ...]
    constraints: tuple[Constraint, ...] = ()
    where: Expression | None = None
    order_by: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    intervals: IntervalSource | None = None
    within: Duration | None = None
    emit: Literal["EARLY", "FINAL"] = "EARLY"
    items: tuple[Item, ...] = ()
    returns: tuple[ReturnItem, ...] = ()
    differences: tuple[Difference, ...] = ()
    absences: tuple[Absence, ...] = ()
    having: Expression | None = None
    sources: tuple[SourceTable, ...] = ()

    @cached_property
    def absent_names(self) -> frozenset[str]:
        """The symbols of NO groups (SEM 11.1)."""
        return frozenset(absence.symbol for absence in self.absences)

    @cached_property
    def positives(self) -> tuple[Symbol, ...]:
        """The symbols of which a match has a situation each."""
        return tuple(symbol for symbol in self.symbols if symbol.name not in self.absent_names)

    @cached_property
    def row_patterns(self) -> tuple[Symbol, ...]:
        """The symbols whose situations are matches of row patterns (SEM 17)."""
        return tuple(symbol for symbol in self.symbols if symbol.rows is not None)

    @property
    def can_match(self) -> bool:
        """Whether there is a PATTERN, or one symbol that needs none (SEM 7)."""
        return len(self.positives) <= 1 or bool(self.constraints or self.differences)

    @cached_property
    def symbol_names(self) -> tuple[str, ...]:
        return tuple(symbol.name for symbol in self.symbols)

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that hold times, as far as the query names them: the time, or start and end."""
        given = self.intervals
        return self.order_by[:1] if given is None else (given.starting, given.ending)

    def without_symbol_by(self) -> Query:
        """The same query, symbols of intervals not given by a column."""
        return replace(self, intervals=self.intervals and replace(self.intervals, symbol_by=None))

    @cached_property
    def admissible(self) -> tuple[Admissible, ...]:
        """Per symbol, when a situation may first be used (SEM 2.4, 6.3)."""
        given = self.intervals
        return tuple(
            admission(
                None if symbol.at_least is None else symbol.at_least.value,
                None if symbol.at_most is None else symbol.at_most.value,
                is_given=given is not None or symbol.rows is not None,
                is_announced=given is not None and given.id_by is not None,
            )
            for symbol in self.symbols
        )

    def __str__(self) -> str:
        """The canonical text; parsing it gives an equal query."""
        from situ.language.situations.printer import (
            query_text,  # the printer is made of queries, not they of it
        )

        return query_text(self)

    def __repr__(self) -> str:
        text = str(self)
        return f"situ.query({text!r})" if set('"\\\\') & set(text) else f'situ.query("""{text}""")'

    def _repr_html_(self) -> str:
        from situ.language.text.highlight import highlighted  # only notebooks need it

        return highlighted(str(self))

    def explain(self) -> Explanation:
        """What was understood: symbols, constraints after simplification, when each pair becomes certain."""
        from situ.plan.explain import explain_text  # a convenience: the layers above stay unknown here

        return explain_text(self)

    def operator(
        self,
        schema: pa.Schema | Mapping[str, pa.Schema],
        *,
        state: bytes | None = None,
        **options: Unpack[OperatorOptions],
    ) -> SituationsPush:
        """A push operator for this query: it takes batches of events and gives the matches they complete.

        `schema` is the pyarrow schema of the batches to come, of several sources a dict by name. `state` is
        what another operator's `state()` gave, to go on from there.

        Options:
            timeouts: of row patterns, True hands out by op.timeouts() the starts that had no match when their
                window ended.
        """
        if self.row_patterns:
            from situ.operators.composed.push import ComposedPush

            return ComposedPush(self, schema, state=state, **options)
        from situ.operators.situations.push import (
            operator,  # a convenience: the layers above stay unknown here
        )

        return operator(self, schema, state=state, **options)
