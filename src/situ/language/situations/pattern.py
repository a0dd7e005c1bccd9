"""PATTERN: relations between symbols, by name or by endpoints, joined with AND (SEM 3, 7).

pattern     := group AND group ...
group       := chain ; chain ...            alternatives, over one pair of symbols
chain       := A names B names C ...        names := name ; name ...
             | A.ts < B.ts <= A.te ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, cast

from situ.algebra.endpoints import Comparison, End, from_endpoints
from situ.algebra.relations import ALL, NAMES, converse, parse_name
from situ.errors import (
    AlternativesError,
    InconsistentPatternError,
    QueryError,
    QuerySyntaxError,
    SelfRelationError,
    Span,
    UnknownEndpointError,
    UnknownRelationError,
)
from situ.language.situations.draft import Mention, Pattern, Place, Written
from situ.language.text.clauses import Clause
from situ.language.text.foreign import missing_and, pattern_hint, relation_hint
from situ.language.text.tokens import Kind, Source, Token, describe, did_you_mean, span_of
from situ.language.text.words import ENDPOINTS, quote

_COMPARISONS = {"<": "<", "<=": "<=", "=": "=", "==": "=", ">=": ">=", ">": ">"}
_ALWAYS_TRUE = {("ts", "<", "te"), ("ts", "<=", "te"), ("te", ">", "ts"), ("te", ">=", "ts"),
                ("ts", "=", "ts"), ("ts", "<=", "ts"), ("ts", ">=", "ts"),
                ("te", "=", "te"), ("te", "<=", "te"), ("te", ">=", "te")}  # fmt: skip
_END = Token(Kind.END, "", 0, 0)
_FIRST_WORDS = {name.partition("-")[0] for name in NAMES} | {"equal"}


class _Link(NamedTuple):
    """One relation between two neighbours of a chain."""

    left: str
    right: str
    relations: int
    span: Span


@dataclass
class _Chain:
    links: list[_Link] = field(default_factory=list)
    n_operands: int = 0


class Endpoint(NamedTuple):
    symbol: str
    end: End
    span: Span


def pattern(source: Source, clause: Clause) -> Pattern:
    """Read a PATTERN clause; symbols are not yet looked up."""
    if not clause.tokens:
        raise source.error(
            QuerySyntaxError,
            "PATTERN is empty",
            clause.keyword,
            hint="write how symbols relate, as in A overlaps B",
        )
    reader = _Reader(source, clause)
    reader.conjunction(nested=False)
    return reader.result


class _Reader:
    def __init__(self, source: Source, clause: Clause) -> None:
        self.source = source
        self.tokens = clause.tokens
        self.position = 0
        self.has_link = False  # does the chain that is being read have a relation already
        # Known here for the sake of hints only.
        self.defined = {name.value for name, word in pairwise(source.tokens) if word.is_word("AS")}
        self.result = Pattern(Place(source, span_of((clause.keyword, *clause.tokens))))

    def peek(self, ahead: int = 0) -> Token:
        position = self.position + ahead
        if position < len(self.tokens):
            return self.tokens[position]
        end = self.tokens[-1].end
        return _END._replace(start=end, end=end)

    def next(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def error(
        self, kind: type[QueryError], message: str, where: Span | Token, hint: str | None = None
    ) -> QueryError:
        return self.source.error(kind, message, where, hint=hint)

    def conjunction(self, *, nested: bool) -> None:
        # Brackets only group; nesting is bounded by bracket_depths.
        while True:
            if self.peek().is_sign("("):
                self.next()
                self.conjunction(nested=True)
                self.next()
                if self.peek().is_sign(";"):
                    hint = "write the alternatives inside the brackets: (A meets B; A overlaps B)"
                    raise self.error(
                        QuerySyntaxError, "alternatives cannot follow a bracket", self.peek(), hint
                    )
            else:
                self.group()
            token = self.peek()
            if token.kind is Kind.END or (nested and token.is_sign(")")):
                return
            if not token.is_word("AND"):
                raise self.unexpected(token)
            self.next()

    def group(self) -> None:
        """Alternatives: the union of what each allows between the same two symbols."""
        first = self.peek()
        chains = [self.chain()]
        while self.peek().is_sign(";"):
            self.next()
            if self.peek().kind is Kind.END:
                raise self.error(QuerySyntaxError, "an alternative is missing after this ;", self.tokens[-1])
            chains.append(self.chain())
        last = self.tokens[self.position - 1]
        place = Place(self.source, Span(first.start, last.end))
        if len(chains) == 1:
            self.add_chain(chains[0])
        else:
            self.add_alternatives(chains, place)

    def add_chain(self, chain: _Chain) -> None:
        for link in chain.links:
            self.result.written.append(Written(*link[:3], Place(self.source, link.span)))

    def add_alternatives(self, chains: Sequence[_Chain], place: Place) -> None:
        pair: tuple[str, str] | None = None
        union = 0
        for chain in chains:
            allowed = ALL
            for link in chain.links:
                pair = pair or (link.left, link.right)
                if (link.left, link.right) == pair:
                    allowed &= link.relations
                elif (link.right, link.left) == pair:
                    allowed &= converse(link.relations)
                else:
                    raise self.error(
                        AlternativesError,
                        f"alternatives must be about the same two symbols, here {pair[0]} and {pair[1]}",
                        link.span,
                        hint="; separates alternatives for one pair; join constraints on "
                        "different pairs with AND",
                    )
            if not chain.links:
                hint = "leave it out: alternatives must relate two symbols"
                raise self.error(
                    AlternativesError, "one of these alternatives is always true", place.span, hint
                )
            union |= allowed
        assert pair is not None
        self.result.written.append(Written(*pair, union, place))

    def chain(self) -> _Chain:
        chain = _Chain()
        if self.is_endpoint():
            self.endpoint_chain(chain)
        else:
            self.named_chain(chain)
        return chain

    # -- A meets;overlaps B before C

    def named_chain(self, chain: _Chain) -> None:
        left = self.symbol()
        while True:
            self.has_link = bool(chain.links)
            relations = self.relation_names(left)
            right = self.symbol()
            span = Span(left.start, right.end)
            self.check_other(left.value, right.value, span)
            chain.links.append(_Link(left.value, right.value, relations, span))
            if not self.at_word():
                return
            left = right

    def at_word(self) -> bool:
        token = self.peek()
        return token.is_name and not token.is_word("AND", "OR")

    def symbol(self) -> Token:
        token = self.peek()
        if not token.is_name or token.is_word("AND", "OR"):
            raise self.unexpected(token, "a symbol")
        if (
            token.is_word("NOT", "NO")
            and self.peek(1).is_name
            and self.peek(1).value.lower() not in _FIRST_WORDS
        ):
            hint = f"there is no {token.value.upper()} in PATTERN: "
            hint += "list the relations that may hold, separated by ;"
            raise self.error(QuerySyntaxError, "a constraint cannot be negated", token, hint)
        if self.peek(1).is_sign("."):
            raise self.mixed(token)
        self.next()
        self.result.mentions.append(Mention(token.value, Place(self.source, token.span)))
        return token

    def relation_names(self, left: Token) -> int:
        relations = self.relation_name(left)
        while self.peek().is_sign(";"):
            self.next()
            relations |= self.relation_name(left)
        return relations

    def relation_name(self, left: Token) -> int:
        first = self.peek()
        if not self.at_word():
            raise self.no_relation(left, first)
        written, used = first.value, 1
        if self.peek(1).is_sign("-") and self.peek(2).is_name:
            written, used = f"{written}-{self.peek(2).value}", 3
        elif self.peek(1).is_name and parse_name(f"{written} {self.peek(1).value}") is not None:
            written, used = f"{written} {self.peek(1).value}", 2
        bits = parse_name(written)
        if bits is None:
            if used == 1 and (refusal := self.no_word_between(left, first)):
                raise refusal
            raise self.error(
                UnknownRelationError,
                f'there is no relation called "{written}"',
                Span(first.start, self.peek(used - 1).end),
                relation_hint(written)
                or did_you_mean(written, NAMES)
                or "the relations are " + ", ".join(NAMES),
            )
        self.position += used
        return bits

    def no_word_between(self, left: Token, found: Token) -> QueryError | None:
        """Where a symbol stands behind a symbol: AND is missing, or the relation between the two."""
        after = self.peek(1)
        begins_relation = after.is_name and after.value.lower() in _FIRST_WORDS
        if begins_relation and self.has_link:
            return missing_and(self.source, found)
        if begins_relation or found.value in self.defined:
            return self.error(
                QuerySyntaxError,
                f"expected a relation between {describe(left)} and {describe(found)}",
                found,
                f"say how they relate, as in {quote(left.value)} before {quote(found.value)}",
            )
        return None

    def no_relation(self, left: Token, found: Token) -> QueryError:
        following = next((token for token in self.source.tokens if token.start >= left.end), _END)
        if quantified := pattern_hint(left, found, self.peek(1)):
            hint = quantified
        elif found.kind is Kind.END and following.is_word("WITHIN"):
            found, hint = following, relation_hint("within") or ""
        elif found.is_sign(",", "|", "/"):
            hint = "separate alternatives with ; as in A meets;overlaps B, and constraints with AND"
        elif found.is_sign("=", "=="):
            hint = "write A equals B for two situations that start and end together"
        elif found.is_sign("<>", "!="):
            hint = "list the relations that may hold, separated by ; as in A before;after B"
        elif found.is_sign("<", ">", "<=", ">="):
            hint = "compare endpoints, as in A.te < B.ts, or name the relation, as in A before B"
        elif found.is_sign("->", "=>"):
            hint = "write A before B, or A followed-by B when neither may happen again in between"
        elif len(self.tokens) == 1:
            hint = "a single symbol needs no PATTERN: leave it out"
        else:
            hint = "name a relation, as in A overlaps B"
        return self.error(
            QuerySyntaxError,
            f"expected a relation after {describe(left)}, found {describe(found)}",
            found,
            hint,
        )

    # -- A.ts < B.ts <= A.te

    def is_endpoint(self) -> bool:
        return self.peek().is_name and self.peek(1).is_sign(".")

    def endpoint_chain(self, chain: _Chain) -> None:
        left = self.endpoint()
        if self.comparison_sign() is None:
            raise self.no_comparison()
        while (sign := self.comparison_sign()) is not None:
            self.next()
            if not self.is_endpoint():
                raise self.bad_endpoint(self.peek())
            right = self.endpoint()
            self.compare(chain, left, sign, right)
            left = right

    def endpoint(self) -> Endpoint:
        symbol, _, end = self.next(), self.next(), self.next()
        name = end.value.lower()
        span = Span(symbol.start, end.end)
        if name not in ENDPOINTS or end.kind is Kind.NUMBER:
            hint = {
                "start": "ts",
                "begin": "ts",
                "end": "te",
                "starts": "ts",
                "ends": "te",
                "stop": "te",
            }.get(name)
            raise self.error(
                UnknownEndpointError,
                f"PATTERN compares the start {symbol.value}.ts and the end {symbol.value}.te of situations, "
                f"not {symbol.value}.{end.value}",
                span,
                f"did you mean {symbol.value}.{hint}?"
                if hint
                else "compare values in the conditions of DEFINE, and bound lengths of time there",
            )
        self.result.mentions.append(Mention(symbol.value, Place(self.source, symbol.span)))
        return Endpoint(symbol.value, cast(End, name), span)

    def comparison_sign(self) -> str | None:
        token = self.peek()
        return _COMPARISONS.get(token.value) if token.kind is Kind.SIGN else None

    def no_comparison(self) -> QueryError:
        token = self.peek()
        if token.is_sign("<>", "!="):
            hint = "write A.ts < B.ts; A.ts > B.ts for two endpoints that differ"
        elif token.is_sign("-", "+"):
            hint = "lengths of time are bounded in DEFINE: A AS speed > 70 AT LEAST 5 seconds"
        else:
            hint = "write < <= = >= or > and another endpoint, as in A.ts < B.ts"
        return self.error(QuerySyntaxError, f"expected a comparison, found {describe(token)}", token, hint)

    def bad_endpoint(self, found: Token) -> QueryError:
        hint = "endpoints are compared with endpoints, as in A.ts < B.ts; "
        hint += "restrict times in WHERE and lengths with AT LEAST, AT MOST"
        return self.error(
            QuerySyntaxError, f"expected an endpoint such as B.ts, found {describe(found)}", found, hint
        )

    def compare(self, chain: _Chain, left: Endpoint, sign: str, right: Endpoint) -> None:
        span = Span(left.span.start, right.span.end)
        if left.symbol != right.symbol:
            bits = from_endpoints(left.end, cast(Comparison, sign), right.end)
            chain.links.append(_Link(left.symbol, right.symbol, bits, span))
        elif (left.end, sign, right.end) not in _ALWAYS_TRUE:
            raise self.error(
                InconsistentPatternError,
                "this is never true: a situation starts before it ends",
                span,
                f"to relate two situations of the same kind, define {left.symbol} twice under two names",
            )

    # -- errors

    def check_other(self, left: str, right: str, span: Span) -> None:
        if left == right:
            raise self.error(
                SelfRelationError,
                f"{left} is related to itself",
                span,
                f"for two different situations of the same kind define it twice: "
                f"{left} AS ..., {left}2 AS ... with the same condition",
            )

    def mixed(self, token: Token) -> QueryError:
        return self.error(
            QuerySyntaxError,
            f"an endpoint of {describe(token)} stands where a symbol is expected",
            Span(token.start, self.peek(2).end),
            "name relations between symbols (A before B) or compare endpoints (A.te < "
            "B.ts); join the two with AND",
        )

    def unexpected(self, token: Token, expected: str = "AND, ; or the next clause") -> QueryError:
        hint = pattern_hint(self.tokens[self.position - 1], token, self.peek(1)) if self.position else None
        if token.is_word("OR") or token.is_sign("|", "||"):
            hint = "alternatives for one pair are separated by ; as in A meets B; A overlaps B"
        elif token.is_sign(","):
            hint = "constraints are joined with AND, alternatives with ;"
        elif token.is_sign("&"):
            hint = "write AND"
            if self.peek(1).is_sign("&"):
                token = token._replace(value="&&", end=self.peek(1).end)
        return self.error(QuerySyntaxError, f"expected {expected}, found {describe(token)}", token, hint)
