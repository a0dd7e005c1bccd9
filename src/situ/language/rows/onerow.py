"""Expressions over the columns of one row, that of a navigation or of an aggregate (ROW 3.3, 3.5, 3.6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from situ.errors import NavigationError, QueryError, QuerySyntaxError, UnknownVariableError
from situ.language.rows.ast import CLASSIFIER_COLUMN
from situ.language.rows.names import variable_name, variable_text
from situ.language.text.nesting import closing
from situ.language.text.nodes import Expression
from situ.language.text.render import is_call
from situ.language.text.rowchecks import check_calls, check_numbers, check_order
from situ.language.text.sql import Scope, finish, is_syntax, lambda_names, paths
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean, span_of
from situ.language.text.words import SPARK_AGGREGATES

LOGICAL = ("first", "last")
PHYSICAL = ("prev", "next")
NAVIGATIONS = (*LOGICAL, *PHYSICAL)


class Names(NamedTuple):
    """What expressions may qualify columns with: variables, and FROM's name and alias."""

    variables: Collection[str]
    scope: Scope

    def variable(self, source: Source, token: Token) -> str:
        """The variable that must be named here."""
        name = variable_name(token)
        if name in self.variables:
            return name
        listed = ", ".join(map(variable_text, self.variables))
        raise source.error(
            UnknownVariableError,
            f"there is no variable {variable_text(name)}",
            token,
            hint=did_you_mean(name, self.variables) or f"the variables are {listed}",
        )


def called(tokens: Sequence[Token], position: int) -> str | None:
    """The navigation, aggregate, `classifier` or `match_number` that is called here, in lower case."""
    if position >= len(tokens):
        return None
    before = tokens[position - 1] if position else None
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if not is_call(tokens[position], before, after):
        return None
    name = tokens[position].value.lower()
    own = (*NAVIGATIONS, "classifier", "match_number")
    return name if name in own or name in SPARK_AGGREGATES else None


def is_reference(tokens: Sequence[Token], first: int, last: int, variables: frozenset[str]) -> bool:
    """Whether the dotted name there is a column, and no function, variable of a lambda or type."""
    is_called = last + 1 < len(tokens) and tokens[last + 1].is_sign("(")
    if is_called or tokens[first].value.lower() in variables:
        return False
    return last > first or not is_syntax(tokens, first)


