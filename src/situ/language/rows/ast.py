"""What a row pattern query is: frozen, hashable, picklable data. Text and builder both end here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

from situ.language.text.nodes import Duration, Expression

if TYPE_CHECKING:
    import pyarrow as pa

    from situ.keywords import OperatorOptions
    from situ.operators.rowpattern.explained import RowExplanation
    from situ.operators.rowpattern.push import RowPush

CLASSIFIER_COLUMN = "_classifier"  # inside the expression of an item: the variable of the row it is read of


@dataclass(frozen=True)
class Variable:
    """A primary variable, by the name that ROW 2.1 reads."""

    name: str


@dataclass(frozen=True)
class Empty:
    """`()`: takes no row."""


@dataclass(frozen=True)
class Anchor:
    """`^` before the partition's first row, `$` after its last."""

    is_start: bool


@dataclass(frozen=True)
class Concatenation:
    """One after the other; at least two."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Alternation:
    """One of them, the first preferred; at least two."""

    choices: tuple[Pattern, ...]


@dataclass(frozen=True)
class Permutation:
    """`PERMUTE(a, b, ...)`: all orders, in lexicographic order of the places as written (ROW 4.2)."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Exclusion:
    """`{- p -}`: rows that ALL ROWS leaves out (ROW 4.3)."""

    body: Pattern


@dataclass(frozen=True)
class Repetition:
    """From `least` to `most` times, None for ever; as often as possible unless it is reluctant."""

    body: Pattern
    least: int
    most: int | None
    is_reluctant: bool = False


Pattern: TypeAlias = (
    Variable | Empty | Anchor | Concatenation | Alternation | Permutation | Exclusion | Repetition
)


@dataclass(frozen=True)
class Navigation:
    """A value of one row: of the `offset`-th row of `variable` from the front or back, `shift` rows on.

    `variable` is a primary or union variable, None for the universal one. `shift` is -n of PREV(.., n) and n
    of NEXT. `X.e` is LAST(X.e), so (X, LAST, 0, 0), and a plain `x` of the universal variable (ROW 3.1). The
    `expression` is over the columns of that row, and `CLASSIFIER_COLUMN`; where there is no such row the
    value is null whatever the expression (ROW 3.1). CLASSIFIER([U]) is the navigation LAST of U whose
    expression is that column.
    """

    expression: Expression
    variable: str | None = None
    is_first: bool = False
    offset: int = 0
    shift: int = 0
    is_final: bool = False


@dataclass(frozen=True)
class Aggregate:
    """`function([DISTINCT] argument, extra...) [FILTER (WHERE where)]` over the visible rows of a variable.

    The argument is None for count(*) and count(X.*). `argument` and `where` are over the columns of a row,
    and `CLASSIFIER_COLUMN`. `function` is in lower case; `more` are further arguments, as SQL.
    """

    function: str
    argument: Expression | None = None
    variable: str | None = None
    is_distinct: bool = False
    where: Expression | None = None
    is_final: bool = False
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class MatchNumber:
    """MATCH_NUMBER()."""


Item: TypeAlias = Navigation | Aggregate | MatchNumber


@dataclass(frozen=True)
class Definition:
    """One DEFINE entry; in `condition`, `RowQuery.items[i]` stands as the column `_item_<i>`."""

    variable: str
    condition: Expression


@dataclass(frozen=True)
class Measure:
    """`expression AS name`, the expression over `_item_<i>` too."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Subset:
    """SUBSET name = (members)."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class OrderColumn:
    """A column of ORDER BY; by default nulls come first of ascending ones, last of descending ones."""

    name: str
    is_descending: bool = False
    nulls_last: bool = False


@dataclass(frozen=True)
class Skip:
    """AFTER MATCH SKIP: `variable` of "first" and "last"."""

    to: Literal["past last row", "next row", "first", "last"] = "past last row"
    variable: str | None = None


@dataclass(frozen=True)
class RowQuery:
    """A checked MATCH_RECOGNIZE (ROW 1.1), defaults resolved: `skip` is the one that holds.

    `source` is the FROM name as canonical text and `where` the condition of `(SELECT * FROM name WHERE ..)`.
    Columns are unqualified everywhere; `alias` is that of the result.
    """

    source: str
    order_by: tuple[OrderColumn, ...]
    pattern: Pattern
    partition_by: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    measures: tuple[Measure, ...] = ()
    definitions: tuple[Definition, ...] = ()
    subsets: tuple[Subset, ...] = ()
    rows: Literal["one", "all"] = "one"
    empty: Literal["show", "omit", "unmatched"] = "show"  # of ALL ROWS (ROW 6.3)
    skip: Skip = Skip()
    strategy: Literal["contiguous", "next", "any"] = "contiguous"
    mode: Literal["maximal", "incremental"] | None = None
    within: Duration | None = None
    where: Expression | None = None
    alias: str | None = None

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The primary variables in order of first mention in PATTERN."""
        return tuple(dict.fromkeys(_mentioned(self.pattern)))

    @cached_property
    def conditions(self) -> dict[str, Expression]:
        """The condition of each variable that has one; the others are always true (ROW 2.1)."""
        return {one.variable: one.condition for one in self.definitions}

    @property
    def sources(self) -> tuple[()]:
        """Tables beside the first: MATCH_RECOGNIZE reads one."""
        return ()

    @property
    def times(self) -> tuple[str, ...]:
        """The column that holds times, if one does."""
        return (self.order_by[0].name,)

    def members(self, variable: str | None) -> frozenset[str]:
        """The primary variables that a variable stands for: itself, those of a union, or all."""
        if variable is None:
            return frozenset(self.variables)
        unions = {subset.name: subset.members for subset in self.subsets}
        return frozenset(unions.get(variable, (variable,)))

    def __str__(self) -> str:
        """The canonical text; parsing it gives an equal query."""
        from situ.language.rows.printer import query_text  # the printer is made of queries, not they of it

        return query_text(self)

    def explain(self) -> RowExplanation:
        """What was understood: positions, what conditions read, the method and its bounds (ROW 11.1)."""
        from situ.operators.rowpattern.explained import explain_text  # a convenience, as for situations

        return explain_text(self)

    def operator(
        self, schema: pa.Schema, *, state: bytes | None = None, **options: Unpack[OperatorOptions]
    ) -> RowPush:
        """A push operator for this query: it takes batches of events and gives the matches they complete.

        `schema` is the pyarrow schema of the batches to come. `state` is what another operator's `state()`
        gave, to go on from there.

        Options:
            timeouts: of row patterns, True hands out by op.timeouts() the starts that had no match when their
                window ended.
        """
        from situ.operators.rowpattern.push import operator  # the layers above stay unknown here

        return operator(self, schema, state=state, **options)

    def __repr__(self) -> str:
        text = str(self)
        return f"situ.query({text!r})" if set('"\\\\') & set(text) else f'situ.query("""{text}""")'

    def _repr_html_(self) -> str:
        from situ.language.text.highlight import highlighted  # only notebooks need it

        return highlighted(str(self))


def _mentioned(pattern: Pattern) -> list[str]:
    match pattern:
        case Variable(name):
            return [name]
        case Concatenation(parts) | Alternation(parts) | Permutation(parts):
            return [name for part in parts for name in _mentioned(part)]
        case Exclusion(body) | Repetition(body):
            return _mentioned(body)
        case _:
            return []
