"""The contract between carriers and operators: carriers know an operator by this and by nothing else.

A *question* is what a user asks; bound to the columns of an input it is *asked*, and says what it needs of
them; with their Arrow types it becomes an *operator*, which takes rows and gives results. Batch is one step
with `at_end`; a push or a micro-batch is a step with what earlier ones have left, its `Kept`. What must hold
for every operator: results do not depend on how rows are cut into steps, on the order of partitions, or on
what is saved and read back in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import pyarrow as pa

from situ.errors import MatchError
from situ.language.text.nodes import Expression
from situ.language.text.types import Schema, Schemas
from situ.options import Options
from situ.rows.kernels.numbers import NEVER
from situ.rows.keys import shown
from situ.rows.needs import Needs
from situ.rows.prepared import Flags, Positions, Prepared
from situ.rows.tied import Tied, Ties
from situ.saved.codec import Reader, Writer

if TYPE_CHECKING:
    from typing import Self


class Field(NamedTuple):
    """A column of what an operator emits; on Spark of the type of the input's column `like`, if it is one.

    `is_list`: of arrays of that type.
    """

    name: str
    type: pa.DataType
    like: str | None = None
    is_list: bool = False


class Nested(NamedTuple):
    """A struct of columns that users see, made of the emitted columns that begin with `prefix`.

    It is null where the emitted column `switch` does not hold the struct's name. Of the rows where it does
    only those are results for which `having` is true.
    """

    prefix: str
    switch: str
    returned: tuple[Returned, ...]
    having: Expression | None = None


class Returned(NamedTuple):
    """A column that users see: an expression over emitted columns, one of them as it is, or a struct."""

    name: str
    of: Expression | str | Nested


class Span(NamedTuple):
    """Something kept, as people see it: of a partition, from one instant to another, or still going on."""

    slot: int
    label: str
    begin: int
    end: int | None


class Kept(Protocol):
    """All that an operator takes from one step to the next, of K slots."""

    @property
    def n_slots(self) -> int:
        """K."""

    @property
    def n_entries(self) -> int:
        """How many things are kept: what users are told of the size of state."""

    @property
    def n_held(self) -> int:
        """How many rows are held back until a later instant shows that theirs is over (SEM 6.4)."""

    @property
    def horizon(self) -> Positions:
        """The largest instant processed of each slot, LONG_AGO for a new one."""

    @property
    def nbytes(self) -> int:
        """Memory of it."""

    def select(self, slots: Positions, /) -> Self:
        """Some of the slots, in this order."""

    def cut(self, borders: Positions, /) -> Sequence[Self]:
        """The slots between each two borders, group by group."""

    def followed_by(self, others: Sequence[Self], /) -> Self:
        """These slots, and behind them those of others."""


class Emitted(Protocol):
    """Results of a step."""

    @property
    def slot(self) -> Positions:
        """The slot of each."""

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """`keys` are the partition values of each; `schema` has them and then the operator's output."""


class Stepped(NamedTuple):
    """What a step gave."""

    kept: Any  # Kept; nobody asks for it after a step at the end
    emitted: Sequence[Emitted]
    late: Flags | None = None  # which rows came too late and were left out; None for none (SEM 8.1)
    n_ignored: int = 0  # rows of things that are forgotten (SEM 6.3)
    tied: Tied | None = None  # rows left out because a later one has their time (SEM 1.3)
    timeouts: Emitted | None = None  # what is reported beside results (ROW 8.8)


class Operator(Protocol):
    """A question that can be stepped: immutable and picklable, so that workers get it as data."""

    @property
    def needs(self) -> Needs:
        """What rows must have."""

    @property
    def schema(self) -> pa.Schema:
        """Arrow types of the columns in `needs`."""

    @property
    def output(self) -> Sequence[Field]:
        """What is emitted, without keys."""

    @property
    def identity(self) -> bytes:
        """Sixteen bytes that saved state belongs to."""

    def nothing(self, n_slots: int, since: int = ...) -> Any:
        """What is kept of partitions never seen, or forgotten once instants before `since` were over."""

    def write(self, writer: Writer, kept: Any) -> None:
        """Add what is kept to saved state."""

    def read(self, reader: Reader, n_slots: int) -> Any:
        """What was written of so many slots, checked."""

    def describe(self, kept: Any) -> Iterable[Span]:
        """What is kept, for people to look at."""

    def step(self, kept: Any, rows: Prepared, complete: int | None, *, at_end: bool = False) -> Stepped:
        """Apply rows, whose codes are slots of `kept`, in any order.

        Every row lies before `complete` where that is given, and instants before it are over for every slot,
        also for those without rows: with `needs.ticks` all results are reported that have such an instant.
        Where it is None, rows at or before their slot's horizon are late and left out, and the clock of a
        slot is its horizon after the rows. With `at_end` nothing comes after these rows; `complete` is then
        given to operators with `needs.ticks` only, and is one more than the clock of the whole input.
        """

    def prune(self, kept: Any) -> Any:
        """Without what the question rules out for every result to come."""

    def purge(self, kept: Any, complete: int) -> tuple[Any, Flags]:
        """What is left once instants before `complete` are over, and which slots can be forgotten.

        Results with an instant before `complete` have been reported by a step before it is asked.
        """

    def next_purge(self, kept: Any) -> Positions:
        """For each slot the instant that must be complete before something of it can go."""

    def next_due(self, kept: Any) -> Positions:
        """For each slot the smallest `complete` at which a step without rows may report something.

        NEVER for none; asked only where `needs.ticks`, and of a slot that is due nothing is forgotten. After
        a step with `complete` it is greater than that for every slot.
        """


