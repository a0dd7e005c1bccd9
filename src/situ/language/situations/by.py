"""`A before B BY AT MOST 5 minutes`: a distance behind a pair, as differences (SEM 9.2)."""

from __future__ import annotations

from situ.algebra.relations import (
    AFTER,
    BEFORE,
    COVERS,
    INSIDE,
    MEETS,
    MET_BY,
    OVERLAPPED_BY,
    OVERLAPS,
    SHARING,
)
from situ.errors import DistanceError, QueryError, QuerySyntaxError, Span
from situ.language.situations.ast import Endpoint
from situ.language.situations.comparisons import add_difference, check_order
from situ.language.situations.cursor import Cursor
from situ.language.situations.draft import Conjunction, Length
from situ.language.text.durations import duration_text
from situ.language.text.nodes import Duration
from situ.language.text.places import Place
from situ.language.text.tokens import Token, describe, did_you_mean
from situ.language.text.words import quote


def read_distance(cursor: Cursor, chain: Conjunction, left: Token, right: Token, relations: int) -> None:
    """What stands behind BY, added to the chain."""
    by = cursor.next()
    low, high = _bounds(cursor, by)
    place = cursor.since(left.start)
    if low is not None and high is not None:
        check_order(place._replace(span=Span(by.start, place.span.end)), low, high)
    a, b = left.value, right.value
    measured = _measured(a, b, relations)
    if measured is not None:
        x, y = measured
        if low is not None:
            add_difference(chain, x, y, ">=", low, place)
        if high is not None:
            add_difference(chain, x, y, "<=", high, place)
    elif not relations & ~SHARING and low is not None and high is None:
        for x, y in (
            (Endpoint(a, "te"), Endpoint(b, "ts")),
            (Endpoint(b, "te"), Endpoint(a, "ts")),
        ):
            add_difference(chain, x, y, ">=", low, place)
        if low.value:
            chain.lengths += [Length(name, low, None, place) for name in (a, b)]
    else:
        raise _refusal(place, a, b, relations, low, high)


def _bounds(cursor: Cursor, by: Token) -> tuple[Duration | None, Duration | None]:
    keyword, word = cursor.peek(), cursor.peek(1)
    if keyword.is_word("AT") and word.is_word("LEAST", "MOST"):
        cursor.position += 2
        value = cursor.duration(word)
        return (value, None) if word.is_word("LEAST") else (None, value)
    if keyword.is_word("BETWEEN"):
        cursor.next()
        low = cursor.duration(keyword)
        if not cursor.peek().is_word("AND"):
            raise cursor.error(
                QuerySyntaxError,
                f"BETWEEN needs two durations, found {describe(cursor.peek())}",
                cursor.peek(),
                "write BY BETWEEN 1 minute AND 10 minutes",
            )
        return low, cursor.duration(cursor.next())
    if keyword.is_word("AT"):
        hint = did_you_mean(word.value, ["MOST", "LEAST"]) or "write BY AT MOST 5 minutes"
        message = f"expected MOST or LEAST after {describe(keyword)}, found {describe(word)}"
        raise cursor.error(QuerySyntaxError, message, word, hint)
    raise cursor.error(
        QuerySyntaxError,
        f"expected AT MOST, AT LEAST or BETWEEN after {describe(by)}, found {describe(keyword)}",
        keyword,
        "say how far apart, as in A before B BY AT MOST 5 minutes",
    )


def _measured(a: str, b: str, relations: int) -> tuple[Endpoint, Endpoint] | None:
    """The two endpoints whose difference is the gap, or the common part; None where SEM 9.2 has none."""
    for row, x, y in (
        (BEFORE | 1 << MEETS, Endpoint(b, "ts"), Endpoint(a, "te")),
        (AFTER | 1 << MET_BY, Endpoint(a, "ts"), Endpoint(b, "te")),
        (1 << OVERLAPS, Endpoint(a, "te"), Endpoint(b, "ts")),
        (1 << OVERLAPPED_BY, Endpoint(b, "te"), Endpoint(a, "ts")),
    ):
        if not relations & ~row:
            return x, y
    return None


def _refusal(
    place: Place, left: str, right: str, relations: int, low: Duration | None, high: Duration | None
) -> QueryError:
    a, b = quote(left), quote(right)
    limit = high or low
    assert limit is not None
    text = duration_text(limit)
    if not relations & ~SHARING:
        message = "of two situations that share time BY tells at least how long: BY AT LEAST"
        if not relations & ~INSIDE or not relations & ~COVERS:
            inner = a if not relations & ~INSIDE else b
            hint = f"what they share is the whole of {inner}: bound its length in DEFINE, {inner} AS ... "
            hint += f"AT MOST {text}"
        else:
            hint = f"compare endpoints, as in {a}.te <= {b}.ts + {text}"
    else:
        message = "these relations have no distance in common that BY could bound"
        hint = f"compare endpoints, as in {b}.ts <= {a}.te + {text}"
        if not relations & ~(BEFORE | 1 << MEETS | AFTER | 1 << MET_BY):
            hint = "ask for either side alone, or bound both with endpoints: "
            hint += f"{b}.ts <= {a}.te + {text} AND {a}.ts <= {b}.te + {text}"
    return place.error(DistanceError, message, hint=hint)
