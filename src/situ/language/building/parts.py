"""Patterns of rows as Python expressions: `seq(STRT, DOWN.one_or_more(), UP | FLAT)`."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import QueryError, QuerySyntaxError
from situ.language.building.values import Value, check_name, value
from situ.language.rows.ast import (
    Anchor,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)
from situ.language.rows.names import variable_name, variable_text
from situ.language.rows.shapes import alternation, concatenation, pattern_text
from situ.language.text.tokens import Kind, tokenize
from situ.language.text.words import quote


class Part:
    """A part of PATTERN; `|` adds an alternative, the one on the left preferred."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern

    def __str__(self) -> str:
        return pattern_text(self.pattern)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __or__(self, other: Part | str) -> Part:
        return Part(alternation([self.pattern, _part(other).pattern]))

    def optional(self, *, reluctant: bool = False) -> Part:
        """`?`: once or not at all."""
        return self._repeated(0, 1, reluctant)

    def zero_or_more(self, *, reluctant: bool = False) -> Part:
        """`*`: any number of times, as often as possible unless it is reluctant."""
        return self._repeated(0, None, reluctant)

    def one_or_more(self, *, reluctant: bool = False) -> Part:
        """`+`."""
        return self._repeated(1, None, reluctant)

    def times(self, least: int, most: int | None = None, *, reluctant: bool = False) -> Part:
        """`{least}`, or `{least,most}`."""
        return self._repeated(least, least if most is None else most, reluctant)

    def at_least(self, least: int, *, reluctant: bool = False) -> Part:
        """`{least,}`."""
        return self._repeated(least, None, reluctant)

    def _repeated(self, least: int, most: int | None, reluctant: bool) -> Part:
        return Part(Repetition(self.pattern, least, most, reluctant))


class VariableName(Part):
    """A variable, with what can be read of its rows; `a` stands for A as in text, "`a`" for a."""

    def __init__(self, name: str) -> None:
        self.name = _read(name)
        super().__init__(Variable(self.name))

    def value(self, column: str) -> Value:
        """The column of its last row so far: `A.price`."""
        return Value(f"{variable_text(self.name)}.{quote(check_name(column))}")

    def first(self, column: str, n: int = 0) -> Value:
        """The column of its first row, or of the n-th after it."""
        return first(self.value(column), n)

    def last(self, column: str, n: int = 0) -> Value:
        """The column of its last row, or of the n-th before it."""
        return last(self.value(column), n)

    def sum(self, column: str) -> Value:
        """The sum over its rows."""
        return self._aggregate("sum", column)

    def avg(self, column: str) -> Value:
        """The average over its rows."""
        return self._aggregate("avg", column)

    def min(self, column: str) -> Value:
        """The smallest value of its rows."""
        return self._aggregate("min", column)

    def max(self, column: str) -> Value:
        """The largest value of its rows."""
        return self._aggregate("max", column)

    def stddev(self, column: str) -> Value:
        """The sample standard deviation over its rows."""
        return self._aggregate("stddev", column)

    def variance(self, column: str) -> Value:
        """The sample variance over its rows."""
        return self._aggregate("variance", column)

    def array_agg(self, column: str) -> Value:
        """The values of its rows that are not null, in their order."""
        return self._aggregate("array_agg", column)

    def count(self, column: str | None = None) -> Value:
        """The number of its rows, or of those where the column is not null."""
        if column is None:
            return Value(f"count({variable_text(self.name)}.*)")
        return self._aggregate("count", column)

    def _aggregate(self, function: str, column: str) -> Value:
        return Value(f"{function}({self.value(column).sql})")


def variables(*names: str) -> tuple[VariableName, ...]:
    """Names for the rows of a pattern: `A, B = variables("A", "B")`."""
    return tuple(VariableName(name) for name in names)


def seq(*parts: Part | str) -> Part:
    """The parts one after the other."""
    return Part(concatenation(_patterns(parts)) if parts else Empty())


def permute(*parts: Part | str) -> Part:
    """The parts in any order, the one they are written in preferred."""
    listed = _patterns(parts)
    if not listed:
        raise QuerySyntaxError("say what to permute", hint="write permute(A, B)")
    return Part(listed[0] if len(listed) == 1 else Permutation(tuple(listed)))


def exclude(*parts: Part | str) -> Part:
    """`{- p -}`: rows of the match that ALL ROWS leaves out."""
    return Part(Exclusion(seq(*parts).pattern))


partition_start = Part(Anchor(is_start=True))
partition_end = Part(Anchor(is_start=False))


def first(of: object, n: int = 0) -> Value:
    """FIRST(of, n): `first(A.value("x") + A.value("y"))`."""
    return _navigated("FIRST", of, n, default=0)


def last(of: object, n: int = 0) -> Value:
    """LAST(of, n)."""
    return _navigated("LAST", of, n, default=0)


def next_(of: object, n: int = 1) -> Value:
    """NEXT(of, n): what comes n rows later; the row before is `prev`."""
    return _navigated("NEXT", of, n, default=1)


def running(of: Value) -> Value:
    """RUNNING before a navigation or an aggregate: of the rows up to the current one."""
    return Value(f"RUNNING {of.sql}")


def final(of: Value) -> Value:
    """FINAL before a navigation or an aggregate: of all rows of the match."""
    return Value(f"FINAL {of.sql}")


def classifier(of: VariableName | None = None) -> Value:
    """The variable of the row, or of the last row of a union."""
    return Value(f"CLASSIFIER({'' if of is None else variable_text(of.name)})")


def match_number() -> Value:
    """The number of the match in its partition."""
    return Value("MATCH_NUMBER()")


def _navigated(function: str, of: object, n: int, *, default: int) -> Value:
    number = "" if n == default else f", {value(n).sql}"
    return Value(f"{function}({value(of).sql}{number})")


def _patterns(parts: Sequence[Part | str]) -> list[Pattern]:
    return [_part(part).pattern for part in parts]


def _part(given: object) -> Part:
    if isinstance(given, Part):
        return given
    if isinstance(given, str):
        return VariableName(given)
    raise QueryError(
        f"a {type(given).__name__} is no part of a pattern",
        hint='write variables and what is made of them: A, B = variables("A", "B"); seq(A, B.one_or_more())',
    )


def _read(name: str) -> str:
    """A word as text reads it, anything else as it stands."""
    tokens = tokenize(check_name(name)) if not set(name) & set("'\"") else []
    if len(tokens) == 2 and tokens[0].kind in (Kind.WORD, Kind.QUOTED):
        return variable_name(tokens[0])
    if not name:
        raise QuerySyntaxError("the name of a variable is empty", hint='write variables("A")')
    return name