class Condensed(Protocol):
    """Condensed rows of K slots, by slot and time."""

    @property
    def n_rows(self) -> Positions:
        """Of each slot."""

    @property
    def first(self) -> Positions:
        """The first instant of each slot's rows, NEVER for a slot without rows."""

    @property
    def last(self) -> Positions:
        """And the last, LONG_AGO for a slot without rows."""

    def select(self, slots: Positions, /) -> Self:
        """Some of the slots, in this order."""

    def followed_by(self, others: Sequence[Self], /) -> Self:
        """These slots, and behind them those of others."""

    def cut(self, borders: Positions, /) -> Sequence[Self]:
        """The slots between each two borders, group by group."""

    def joined(self, begins: Positions, /) -> Self:
        """Neighbouring slots as one: a slot for each of `begins`."""

    def write(self, writer: Writer, /) -> None:
        """Add it to a piece; the operator reads it back."""


class Slice(Protocol):
    """What one task needs to report the results of a stretch of time of one partition."""

    def write(self, writer: Writer, /) -> None:
        """Add it to a piece; the operator reads it back."""


@runtime_checkable
class Condenses(Protocol):
    """An operator that can do with fewer rows: Spark batch then works on the map side."""

    def condense(self, rows: Prepared, tied: Tied) -> Any:
        """The fewest rows that give the same results, also with others before and after them."""

    def read_condensed(self, reader: Reader) -> Any:
        """What a Condensed has written."""

    def step_condensed(
        self, kept: Any, condensed: Any, *, at_end: bool, complete: int | None = None
    ) -> Stepped:
        """`step` of condensed rows, a slot for each of `kept`."""


@runtime_checkable
class Skips(Protocol):
    """An operator to which a row between two whose conditions are the same says nothing."""

    def counted(self) -> int | None:
        """Bits of the conditions whose rows say something all the same; None: all rows do."""


@runtime_checkable
class Slices(Condenses, Protocol):
    """One whose results reach back no further than a window: one partition is then matched in parallel."""

    @property
    def is_sliced(self) -> bool:
        """Whether this question has a window."""

    def slices(self, condensed: Any, wanted: int, least: int, complete: int | None = None) -> Iterator[Slice]:
        """At most so many slices of the rows of one slot, each of so many rows at least.

        With `needs.ticks` each reports its own stretch of time, the last one all that lies before `complete`.
        """

    def read_slice(self, reader: Reader) -> Any:
        """What a Slice has written."""

    def step_slice(self, one: Any) -> Sequence[Emitted]:
        """The results of a slice's own time."""


class Tally(Protocol):
    """Numbers counted of some partitions, which add up over all of them."""

    def to_numbers(self) -> Positions:
        """All of it as one row of numbers."""

    def kinds(self) -> Sequence[str]:
        """How each number adds up with that of another tally: sum, max or min (of those from 0 on)."""

    def with_numbers(self, numbers: Positions, /) -> Self:
        """A tally of these numbers."""

    @property
    def n_tied(self) -> int:
        """How many rows were left out as ties."""

    @property
    def tied_at(self) -> Positions:
        """Some of their instants, LONG_AGO for none."""


@runtime_checkable
class Tells(Protocol):
    """An operator that can tell where results are lost: `why`, and `explain` with data."""

    def no_tally(self) -> Any:
        """Of no rows."""

    def tally(self, rows: Prepared, tied: Tied, complete: int | None = None) -> Any:
        """Count rows, every partition of which is whole; `tied` takes note of those left out.

        `complete` is as in a `step` with `at_end`.
        """

    def told(self, tally: Any, ties: Ties | None, reported: int | None = None) -> Any:
        """What users are told; `reported` is how many results there are, where HAVING rejects some."""


