"""From the tokens of a Spark SQL expression to an `Expression`: checked, unqualified, canonical."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlglot.expressions as exp

from situ.errors import ForbiddenExpressionError, QuerySyntaxError, Span
from situ.language.text.dialect import MAX_NESTING, NotAnExpression, TooDeep, parse
from situ.language.text.nesting import check_nesting, too_deep, tree_nesting
from situ.language.text.nodes import Expression
from situ.language.text.render import render
from situ.language.text.rowchecks import check_calls, check_durations, check_numbers, check_order
from situ.language.text.tokens import Kind, Source, Token, describe, span_of, tokenize
from situ.language.text.words import INTERVAL_UNITS, KEYWORDS, TYPES_WITH_ARGUMENTS


@dataclass(frozen=True)
class Scope:
    """What an expression may qualify its columns with: FROM name and alias, each as a tuple of parts."""

    qualifiers: frozenset[tuple[str, ...]] = field(default_factory=frozenset)

    def strip(self, parts: Sequence[str]) -> int:
        """How many leading parts of a dotted name only say which table it is."""
        lowered = tuple(part.lower() for part in parts)
        return max((n for n in range(1, len(parts)) if lowered[:n] in self.qualifiers), default=0)


def expression(
    source: Source, tokens: Sequence[Token], scope: Scope, *, what: str, after: Token | None = None
) -> Expression:
    """Check the tokens as a deterministic expression over one row and make it canonical.

    `what` names the expression in errors ("the condition of A"); `after` is the token it follows,
    to point at when it is empty.
    """
    if not tokens:
        assert after is not None
        raise source.error(QuerySyntaxError, f"{what} is missing after {describe(after)}", after)
    check_nesting(source, tokens)
    check_durations(source, tokens)
    check_numbers(source, tokens)
    check_calls(source, tokens, what)
    check_order(source, tokens, what)
    return finish(source, tokens, _unqualified(tokens, scope), what)


def finish(source: Source, written: Sequence[Token], tokens: Sequence[Token], what: str) -> Expression:
    """Parse canonical tokens; `written` are the user's, for the caret."""
    sql = render(tokens)
    try:
        tree = parse(sql)
    except TooDeep:
        raise too_deep(source, span_of(written)) from None
    except NotAnExpression as error:
        raise source.error(
            QuerySyntaxError,
            f"{what} is not a Spark SQL expression",
            _blame(written, tokens, sql, error.offset),
            hint="a function near the mark has too many or too few arguments, or an operator lacks an operand"
            if error.bad_arguments
            else "check the operators and parentheses near the mark; "
            "a name that is not made of letters, digits and _ needs back-quotes",
        ) from None
    if tree_nesting(tree) > 4 * MAX_NESTING:  # what the reader sees as one level is up to four nodes
        raise too_deep(source, span_of(written))
    _check_tree(source, written, tree, what)
    return Expression(sql, columns_of(tree))


def columns_of(tree: exp.Expression) -> tuple[str, ...]:
    """The columns an expression reads, in order of first use; of `a.b` that is `a`."""
    # sqlglot already turns the variables of a lambda into plain identifiers.
    columns = (node.parts[0].name for node in tree.find_all(exp.Column, bfs=False))
    return tuple(dict.fromkeys(columns))


