"""`prev(x, n)`: what a condition reads of earlier instants (SEM 15), found, checked and taken apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from situ.errors import ForbiddenExpressionError, QuerySyntaxError, Span
from situ.language.text.dialect import parse
from situ.language.text.nodes import Expression
from situ.language.text.render import is_call, render
from situ.language.text.sql import columns_of
from situ.language.text.tokens import Kind, Source, Token, span_of, tokenize

MOST_BACK = 1000
_MOST_DIGITS = 100  # Python does not read any number of digits
_EXAMPLE = "write prev(speed) for the instant before, or prev(speed, 3) for the third before it"


class Call(NamedTuple):
    """A call of prev: the positions of its name and of the bracket that closes it."""

    begin: int
    end: int

    def arguments(self, tokens: Sequence[Token]) -> list[list[Token]]:
        """The tokens between its brackets, cut at commas."""
        parts: list[list[Token]] = [[]]
        depth = 0
        for token in tokens[self.begin + 2 : self.end]:
            depth += token.is_sign("(", "[") - token.is_sign(")", "]")
            if token.is_sign(",") and depth == 0:
                parts.append([])
            else:
                parts[-1].append(token)
        return parts if parts != [[]] else []

    def span(self, tokens: Sequence[Token]) -> Span:
        """Where it stands."""
        return span_of(tokens[self.begin : self.end + 1])


def calls(tokens: Sequence[Token]) -> Iterator[Call]:
    """The calls of prev, from left to right; those inside of others are not told."""
    position = 0
    while position < len(tokens):
        if is_prev(tokens, position):
            end = _closing(tokens, position + 1)
            yield Call(position, end)
            position = end
        position += 1


def is_prev(tokens: Sequence[Token], position: int) -> bool:
    """Whether a call of prev begins here."""
    before = tokens[position - 1] if position else None
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    return tokens[position].is_word("PREV") and is_call(tokens[position], before, after)


def check_prev(source: Source, tokens: Sequence[Token], what: str) -> None:
    """Every prev has an expression over one row, and says by a whole number how far back."""
    for call in calls(tokens):
        arguments = call.arguments(tokens)
        if not arguments or not arguments[0]:
            raise source.error(
                QuerySyntaxError, f"{what} calls prev of nothing", call.span(tokens), hint=_EXAMPLE
            )
        if len(arguments) > 2:
            raise source.error(
                QuerySyntaxError,
                f"prev takes an expression and a number of instants, found {len(arguments)} arguments",
                call.span(tokens),
                hint=_EXAMPLE,
            )
        for inner in range(call.begin + 1, call.end):
            if is_prev(tokens, inner):
                raise source.error(
                    ForbiddenExpressionError,
                    f"{what} calls prev inside of prev",
                    tokens[inner],
                    hint="say how many instants back in one call: prev(speed, 2) is the value before the "
                    "one before",
                )
        if len(arguments) == 2:
            _check_distance(source, tokens, call, arguments[1])


def _check_distance(source: Source, tokens: Sequence[Token], call: Call, written: Sequence[Token]) -> None:
    is_whole = len(written) == 1 and written[0].kind is Kind.NUMBER and written[0].value.isdecimal()
    if is_whole and len(written[0].value) <= _MOST_DIGITS and 1 <= int(written[0].value) <= MOST_BACK:
        return
    found = source.text[written[0].start : written[-1].end] if written else "nothing"
    raise source.error(
        QuerySyntaxError,
        f"the number of instants that prev goes back is a whole number from 1 to {MOST_BACK:,}, "
        f"found {found}",
        span_of(written) if written else call.span(tokens),
        hint=_EXAMPLE,
    )


def refuse_prev(source: Source, tokens: Sequence[Token], what: str) -> None:
    """Refuse to look back where there are no earlier instants to look at (SEM 15.2)."""
    for call in calls(tokens):
        raise source.error(
            ForbiddenExpressionError,
            f"{what} calls prev, which only a condition of DEFINE over events can",
            tokens[call.begin],
            hint="define a symbol by it, as in R AS speed > prev(speed), "
            "or compute it as a column of the DataFrame first",
        )


def looks_back(expression: Expression) -> bool:
    """Whether an expression calls prev."""
    return "PREV(" in expression.sql and any(True for _ in calls(tokenize(expression.sql)[:-1]))


def how_far_back(expression: Expression) -> int:
    """How many instants an expression looks back at the most, 0 for none."""
    found = [0]

    def note(inner: Expression, n: int) -> str:
        found.append(n)
        return "NULL"

    if looks_back(expression):
        taken_apart(expression, note)
    return max(found)


def taken_apart(expression: Expression, instead: Callable[[Expression, int], str]) -> Expression:
    """The expression with something else for each prev: `instead` says what, by its two arguments."""
    tokens = tokenize(expression.sql)[:-1]
    rest: list[Token] = []
    position = 0
    for call in calls(tokens):
        inner, *number = call.arguments(tokens)
        sql = render(inner)
        distance = int(number[0][0].value) if number else 1
        other = instead(Expression(sql, columns_of(parse(sql))), distance)
        rest += [*tokens[position : call.begin], *tokenize(other)[:-1]]
        position = call.end + 1
    sql = render([*rest, *tokens[position:]])
    return Expression(sql, columns_of(parse(sql)))


def _closing(tokens: Sequence[Token], opening: int) -> int:
    """The bracket that closes the one at `opening`; the last token where none does."""
    depth = 0
    for position in range(opening, len(tokens)):
        depth += tokens[position].is_sign("(") - tokens[position].is_sign(")")
        if depth == 0:
            return position
    return len(tokens) - 1
