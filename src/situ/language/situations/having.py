"""HAVING: which matches are reported, by a condition over their items and RETURN's names (SEM 13.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import sqlglot.expressions as exp

from situ.errors import QueryError, QuerySyntaxError, ReturnItemError
from situ.language.situations.ast import Item, Query, ReturnItem
from situ.language.situations.returns import ItemReader
from situ.language.text.clauses import Clause
from situ.language.text.looking import refuse_prev
from situ.language.text.nodes import Expression
from situ.language.text.places import Phrase
from situ.language.text.render import render
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean, tokenize
from situ.language.text.words import quote

WHAT = "the condition of HAVING"


def having_phrase(source: Source, clause: Clause) -> Phrase:
    """The condition as it was written."""
    if not clause.tokens:
        raise source.error(
            QuerySyntaxError,
            f"{WHAT} is missing after {describe(clause.keyword)}",
            clause.keyword,
            hint="say which matches to report, as in HAVING avg(A.speed) > 70",
        )
    return Phrase(source, clause.tokens)


class HavingReader(ItemReader):
    """Reads a condition over items, which may also be called what RETURN calls them."""

    def __init__(
        self,
        symbols: Sequence[str],
        *,
        is_intervals: bool,
        items: dict[Item, int],
        absent: Sequence[str] = (),
    ) -> None:
        super().__init__(symbols, is_intervals=is_intervals, absent=absent)
        self.items = items
        self.named: dict[str, ReturnItem] = {}

    def condition(self, phrase: Phrase, returns: Sequence[ReturnItem]) -> Expression:
        """The condition over `_item_<i>`; items that RETURN has not asked for come behind its own."""
        source, tokens = phrase
        self.named = {item.name.lower(): item for item in returns}
        refuse_prev(source, tokens, WHAT)
        return self.checked(source, tokens, self.replaced(source, tokens), WHAT)

    def _referred(
        self, source: Source, tokens: Sequence[Token], first: int, last: int
    ) -> tuple[Sequence[Token], int]:
        token = tokens[first]
        returned = self.named.get(token.value.lower())
        if returned is None or (last > first and token.value in self.symbols):
            return super()._referred(source, tokens, first, last)
        return _placed(returned.expression, token), first

    def _bare(self, source: Source, token: Token) -> QueryError:
        names = [item.name for item in self.named.values()]
        example = quote(self.symbols[0])
        hint = did_you_mean(token.value, names) or (
            f"RETURN names {', '.join(map(quote, names))}; items are such as "
            f"first({example}.{quote(token.value)}), count({example}) and {example}.duration"
        )
        return source.error(
            ReturnItemError,
            f"{describe(token)} is neither returned nor a value of the match as a whole",
            token,
            hint=hint,
        )


def without_having(query: Query) -> Query:
    """The same query, every match of which is reported, and no item asked for that only HAVING reads."""
    if query.having is None:
        return query
    n_items = n_returned_items(query)
    return replace(query, having=None, items=query.items[:n_items])


def n_returned_items(query: Query) -> int:
    """How many items RETURN reads: they come first."""
    used = [int(name.removeprefix("_item_")) for item in query.returns for name in item.expression.columns]
    return max(used, default=-1) + 1


def read_items(query: Query) -> frozenset[int]:
    """The items that HAVING reads."""
    columns = () if query.having is None else query.having.columns
    return frozenset(int(name.removeprefix("_item_")) for name in columns)


def equal_firsts(query: Query) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """What HAVING asks to be equal of the first events of two situations: `first(A.x) = first(B.y)`.

    Each stands in a conjunction with all the rest, so a pair of situations without it is in no match that is
    reported. Null is equal to nothing.
    """
    if query.having is None:
        return []
    found = []
    for node in _conjuncts(query.having.tree):
        if isinstance(node, exp.EQ):
            left, right = _first(query, node.left), _first(query, node.right)
            if left is not None and right is not None and left[0] != right[0]:
                found.append((left, right))
    return found


def _conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    waiting, found = [tree], []
    while waiting:
        node = waiting.pop()
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And):
            waiting += [node.right, node.left]
        else:
            found.append(node)
    return found


def _first(query: Query, node: exp.Expr) -> tuple[str, str] | None:
    """The symbol and attribute of `first(A.x)`."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Column) or len(node.parts) > 1:
        return None
    item: Item = query.items[int(node.name.removeprefix("_item_"))]
    if item.function != "first" or item.attribute is None:
        return None
    return item.symbol, item.attribute


def _placed(of: Expression, at: Token) -> list[Token]:
    """The tokens of a RETURN expression, all where its name stands, in parentheses if there are several."""
    placed: list[Token] = []
    for token in tokenize(of.sql)[:-1]:
        before = placed[-1] if placed else None
        if before is not None and before.kind is Kind.NUMBER and token.kind is Kind.WORD:
            placed[-1] = before._replace(value=render([before, token]).replace(" ", ""))  # 5L is one number
        else:
            placed.append(token._replace(start=at.start, end=at.end))
    if len(placed) == 1:
        return placed
    opening, closing = (Token(Kind.SIGN, sign, at.start, at.end) for sign in "()")
    return [opening, *placed, closing]
