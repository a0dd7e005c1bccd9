"""`A meets;overlaps B before C BY AT MOST 5 minutes`: relations by name (SEM 3, 7, 9.2, 10)."""

from __future__ import annotations

from situ.algebra.relations import NAMES, WORDS, parse_name
from situ.errors import QueryError, QuerySyntaxError, SelfRelationError, Span, UnknownRelationError
from situ.language.situations.by import read_distance
from situ.language.situations.cursor import END, Cursor
from situ.language.situations.draft import Conjunction, Mention, Written
from situ.language.text.clauses import clause_hint
from situ.language.text.foreign import missing_and, pattern_hint, relation_hint
from situ.language.text.places import Place
from situ.language.text.tokens import Kind, Token, describe, did_you_mean
from situ.language.text.words import quote

ONE_PASS = "several queries in one pass: situ.match(events, dict(a=q1, b=q2))"


def read_relations(cursor: Cursor, chain: Conjunction) -> None:
    """A chain of symbols with relations between neighbours."""
    left = _symbol(cursor, chain)
    while True:
        relations = _relation_set(cursor, left, has_link=bool(chain.written))
        right = _symbol(cursor, chain)
        place = Place(cursor.source, Span(left.start, right.end))
        _check_other(place, left.value, right.value)
        chain.written.append(Written(left.value, right.value, relations, place))
        if cursor.peek().is_word("BY"):
            read_distance(cursor, chain, left, right, relations)
        if not cursor.at_word():
            return
        left = right


def _symbol(cursor: Cursor, chain: Conjunction) -> Token:
    token = cursor.peek()
    if not cursor.at_word():
        raise unexpected(cursor, token, "a symbol")
    if _negates(cursor, token):
        raise _negated(cursor, token, cursor.peek(1))
    if cursor.peek(1).is_sign("."):
        raise cursor.error(
            QuerySyntaxError,
            f"an endpoint of {describe(token)} stands where a symbol is expected",
            Span(token.start, cursor.peek(2).end),
            "name relations between symbols (A before B) or compare endpoints (A.te < "
            "B.ts); join the two with AND",
        )
    cursor.next()
    chain.mentions.append(Mention(token.value, Place(cursor.source, token.span)))
    return token


def _negates(cursor: Cursor, token: Token) -> bool:
    """Whether another word stands here for NO, and not a symbol of that name."""
    if not token.is_word("NOT", "WITHOUT", "EXCEPT") or token.value in cursor.defined:
        return False
    behind = cursor.peek(1)
    return behind.is_sign("(") or (behind.is_name and not cursor.begins_relation(1))


def _negated(cursor: Cursor, token: Token, symbol: Token) -> QueryError:
    name = quote(symbol.value) if symbol.is_name else "C"
    return cursor.error(
        QuerySyntaxError,
        "a constraint cannot be negated",
        token,
        "list the relations that may hold, separated by ;  or, where no situation of a kind may be there, "
        f"write NO: NO {name} during B",
    )


def _relation_set(cursor: Cursor, left: Token, *, has_link: bool) -> int:
    relations = _relation(cursor, left, has_link=has_link)
    while cursor.peek().is_sign(";"):
        cursor.next()
        relations |= _relation(cursor, left, has_link=has_link)
    return relations


def _relation(cursor: Cursor, left: Token, *, has_link: bool) -> int:
    first = cursor.peek()
    if not cursor.at_word():
        raise _no_relation(cursor, left, first)
    written, used = first.value, 1
    if cursor.peek(1).is_sign("-") and cursor.peek(2).is_name:
        written, used = f"{written}-{cursor.peek(2).value}", 3
    elif cursor.peek(1).is_name and parse_name(f"{written} {cursor.peek(1).value}") is not None:
        written, used = f"{written} {cursor.peek(1).value}", 2
    bits = parse_name(written)
    if bits is None and first.is_word("NOT") and cursor.begins_relation(1):
        raise _negated(cursor, first, left)
    if bits is None:
        if used == 1 and (refusal := _no_word_between(cursor, left, first, has_link=has_link)):
            raise refusal
        raise cursor.error(
            UnknownRelationError,
            f'there is no relation called "{written}"',
            Span(first.start, cursor.peek(used - 1).end),
            relation_hint(written)
            or (clause_hint(written) if has_link else None)
            or did_you_mean(written, (*NAMES, *WORDS))
            or "the relations are " + ", ".join((*NAMES, *WORDS)),
        )
    cursor.position += used
    return bits


def _no_word_between(cursor: Cursor, left: Token, found: Token, *, has_link: bool) -> QueryError | None:
    """Where a symbol stands behind a symbol: AND is missing, or the relation between the two."""
    begins_relation = cursor.begins_relation(1)
    if begins_relation and has_link:
        return missing_and(cursor.source, found)
    if begins_relation or found.value in cursor.defined:
        return cursor.error(
            QuerySyntaxError,
            f"expected a relation between {describe(left)} and {describe(found)}",
            found,
            f"say how they relate, as in {quote(left.value)} before {quote(found.value)}",
        )
    return None


def _no_relation(cursor: Cursor, left: Token, found: Token) -> QueryError:
    rest = [token for token in cursor.source.tokens if token.start >= found.start]
    following, behind = (*rest, END, END)[:2]
    if quantified := pattern_hint(left, found, cursor.peek(1)):
        hint = quantified
    elif found.kind is Kind.END and following.is_word("WITHIN") and behind.is_name:
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
    elif cursor.position > 1 and cursor.peek(-2).is_word("NO"):
        hint = f"say how it would lie to a symbol that is there, as in NO {quote(left.value)} during B"
    elif len(cursor.tokens) == 1:
        hint = "a single symbol needs no PATTERN: leave it out"
    else:
        hint = "name a relation, as in A overlaps B"
    return cursor.error(
        QuerySyntaxError, f"expected a relation after {describe(left)}, found {describe(found)}", found, hint
    )


def _check_other(place: Place, left: str, right: str) -> None:
    if left == right:
        raise place.error(
            SelfRelationError,
            f"{left} is related to itself",
            hint=f"for two different situations of the same kind define it twice: "
            f"{left} AS ..., {left}2 AS ... with the same condition",
        )


def unexpected(cursor: Cursor, token: Token, expected: str = "AND, ; or the next clause") -> QueryError:
    """The error where something else must come."""
    hint = pattern_hint(cursor.last, token, cursor.peek(1)) if cursor.position else None
    if token.is_word("OR") or token.is_sign("|", "||"):
        hint = (
            "alternatives for one pair are separated by ; as in A meets B; A overlaps B; "
            f"for different pairs ask {ONE_PASS}"
        )
    elif token.is_sign(","):
        hint = "constraints are joined with AND, alternatives with ;"
    elif token.is_sign("&"):
        hint = "write AND"
        if cursor.peek(1).is_sign("&"):
            token = token._replace(value="&&", end=cursor.peek(1).end)
    return cursor.error(QuerySyntaxError, f"expected {expected}, found {describe(token)}", token, hint)
