"""PATTERN: `( A B* (C | D){2,5}? )` as data (ROW 4.1, 4.2)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import NestingError, QueryError, QuerySyntaxError, RowPatternError, Span
from situ.language.rows.ast import (
    Anchor,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)
from situ.language.rows.draft import Mention, PatternText
from situ.language.rows.names import variable_name
from situ.language.rows.shapes import alternation, concatenation, n_positions
from situ.language.text.places import Place
from situ.language.text.tokens import Kind, Source, Token, describe

MOST_PERMUTED = 6
MOST_POSITIONS = 100_000  # of a pattern with every repetition written out
MOST_NESTED = 50
_MOST_DIGITS = 9
_EXAMPLE = "write PATTERN (A B+ C), DEFINE says what each of them is"
_END = Token(Kind.END, "", 0, 0)


def read_pattern(source: Source, tokens: Sequence[Token], keyword: Token) -> PatternText:
    """The pattern that all these tokens write, with the parentheses around it."""
    if not tokens:
        raise source.error(QuerySyntaxError, "the pattern is missing after PATTERN", keyword, hint=_EXAMPLE)
    if not tokens[0].is_sign("("):
        raise source.expected("( after PATTERN", tokens[0], hint=_EXAMPLE)
    reader = PatternReader(source, tokens)
    pattern = reader.group()
    if (found := reader.peek()).kind is not Kind.END:
        raise source.error(
            QuerySyntaxError,
            f"the pattern ends before {describe(found)}",
            found,
            hint="PATTERN has one pair of parentheses around all of it"
            if not found.is_name
            else "the next clause is WITHIN, SUBSET or DEFINE",
        )
    place = Place(source, Span(tokens[0].start, tokens[-1].end))
    if (size := n_positions(pattern)) > MOST_POSITIONS:
        raise place.error(
            RowPatternError,
            f"this pattern has {size:,} places once its repetitions are written out, "
            f"and at most {MOST_POSITIONS:,} can be",
            hint="use + or * and bound the match by WITHIN, "
            "or count rows in a condition: B AS count(B.*) <= 500000",
        )
    reader.found.place, reader.found.pattern = place, pattern
    return reader.found


class PatternReader:
    """Reads the tokens of a pattern from left to right."""

    def __init__(self, source: Source, tokens: Sequence[Token]) -> None:
        self.source, self.tokens, self.position, self.depth = source, tokens, 0, 0
        self.found = PatternText(Place(source, Span(0, 0)), Empty())

    def peek(self, ahead: int = 0) -> Token:
        position = self.position + ahead
        return self.tokens[position] if position < len(self.tokens) else self._end()

    def _end(self) -> Token:
        return _END._replace(start=self.tokens[-1].end, end=self.tokens[-1].end)

    def next(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def group(self) -> Pattern:
        """`( p )`, or `()`."""
        opening = self.next()
        self._go_deeper(opening)
        if self.peek().is_sign(")"):
            body: Pattern = Empty()
        else:
            body = self._alternation()
        if not self.peek().is_sign(")"):
            raise self._unexpected(self.peek())
        self.next()
        self.depth -= 1
        return body

    def _go_deeper(self, opening: Token) -> None:
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise self._error(NestingError, f"this is nested deeper than {MOST_NESTED} levels", opening)

    def _alternation(self) -> Pattern:
        choices = [self._concatenation()]
        while self.peek().is_sign("|"):
            self.next()
            choices.append(self._concatenation())
        return alternation(choices)

    def _concatenation(self) -> Pattern:
        parts = []
        while self._at_part():
            parts.append(self._quantified())
        if not parts:
            found = self.peek()
            raise (
                self._unexpected(found)
                if not found.is_sign("|", "||", ")")
                else self._error(
                    QuerySyntaxError,
                    f"expected a variable, found {describe(found)}",
                    found,
                    "alternatives are separated by one |; an empty one is written ()",
                )
            )
        return concatenation(parts)

    def _at_part(self) -> bool:
        token = self.peek()
        return (
            token.is_name
            or token.is_sign("(", "^", "$")
            or (token.is_sign("{") and self.peek(1).is_sign("-"))
        )

    def _quantified(self) -> Pattern:
        begin = self.peek()
        part = self._part()
        if not self.peek().is_sign("*", "+", "?", "{") or self._at_part():
            return part
        least, most = self._bounds()
        is_reluctant = self.peek().is_sign("?")
        if is_reluctant:
            place = Place(self.source, self.next().span)
            self.found.reluctant = self.found.reluctant or place
        if self.peek().is_sign("*", "+", "?", "{") and not self._at_part():
            first = self.source.text[begin.start : self.tokens[self.position - 1].end]
            raise self._error(
                QuerySyntaxError,
                "a quantifier follows a quantifier",
                self.peek(),
                f"put parentheses around the first: ({first})",
            )
        return Repetition(part, least, most, is_reluctant)

    def _part(self) -> Pattern:
        token = self.peek()
        if token.is_sign("("):
            return self.group()
        if token.is_sign("{"):
            return self._exclusion()
        if token.is_word("PERMUTE") and self.peek(1).is_sign("("):
            return self._permutation()
        self.next()
        if token.is_sign("^", "$"):
            self.found.anchor = self.found.anchor or Place(self.source, token.span)
            return Anchor(is_start=token.value == "^")
        if self.peek().is_sign("."):
            raise self._error(
                QuerySyntaxError,
                f"expected a variable alone, found {describe(token)} and a dot",
                self.peek(),
                _EXAMPLE,
            )
        name = variable_name(token)
        self.found.mentions.append(Mention(name, Place(self.source, token.span)))
        return Variable(name)

    def _exclusion(self) -> Pattern:
        opening = self.next()
        self.next()
        self.found.exclusion = self.found.exclusion or Place(
            self.source, Span(opening.start, opening.end + 1)
        )
        self._go_deeper(opening)
        body = self._alternation()
        if not (self.peek().is_sign("-") and self.peek(1).is_sign("}")):
            raise self._error(
                QuerySyntaxError,
                f"expected -}} at the end of what {{- leaves out, found {describe(self.peek())}",
                self.peek(),
            )
        self.position += 2
        self.depth -= 1
        return Exclusion(body)

    def _permutation(self) -> Pattern:
        word = self.next()
        self.next()
        self._go_deeper(word)
        parts = [self._alternation()]
        while self.peek().is_sign(","):
            self.next()
            parts.append(self._alternation())
        if not self.peek().is_sign(")"):
            raise self._unexpected(self.peek())
        self.next()
        self.depth -= 1
        if len(parts) > MOST_PERMUTED:
            raise self._error(
                RowPatternError,
                f"PERMUTE takes at most {MOST_PERMUTED} elements, found {len(parts)}",
                word,
                "it stands for all their orders; for any of them any number of times write (A | B | C)+",
            )
        return parts[0] if len(parts) == 1 else Permutation(tuple(parts))

    # -- quantifiers

    def _bounds(self) -> tuple[int, int | None]:
        sign = self.next()
        if not sign.is_sign("{"):
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign.value]
        least = self._number()
        most = least
        has_comma = self.peek().is_sign(",")
        if has_comma:
            self.next()
            most = self._number()
        close = self.peek()
        if not close.is_sign("}") or (least is None and not has_comma):
            raise self._error(
                QuerySyntaxError,
                f"expected {'a number' if not has_comma and least is None else '}'}, found {describe(close)}",
                close,
                "quantifiers are * + ? {3} {3,} {,5} {3,5}, each with a ? behind it for as few as possible",
            )
        self.next()
        span = Span(sign.start, close.end)
        if most == 0:
            raise self._error(
                RowPatternError,
                "this takes nothing at all",
                span,
                "leave the variable out, or write () for nothing",
            )
        if least is not None and most is not None and least > most:
            raise self._error(
                RowPatternError,
                f"the bounds are the wrong way round: {least} is more than {most}",
                span,
                f"write {{{most},{least}}}",
            )
        return least or 0, most

    def _number(self) -> int | None:
        token = self.peek()
        if token.kind is not Kind.NUMBER:
            return None
        if not token.value.isdecimal() or len(token.value) > _MOST_DIGITS:
            raise self._error(QuerySyntaxError, f"expected a whole number, found {describe(token)}", token)
        self.next()
        return int(token.value)

    # -- errors

    def _unexpected(self, found: Token) -> QueryError:
        hints = {
            "||": "alternatives are separated by one |",
            ",": "variables that follow each other are separated by spaces alone: (A B C)",
            "*": "a quantifier follows what it repeats: A*",
            "+": "a quantifier follows what it repeats: A+",
            "?": "a quantifier follows what it repeats: A?",
            "{": "a quantifier follows what it repeats: A{2,5}",
            "-": "variables that follow each other are separated by spaces alone: (A B C); "
            "a name with a - in it is written in back-quotes",
            "->": "variables that follow each other are separated by spaces alone: (A B C)",
            "&": "rows that follow each other: (A B); conditions of one row are joined by AND in DEFINE",
            "!": "what a row must not be is said in DEFINE: X AS NOT (price > 5)",
        }
        return self._error(
            QuerySyntaxError,
            f"expected a variable or a sign of patterns, found {describe(found)}",
            found,
            hints.get(found.value) if found.kind is Kind.SIGN else _EXAMPLE,
        )

    def _error(
        self, kind: type[QueryError], message: str, where: Span | Token, hint: str | None = None
    ) -> QueryError:
        return self.source.error(kind, message, where, hint=hint)
