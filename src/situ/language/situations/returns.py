"""RETURN: expressions over aggregates and endpoints of situations, each with a name (SEM 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import (
    AbsenceError,
    ForbiddenExpressionError,
    QueryError,
    ReturnItemError,
    Span,
    UnknownAggregateError,
    UnknownSymbolError,
)
from situ.language.situations.ast import Item, ReturnItem
from situ.language.situations.draft import ReturnText
from situ.language.text.clauses import Clause, split_commas
from situ.language.text.looking import refuse_prev
from situ.language.text.named import with_name
from situ.language.text.nesting import check_nesting, closing
from situ.language.text.nodes import Expression
from situ.language.text.places import Place
from situ.language.text.render import is_call
from situ.language.text.rowchecks import check_calls, check_numbers, check_order
from situ.language.text.sql import finish, is_syntax, lambda_names, paths
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean, span_of
from situ.language.text.words import (
    AGGREGATES,
    ITEM_ENDPOINTS,
    SPARK_AGGREGATES,
    quote,
)

_SAME_AGGREGATE = {  # as in Spark
    "mean": "avg", "std": "stddev", "stddev_samp": "stddev", "array_agg": "collect_list"
}  # fmt: skip
_MEANT = (*AGGREGATES, *_SAME_AGGREGATE)
_OTHER_PERCENTILES = ("percentile_cont", "percentile_disc", "percentile_approx", "approx_percentile")


def return_texts(source: Source, clause: Clause) -> list[ReturnText] | None:
    """The items of a RETURN clause with their names; None for `RETURN *`."""
    if len(clause.tokens) == 1 and clause.tokens[0].is_sign("*"):
        return None
    return [_named(source, tokens, clause.keyword) for tokens in split_commas(clause.tokens)]


def _named(source: Source, tokens: Sequence[Token], keyword: Token) -> ReturnText:
    if tokens and tokens[0].is_sign("*"):
        raise source.error(
            ReturnItemError,
            "* stands alone in RETURN",
            tokens[0],
            hint="list A.ts AS a_ts and so on beside other items",
        )
    of, name = with_name(source, tokens, keyword, example="avg(A.speed) AS speed")
    return ReturnText(source, of, name.value, Place(source, name.span))


_MEANT_ENDPOINTS = {
    **dict.fromkeys(("start", "begin", "starts", "start_time", "from"), "ts"),
    **dict.fromkeys(("end", "stop", "ends", "end_time", "until"), "te"),
    **dict.fromkeys(("length", "dur", "lasts", "lasting"), "duration"),
}


class ItemReader:
    """Turns RETURN texts into expressions over `_item_<i>` columns, collecting the items."""

    def __init__(self, symbols: Sequence[str], *, is_intervals: bool, absent: Sequence[str] = ()) -> None:
        self.symbols, self.absent = tuple(symbols), frozenset(absent)
        self.is_intervals = is_intervals
        self.items: dict[Item, int] = {}

    def read(self, text: ReturnText) -> ReturnItem:
        source, tokens = text.source, text.tokens
        what = f"the RETURN item {text.name}"
        refuse_prev(source, tokens, what)
        replaced = self.replaced(source, tokens)
        return ReturnItem(text.name, self.checked(source, tokens, replaced, what))

    def checked(
        self, source: Source, tokens: Sequence[Token], replaced: Sequence[Token], what: str
    ) -> Expression:
        """An expression over columns `_item_<i>`; `tokens` are those as written."""
        check_calls(source, replaced, what)
        check_order(source, replaced, what)
        return finish(source, tokens, replaced, what)

    def replaced(self, source: Source, tokens: Sequence[Token]) -> list[Token]:
        """The tokens with a column in place of each item."""
        check_nesting(source, tokens)
        check_numbers(source, tokens)
        return self._replace(source, tokens)

    def _replace(self, source: Source, tokens: Sequence[Token]) -> list[Token]:
        starts = dict(paths(tokens))
        variables = lambda_names(tokens)
        result: list[Token] = []
        position = 0
        while position < len(tokens):
            last = starts.get(position)
            if last is None:
                result.append(tokens[position])
                position += 1
                continue
            if self._is_aggregate(tokens, position, last):
                item, last = self._aggregate(source, tokens, position)
                result.append(self._column(item, tokens[position : last + 1]))
                _check_alone(source, tokens, last + 1)
            elif self._is_reference(tokens, position, last, variables):
                instead, used = self._referred(source, tokens, position, last)
                result.extend((*instead, *tokens[used + 1 : last + 1]))
            else:
                result.extend(tokens[position : last + 1])
            position = last + 1
        return result

    def _column(self, item: Item, written: Sequence[Token]) -> Token:
        number = self.items.setdefault(item, len(self.items))
        span = span_of(written)
        return Token(Kind.WORD, f"_item_{number}", span.start, span.end)

    # -- aggregates

    def _is_aggregate(self, tokens: Sequence[Token], position: int, last: int) -> bool:
        before = tokens[position - 1] if position else None
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        if last != position or not is_call(tokens[position], before, after):
            return False
        name = tokens[position].value.lower()
        if name in AGGREGATES or name in SPARK_AGGREGATES:
            return True
        # An unknown function over nothing but `A.attr` was meant as an aggregate if its name is like one.
        attribute_alone = position + 5 < len(tokens) and tokens[position + 5].is_sign(")", ",")
        return (
            attribute_alone
            and did_you_mean(name, _MEANT) is not None
            and self._at_attribute(tokens, position + 2)
        )

    def _at_attribute(self, tokens: Sequence[Token], position: int) -> bool:
        names = (
            tokens[position].is_name and tokens[position + 1].is_sign(".") and tokens[position + 2].is_name
        )
        return (
            names
            and tokens[position].value in self.symbols
            and tokens[position + 2].value.lower() not in ITEM_ENDPOINTS
        )

    def _aggregate(self, source: Source, tokens: Sequence[Token], position: int) -> tuple[Item, int]:
        function = tokens[position]
        name = _SAME_AGGREGATE.get(function.value.lower(), function.value.lower())
        if name not in AGGREGATES:
            raise self._unknown(source, function)
        close = closing(tokens, position + 1)
        inside = tokens[position + 2 : close]
        whole = Span(function.start, tokens[close].end)
        if not inside or inside[0].is_sign("*"):
            raise source.error(
                ReturnItemError, f"say what to take the {name} of", whole, hint=f"write {self._example(name)}"
            )
        if inside[0].is_word("DISTINCT", "ALL"):
            raise source.error(ReturnItemError, f"{name} takes no {inside[0].value}", inside[0])
        fraction = None
        if name == "percentile":
            inside, fraction = self._with_fraction(source, inside, whole)
        if len(inside) == 1 and inside[0].is_name and name == "count" and inside[0].value in self.symbols:
            return Item("count", inside[0].value), close
        if len(inside) == 3 and inside[0].is_name and inside[1].is_sign(".") and inside[2].is_name:
            return self._attribute_item(source, name, inside, fraction), close
        raise self._bad_argument(source, name, inside)

    def _unknown(self, source: Source, function: Token) -> QueryError:
        name = function.value.lower()
        hint = None if name in SPARK_AGGREGATES else did_you_mean(name, _MEANT)
        if name in _OTHER_PERCENTILES:
            hint = f"percentiles are exact here: {self._example('percentile')}"
        return source.error(
            UnknownAggregateError,
            f"{function.value} is not an aggregate of situations",
            function,
            hint=hint or "the aggregates are " + ", ".join(AGGREGATES),
        )

    def _with_fraction(
        self, source: Source, inside: Sequence[Token], whole: Span
    ) -> tuple[Sequence[Token], float]:
        """What percentile is taken of, and which: a number from 0 to 1, known before any data."""
        of, *others = split_commas(inside)
        hint = f"write {self._example('percentile')}, one item for each percentile"
        if not others:
            raise source.error(ReturnItemError, "percentile needs a number from 0 to 1", whole, hint=hint)
        if len(others) > 1:
            raise source.error(
                ReturnItemError, "percentile takes no frequencies", span_of(others[1] or inside), hint=hint
            )
        number = others[0]
        is_one = len(number) == 1 and number[0].kind is Kind.NUMBER
        if not is_one or not 0 <= float(number[0].value) <= 1:
            raise source.error(
                ReturnItemError,
                "percentile takes one plain number from 0 to 1 behind the column",
                span_of(number or inside),
                hint=hint,
            )
        return of, float(number[0].value)

    def _attribute_item(
        self, source: Source, name: str, inside: Sequence[Token], fraction: float | None
    ) -> Item:
        symbol, attribute = inside[0], inside[2]
        self._check_symbol(source, symbol)
        if attribute.is_word("TS", "TE", "DURATION"):
            raise source.error(
                ReturnItemError,
                f"{symbol.value}.{attribute.value} is one value of the situation, so there "
                "is nothing to aggregate",
                span_of(inside),
                hint=f"write {symbol.value}.{attribute.value.lower()} alone; a column of "
                "that name is written "
                f"{symbol.value}.`{attribute.value}`",
            )
        return Item(name, symbol.value, attribute.value, fraction)

    def _bad_argument(self, source: Source, name: str, inside: Sequence[Token]) -> QueryError:
        span = span_of(inside)
        if len(inside) == 1 and inside[0].is_name:
            self._check_absent(source, inside[0])
            written = inside[0].value
            if written in self.symbols:
                hint = f"say which column, as in {_call(name, f'{quote(written)}.speed')}"
            elif name == "count" and (close := did_you_mean(written, self.symbols)):
                hint = close
            else:
                path = f"{quote(self.symbols[0])}.{quote(written)}"
                hint = f"say of which situation: {_call(name, path)}"
                if name == "count":
                    hint = f"the symbols are {', '.join(self.symbols)}; of a column {hint}"
        elif any(token.is_name and token.value.lower() in AGGREGATES for token in inside):
            hint = "aggregates cannot be nested"
        else:
            hint = f"compute with the result, as in {self._example(name)} * 2, or add a column first"
        return source.error(
            ReturnItemError,
            f"{name} takes a column of a situation, as in {self._example(name)}",
            span,
            hint=hint,
        )

    def _example(self, name: str) -> str:
        symbol = quote(self.symbols[0])
        return f"count({symbol})" if name == "count" else _call(name, f"{symbol}.speed")

    # -- A.ts, A.te, A.duration, and for intervals A.attr

    def _is_reference(
        self, tokens: Sequence[Token], position: int, last: int, variables: frozenset[str]
    ) -> bool:
        called = last + 1 < len(tokens) and tokens[last + 1].is_sign("(")
        if called or tokens[position].value.lower() in variables:
            return False
        return last > position or not is_syntax(tokens, position)

    def _referred(
        self, source: Source, tokens: Sequence[Token], first: int, last: int
    ) -> tuple[Sequence[Token], int]:
        """What stands for a dotted name, and the last of its tokens that this is for."""
        item, used = self._reference(source, tokens, first, last)
        return (self._column(item, tokens[first : used + 1]),), used

    def _reference(self, source: Source, tokens: Sequence[Token], first: int, last: int) -> tuple[Item, int]:
        symbol = tokens[first]
        if last == first:
            raise self._bare(source, symbol)
        self._check_symbol(source, symbol)
        attribute = tokens[first + 2]
        if attribute.is_word("TS", "TE", "DURATION"):
            return Item(attribute.value.lower(), symbol.value), first + 2
        if self.is_intervals:
            return Item("value", symbol.value, attribute.value), first + 2
        written = f"{quote(symbol.value)}.{quote(attribute.value)}"
        meant = _MEANT_ENDPOINTS.get(attribute.value.lower())
        raise source.error(
            ReturnItemError,
            f"{written} has a value for every event of the situation, so it needs an aggregate",
            span_of(tokens[first : first + 3]),
            hint=(f"did you mean {quote(symbol.value)}.{meant}? Of a column " if meant else "")
            + f"write first({written}), last({written}), avg({written}) or another of "
            + ", ".join(AGGREGATES),
        )

    def _bare(self, source: Source, token: Token) -> QueryError:
        self._check_absent(source, token)
        if token.value in self.symbols:
            symbol = quote(token.value)
            hint = f"say what of it: count({symbol}), {symbol}.ts, {symbol}.duration, avg({symbol}.speed)"
        else:
            hint = (
                "partition columns are in the result anyway; "
                f"of another column take an aggregate: first({quote(self.symbols[0])}.{quote(token.value)})"
            )
        return source.error(
            ReturnItemError, f"{describe(token)} is not a value of the match as a whole", token, hint=hint
        )

    def _check_symbol(self, source: Source, token: Token) -> None:
        self._check_absent(source, token)
        if token.value not in self.symbols:
            raise unknown_symbol(Place(source, token.span), token.value, self.symbols)

    def _check_absent(self, source: Source, token: Token) -> None:
        if token.value in self.absent:
            raise source.error(
                AbsenceError,
                f"a match has no {token.value}: PATTERN says NO of it",
                token,
                hint="take values of the symbols that are there: " + ", ".join(map(quote, self.symbols)),
            )


def _call(name: str, path: str) -> str:
    return f"percentile({path}, 0.95)" if name == "percentile" else f"{name}({path})"


def unknown_symbol(place: Place, name: str, symbols: Sequence[str]) -> QueryError:
    """The error for a symbol nobody defined."""
    return place.error(
        UnknownSymbolError,
        f'there is no symbol "{name}"',
        hint=did_you_mean(name, symbols) or "the symbols are " + ", ".join(symbols),
    )


def _check_alone(source: Source, tokens: Sequence[Token], position: int) -> None:
    """An aggregate of a situation has no OVER, FILTER or WITHIN GROUP of its own."""
    if position < len(tokens) and tokens[position].is_word("OVER", "FILTER", "WITHIN", "IGNORE", "RESPECT"):
        raise source.error(
            ForbiddenExpressionError,
            f"an aggregate of a situation takes no {tokens[position].value}",
            tokens[position],
            hint="it is taken over all events of its situation; narrow the situation's condition instead",
        )