@runtime_checkable
class Counts(Protocol):
    """A bound question that can be asked only to count."""

    def counting(self) -> Asked:
        """The same, of which nothing is read or carried that counting does not need."""


class Work(NamedTuple):
    """What an operator has done so far, for a trace."""

    plan: str  # how it goes about it now
    n_candidates: int  # things looked at since it was made


@runtime_checkable
class Works(Protocol):
    """An operator whose work can be counted."""

    def work(self) -> Work:
        """So far."""


@runtime_checkable
class Splits(Protocol):
    """An operator of several questions, whose results in process are tables of their own."""

    def parts(self, emitted: Sequence[Emitted]) -> Mapping[str, tuple[Operator, list[Emitted]]]:
        """Results by name, each with the operator whose output they are."""


class Setting(NamedTuple):
    """How an operator is to work; no result depends on it but for what `ansi` and `time_zone` mean."""

    evaluates: bool = True  # RETURN here, into the columns that users see; else Spark does
    ansi: bool = True
    time_zone: str = "UTC"
    join: str = "auto"
    threads: int | str = 1


class Asked(Protocol):
    """A question bound to the columns of an input: frozen, picklable data."""

    @property
    def needs(self) -> Needs:
        """What rows must have."""

    @property
    def returned(self) -> Sequence[Returned]:
        """The columns that users see behind the keys, over what an operator emits that does not evaluate."""

    @property
    def having(self) -> Expression | None:
        """What must be true of a row that is emitted to be a result, where the operator does not evaluate."""

    def operator(self, schema: pa.Schema, setting: Setting) -> Operator:
        """The operator for columns of these Arrow types, of which `schema` has those in `needs` at least."""


class Question(Protocol):
    """What a user asks of events."""

    @property
    def name(self) -> str:
        """A short name that others do not have: the figures of a stream are observed under it."""

    @property
    def time(self) -> str | None:
        """The time column, if it is named."""

    @property
    def all_rows_count(self) -> bool:
        """Whether rows of one partition and time all count, so that nothing is to be said of them."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What a checkpoint remembers of it and a message can show, as JSON: at least `query`."""

    def check_options(self, passed: Mapping[str, Any]) -> None:
        """Refuse options that mean nothing to this question."""

    def check_stream(self) -> None:
        """Refuse a question that no stream can answer with bounded state."""

    def bind(self, schema: Schema | Schemas, options: Options) -> Asked:
        """Resolve names and types, of one table or of tables by name."""


@dataclass(frozen=True)
class TableEmitted:
    """Results that are a table already: what most operators need."""

    slot: Positions
    columns: Sequence[pa.Array]

    def table(self, keys: Sequence[pa.Array], schema: pa.Schema) -> pa.Table:
        """Keys and columns."""
        return pa.Table.from_arrays([*keys, *self.columns], schema=schema)


def purged(operator: Operator, kept: Any, complete: int) -> tuple[Any, Flags]:
    """`operator.purge`, by which no slot is forgotten that will report something as time passes."""
    left, gone = operator.purge(kept, complete)
    if operator.needs.ticks:
        gone = gone & (operator.next_due(left) == NEVER)
    return left, gone


def emitted_schema(operator: Operator, key_names: Sequence[str] | None = None) -> pa.Schema:
    """The columns of emitted tables: partition columns, under these names or their own, and the output."""
    keys = [operator.schema.field(column.name) for column in operator.needs.partition]
    if key_names is not None:
        keys = [field.with_name(name) for field, name in zip(keys, key_names, strict=True)]
    return pa.schema([*keys, *(pa.field(field.name, field.type) for field in operator.output)])


@contextmanager
def naming(keys: Sequence[pa.Array]) -> Iterator[None]:
    """Name the partition in errors of a step; `keys` are the partition values of every slot."""
    try:
        yield
    except MatchError as error:
        if error.slot is None:
            raise
        raise error.in_partition(tuple(shown(column[error.slot]) for column in keys)) from error


def tables_of(emitted: Iterable[Emitted], keys: Sequence[pa.Array], schema: pa.Schema) -> list[pa.Table]:
    """Results as tables; `keys` are the partition values of every slot."""
    return [one.table(at(keys, one.slot), schema) for one in emitted if len(one.slot)]


def at(keys: Sequence[pa.Array], slots: Positions) -> list[pa.Array]:
    """The partition values of these slots."""
    if not keys:
        return []
    taken = pa.array(slots)
    return [column.take(taken) for column in keys]