def paths(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """The dotted names among the tokens, each as the positions of its first and last token."""
    found = []
    position = 0
    while position < len(tokens):
        token = tokens[position]
        starts = token.kind is Kind.QUOTED or (token.kind is Kind.WORD and not token.is_in(KEYWORDS))
        if not starts or (position and tokens[position - 1].is_sign(".")):
            position += 1
            continue
        last = position
        while last + 2 < len(tokens) and tokens[last + 1].is_sign(".") and tokens[last + 2].is_name:
            last += 2
        found.append((position, last))
        position = last + 1
    return found


def lambda_names(tokens: Sequence[Token]) -> frozenset[str]:
    """Variables of lambdas such as `x -> x > 0` and `(x, i) -> x + i`, in lower case."""
    names: set[str] = set()
    for position, token in enumerate(tokens):
        if not token.is_sign("->") or position == 0:
            continue
        if tokens[position - 1].is_name:
            names.add(tokens[position - 1].value.lower())
        back = position - 2
        while tokens[position - 1].is_sign(")") and back >= 0 and not tokens[back].is_sign("(", ")"):
            if tokens[back].is_name:
                names.add(tokens[back].value.lower())
            back -= 1
    return frozenset(names)


def is_syntax(tokens: Sequence[Token], position: int) -> bool:
    """A word that is part of Spark's syntax and no column: a unit, a type, a typed literal's name."""
    token = tokens[position]
    before = tokens[position - 1] if position else None
    after = tokens[position + 1] if position + 1 < len(tokens) else None
    if token.kind is not Kind.WORD:
        return False
    if before is not None:
        if before.kind in (Kind.NUMBER, Kind.STRING) or before.is_word("AS", "TO", "INTERVAL", "COLLATE"):
            return True
        if before.is_sign("::") or (before.is_sign("<") and tokens[position - 2].is_in(TYPES_WITH_ARGUMENTS)):
            return True
        if before.is_sign("(") and after is not None and after.is_sign(",") and token.is_in(INTERVAL_UNITS):
            return True  # timestampdiff(SECOND, A.ts, B.ts)
    return after is not None and (
        after.kind is Kind.STRING or after.is_word("FROM") or after.is_sign("->", "=>")
    )


def _unqualified(tokens: Sequence[Token], scope: Scope) -> list[Token]:
    """The tokens without `source.` before column names."""
    if not scope.qualifiers:
        return list(tokens)
    variables = lambda_names(tokens)
    dropped: set[int] = set()
    for first, last in paths(tokens):
        parts = [token.value for token in tokens[first : last + 1 : 2]]
        if parts[0].lower() not in variables:
            dropped.update(range(first, first + 2 * scope.strip(parts)))
    return [token for position, token in enumerate(tokens) if position not in dropped]


def _blame(written: Sequence[Token], tokens: Sequence[Token], sql: str, offset: int | None) -> Span:
    """Where in the user's text the parser stopped: the canonical text has the same tokens."""
    if offset is None:
        return span_of(written)
    stopped = sum(1 for token in tokenize(sql)[:-1] if token.start < offset)
    return tokens[min(stopped, len(tokens) - 1)].span


_ORDERINGS = (exp.LT, exp.LTE, exp.GT, exp.GTE)
_FORBIDDEN_NODES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Query, "a subquery"),
    (exp.Window, "a window function"),
    (exp.Placeholder, "a parameter"),
    (exp.Parameter, "a parameter"),
    (exp.SessionParameter, "a parameter"),
    (exp.Star, "a star"),
    (exp.Command, "a command"),
)


def _check_tree(source: Source, written: Sequence[Token], tree: exp.Expression, what: str) -> None:
    joined = next((token for token in written if token.is_sign("||")), None)
    for node in tree.walk():
        if (
            isinstance(node, _ORDERINGS)
            and isinstance(node.left, (*_ORDERINGS, exp.EQ))
            and joined is not None
        ):
            raise source.error(QuerySyntaxError, "|| joins strings", joined, hint="write OR")
        if isinstance(node, _ORDERINGS) and isinstance(node.left, (*_ORDERINGS, exp.EQ)):
            raise source.error(
                QuerySyntaxError,
                f"{what} compares the outcome of a comparison",
                span_of(written),
                hint="write 5 < speed AND speed < 70 instead of 5 < speed < 70",
            )
        for kind, name in _FORBIDDEN_NODES:
            if isinstance(node, kind):
                raise source.error(
                    ForbiddenExpressionError,
                    f"{what} contains {name}, but it must be an expression over the columns of one row",
                    span_of(written),
                    hint="compute such a value in the DataFrame first and use its column here",
                )