class OneRow:
    """Reads expressions that are all over one row: their columns belong to one variable."""

    def __init__(self, source: Source, names: Names, inside: str, what: str) -> None:
        self.source, self.names, self.inside, self.what = source, names, inside, what
        self._found: tuple[str | None, Token] | None = None

    @property
    def variable(self) -> str | None:
        """The variable they belong to, None for the universal one."""
        return None if self._found is None else self._found[0]

    def expression(self, tokens: Sequence[Token]) -> Expression:
        """The expression over plain columns, and the column of CLASSIFIER()."""
        replaced = self._replaced(tokens)
        check_numbers(self.source, replaced)
        check_calls(self.source, replaced, self.what)
        check_order(self.source, replaced, self.what)
        return finish(self.source, tokens, replaced, self.what)

    def belongs(self, variable: str | None, token: Token) -> None:
        """What is read here is of this variable."""
        if self._found is None:
            self._found = variable, token
        elif self._found[0] != variable:
            raise self._two_variables(self._found[0], variable, token)

    def _replaced(self, tokens: Sequence[Token]) -> list[Token]:
        starts, lambdas = dict(paths(tokens)), lambda_names(tokens)
        result: list[Token] = []
        position = 0
        while position < len(tokens):
            last = starts.get(position, position)
            name = called(tokens, position)
            if name == "classifier":
                last = closing(tokens, position + 1)
                result.append(self._classifier(tokens[position : last + 1]))
            elif name is not None:
                raise self._nested(name, tokens[position])
            elif position in starts and is_reference(tokens, position, last, lambdas):
                result.extend(self._column(tokens, position, last))
            else:
                result.extend(tokens[position : last + 1])
            position = last + 1
        return result

    def _classifier(self, tokens: Sequence[Token]) -> Token:
        """Without a variable it is that of whatever row this is."""
        if (of := classified(self.source, self.names, tokens)) is not None:
            self.belongs(of, tokens[2])
        return column_token(CLASSIFIER_COLUMN, tokens)

    def _column(self, tokens: Sequence[Token], first: int, last: int) -> Sequence[Token]:
        """The column without what says whose it is; a variable goes before a table (ROW 2.1)."""
        self.check_star(tokens, last)
        parts = tokens[first : last + 1 : 2]
        if len(parts) > 1 and variable_name(parts[0]) in self.names.variables:
            self.belongs(variable_name(parts[0]), parts[0])
            begin = first + 2
        else:
            self.belongs(None, parts[0])
            begin = first + 2 * self.names.scope.strip([part.value for part in parts])
        if tokens[begin].value.lower() == CLASSIFIER_COLUMN:
            raise self.source.error(
                QuerySyntaxError,
                f"a column called {CLASSIFIER_COLUMN} would be taken for CLASSIFIER()",
                tokens[begin],
                hint="rename the column of the table first",
            )
        return tokens[begin : last + 1]

    def check_star(self, tokens: Sequence[Token], last: int) -> None:
        """Refuse `.*` behind the name that ends there."""
        if last + 2 < len(tokens) and tokens[last + 1].is_sign(".") and tokens[last + 2].is_sign("*"):
            raise self.source.error(
                QuerySyntaxError,
                "all columns at once stand in count(A.*) alone, which counts rows",
                tokens[last + 2],
                hint="name the column: A.price",
            )

    def _two_variables(self, one: str | None, other: str | None, token: Token) -> QueryError:
        if one is None or other is None:
            variable = variable_text(one or other or "")
            message = (
                f"{self.inside} reads columns of {variable} and columns without a variable, "
                "which are those of any row"
            )
            hint = f"write {variable}. before every column, or before none"
        else:
            both = f"{variable_text(one)} and {variable_text(other)}"
            message = f"{self.inside} reads columns of two variables, {both}"
            hint = (
                f"one call reads one row: write several, as in {self.inside}(A.x) + {self.inside}(B.y)"
                if self.inside.lower() in NAVIGATIONS
                else "one call is over the rows of one variable; SUBSET U = (A, B) makes one of several"
            )
        return self.source.error(NavigationError, message, token, hint=hint)

    def _nested(self, name: str, token: Token) -> QueryError:
        outer, inner = self.inside, name.upper() if name in NAVIGATIONS or name == "match_number" else name
        if name == "match_number":
            hint = f"it is the same for all rows of a match: write MATCH_NUMBER() outside of {outer}"
        elif outer.lower() not in NAVIGATIONS and name not in NAVIGATIONS:
            hint = "aggregates cannot be nested"
        elif outer.lower() not in NAVIGATIONS:
            hint = (
                f"{outer} takes an expression over the columns of each row; what is of one row goes outside"
            )
        elif name in PHYSICAL and outer.lower() in LOGICAL:
            hint = f"the other way round: {inner}({outer}(A.price))"
        elif name in PHYSICAL:
            hint = f"say how many rows in one call: {inner}(A.price, 2)"
        elif name in LOGICAL and outer.lower() in PHYSICAL:
            hint = f"{inner} takes all that {outer} is of, as in {outer}({inner}(A.price + 1))"
        elif name in LOGICAL:
            hint = f"say which row in one call: {inner}(A.price, 2)"
        else:
            hint = f"an aggregate is of many rows and stands outside of {outer}"
        return self.source.error(NavigationError, f"{inner} cannot stand inside of {outer}", token, hint=hint)


def classified(source: Source, names: Names, tokens: Sequence[Token]) -> str | None:
    """The variable in CLASSIFIER(U), None for CLASSIFIER()."""
    inside = tokens[2:-1]
    if not inside:
        return None
    if len(inside) > 1 or not inside[0].is_name:
        raise source.error(
            QuerySyntaxError,
            f"CLASSIFIER takes a variable or nothing, found {describe(inside[0])}",
            span_of(inside),
            hint="write CLASSIFIER() for the variable of the row",
        )
    return names.variable(source, inside[0])


def column_token(name: str, written: Sequence[Token]) -> Token:
    """A column that stands for something written."""
    span = span_of(written)
    return Token(Kind.WORD, name, span.start, span.end)
