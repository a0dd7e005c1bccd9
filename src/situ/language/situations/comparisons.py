"""`A.ts < B.ts <= A.te + 5 minutes`, `B.ts - A.te BETWEEN d AND d`: endpoints compared (SEM 3.3, 9.1).

A side is a sum of endpoints and durations. A comparison of two sides is one of two endpoints with an offset:
without it a set of relations, with it differences, and within one symbol a length.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, cast

from situ.algebra.endpoints import Comparison, End, from_endpoints
from situ.errors import (
    DurationBoundsError,
    DurationError,
    InconsistentPatternError,
    MixedDurationsError,
    QueryError,
    QuerySyntaxError,
    Span,
    UnknownEndpointError,
)
from situ.language.situations.ast import Difference, Endpoint
from situ.language.situations.cursor import Cursor
from situ.language.situations.draft import Conjunction, Distance, Length, Mention, Written
from situ.language.text.durations import MAX_TICKS, duration_text
from situ.language.text.nodes import Duration
from situ.language.text.places import Place
from situ.language.text.tokens import Kind, Token, describe
from situ.language.text.words import ENDPOINTS, quote

_SIGNS: dict[str, Comparison] = {"<": "<", "<=": "<=", "=": "=", "==": "=", ">=": ">=", ">": ">"}
_TURNED: dict[str, Comparison] = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}
_MEANT_ENDS = {"start": "ts", "begin": "ts", "end": "te", "starts": "ts", "ends": "te", "stop": "te"}


class _Side(NamedTuple):
    """A sum of endpoints, each with its sign, and of durations; `has_unit` is None where there are none."""

    endpoints: tuple[tuple[Endpoint, int], ...]
    offset: int
    has_unit: bool | None
    span: Span


def is_endpoint(cursor: Cursor) -> bool:
    """Whether `A.` comes next."""
    return cursor.peek().is_name and cursor.peek(1).is_sign(".")


def begins_comparison(cursor: Cursor) -> bool:
    """Whether an endpoint or a duration comes next, of either sign."""
    return is_endpoint(cursor) or _is_duration(cursor) or _is_negative(cursor)


def _is_duration(cursor: Cursor, ahead: int = 0) -> bool:
    first, second = cursor.peek(ahead), cursor.peek(ahead + 1)
    is_interval = first.is_word("INTERVAL") and second.kind in (Kind.STRING, Kind.NUMBER)
    return first.kind is Kind.NUMBER or is_interval


def _is_negative(cursor: Cursor) -> bool:
    """Whether `- 5 minutes` comes next, as a side of its own may begin."""
    return cursor.peek().is_sign("-") and _is_duration(cursor, 1)


def read_comparisons(cursor: Cursor, chain: Conjunction) -> None:
    """A chain of comparisons, which means its neighbours, or one BETWEEN."""
    left = _side(cursor, chain)
    if cursor.peek().is_word("BETWEEN"):
        _between(cursor, chain, left)
        return
    if _sign(cursor) is None:
        raise _no_comparison(cursor)
    while (sign := _sign(cursor)) is not None:
        cursor.next()
        right = _side(cursor, chain)
        _compare(cursor, chain, left, sign, right, Span(left.span.start, right.span.end))
        left = right


def _sign(cursor: Cursor) -> Comparison | None:
    token = cursor.peek()
    return _SIGNS.get(token.value) if token.kind is Kind.SIGN else None


def _between(cursor: Cursor, chain: Conjunction, middle: _Side) -> None:
    keyword = cursor.next()
    low = _side(cursor, chain)
    if not cursor.peek().is_word("AND"):
        raise cursor.error(
            QuerySyntaxError,
            f"BETWEEN needs two bounds, found {describe(cursor.peek())}",
            cursor.peek(),
            "write B.ts - A.te BETWEEN 1 minute AND 10 minutes",
        )
    cursor.next()
    high = _side(cursor, chain)
    if low.endpoints == high.endpoints and low.offset > high.offset and low.has_unit == high.has_unit:
        texts = [cursor.source.text[side.span.start : side.span.end] for side in (high, low)]
        raise cursor.error(
            DurationBoundsError,
            "the bounds are the wrong way round: the first is larger than the second",
            Span(keyword.start, high.span.end),
            f"write BETWEEN {texts[0]} AND {texts[1]}",
        )
    whole = Span(middle.span.start, high.span.end)
    _compare(cursor, chain, low, "<=", middle, whole)
    _compare(cursor, chain, middle, "<=", high, whole)


def _side(cursor: Cursor, chain: Conjunction) -> _Side:
    endpoints: list[tuple[Endpoint, int]] = []
    offset, has_unit, start, sign = 0, None, cursor.peek().start, 1
    if _is_negative(cursor):
        cursor.next()
        sign = -1
    while True:
        first = cursor.peek()
        if is_endpoint(cursor):
            endpoints.append((_endpoint(cursor, chain), sign))
        elif _is_duration(cursor):
            value = cursor.distance(cursor.last if cursor.position else first)
            if has_unit is not None and has_unit != value.has_unit:
                raise _mixed_units(cursor, Span(start, cursor.last.end))
            offset, has_unit = offset + sign * value.value, value.has_unit
        else:
            raise _bad_endpoint(cursor, first, describe(first))
        token = cursor.peek()
        if token.is_sign("*", "/"):
            hint = "an endpoint is compared with another one, at most a duration later or earlier: "
            hint += "B.ts <= A.te + 10 minutes"
            raise cursor.error(QuerySyntaxError, "endpoints and durations take no factors", token, hint)
        if not token.is_sign("+", "-"):
            return _Side(tuple(endpoints), offset, has_unit, Span(start, cursor.last.end))
        sign = 1 if cursor.next().is_sign("+") else -1
        if _is_negative(cursor) and cursor.peek().span == cursor.peek(1).span:  # the value of a parameter
            cursor.next()
            sign = -sign


def _endpoint(cursor: Cursor, chain: Conjunction) -> Endpoint:
    symbol, _, end = cursor.next(), cursor.next(), cursor.next()
    name = end.value.lower()
    if name not in ENDPOINTS or end.kind is Kind.NUMBER:
        written = quote(symbol.value)
        hint = f"did you mean {written}.{_MEANT_ENDS[name]}?" if name in _MEANT_ENDS else None
        if name == "duration":
            hint = f"write {written}.te - {written}.ts, or bound the length in DEFINE: AT MOST 5 minutes"
        raise cursor.error(
            UnknownEndpointError,
            f"PATTERN compares the start {symbol.value}.ts and the end {symbol.value}.te of situations, "
            f"not {symbol.value}.{end.value}",
            Span(symbol.start, end.end),
            hint or "compare values in the conditions of DEFINE, and bound lengths of time there",
        )
    chain.mentions.append(Mention(symbol.value, Place(cursor.source, symbol.span)))
    return Endpoint(symbol.value, cast(End, name))


def _compare(
    cursor: Cursor, chain: Conjunction, left: _Side, sign: Comparison, right: _Side, span: Span
) -> None:
    """Bring endpoints to the left and durations to the right: x - y sign bound."""
    if None not in (left.has_unit, right.has_unit) and left.has_unit != right.has_unit:
        raise _mixed_units(cursor, span)
    total: Counter[Endpoint] = Counter()
    for endpoint, factor in (*left.endpoints, *((one, -factor) for one, factor in right.endpoints)):
        total[endpoint] += factor
    kept = [(factor, endpoint) for endpoint, factor in total.items() if factor]
    kept.sort(key=lambda one: one[0])
    bound = Duration(right.offset - left.offset, bool(left.has_unit or right.has_unit))
    place = Place(cursor.source, span)
    if [factor for factor, _ in kept] == [-1, 1]:
        (_, minus), (_, plus) = kept
        add_difference(chain, plus, minus, sign, bound, place)
    elif not kept and total:
        if not _holds(0, sign, bound.value):
            raise _never_true(place, next(iter(total)).symbol)
    elif len(kept) > 1:
        raise place.error(
            QuerySyntaxError,
            "one comparison is between two endpoints, and this one has more",
            hint="compare two at a time, with a duration between them: "
            "B.ts <= A.te + 10 minutes AND C.ts - B.te <= 5 minutes",
        )
    else:
        bare = left if not left.endpoints else right
        where = Span(*span) if bare.endpoints else bare.span
        raise _bad_endpoint(cursor, where, f"`{cursor.source.text[where.start : where.end]}`")


def add_difference(
    chain: Conjunction, x: Endpoint, y: Endpoint, sign: Comparison, bound: Duration, place: Place
) -> None:
    """`x - y sign bound`, as what it stands for (SEM 9.1)."""
    if abs(bound.value) > MAX_TICKS:
        raise place.error(DurationError, "this duration is longer than time can be counted")
    if x.symbol == y.symbol:
        if x.end == "ts":
            sign, bound = _TURNED[sign], Duration(-bound.value, bound.has_unit)
        _add_length(chain, x.symbol, sign, bound, place)
    elif bound.value == 0:
        chain.written.append(Written(x.symbol, y.symbol, from_endpoints(x.end, sign, y.end), place))
    else:
        if sign in ("<", "<=", "="):
            chain.distances.append(Distance(Difference(x, y, bound, sign == "<"), place))
        if sign in (">", ">=", "="):
            turned = Duration(-bound.value, bound.has_unit)
            chain.distances.append(Distance(Difference(y, x, turned, sign == ">"), place))


def _add_length(chain: Conjunction, symbol: str, sign: Comparison, length: Duration, place: Place) -> None:
    """`te - ts sign length`: always true is dropped, always false refused, the rest is a bound in ticks."""
    ticks = length.value
    low = {">=": ticks, "=": ticks, ">": ticks + 1}.get(sign)
    high = {"<=": ticks, "=": ticks, "<": ticks - 1}.get(sign)
    if high is not None and high < 1:
        raise _never_true(place, symbol)
    if low is not None and (low <= 0 or ticks == 0):
        low = None
    if low is not None or high is not None:
        chain.lengths.append(Length(symbol, _ticks(low, length), _ticks(high, length), place))


def _ticks(value: int | None, like: Duration) -> Duration | None:
    return None if value is None else Duration(value, like.has_unit)


def _holds(left: int, sign: Comparison, right: int) -> bool:
    return {"<": left < right, "<=": left <= right, "=": left == right}.get(sign, False) or {
        ">=": left >= right,
        ">": left > right,
    }.get(sign, False)


# -- errors


def _never_true(place: Place, symbol: str) -> QueryError:
    return place.error(
        InconsistentPatternError,
        "this is never true: a situation starts before it ends",
        hint=f"to relate two situations of the same kind, define {symbol} twice under two names",
    )


def _mixed_units(cursor: Cursor, span: Span) -> QueryError:
    return cursor.error(
        MixedDurationsError,
        "one duration of this comparison has a unit and another is a plain number",
        span,
        "give both a unit for timestamps, or neither for an integer time column",
    )


def _no_comparison(cursor: Cursor) -> QueryError:
    token = cursor.peek()
    if token.is_sign("<>", "!="):
        hint = "write A.ts < B.ts; A.ts > B.ts for two endpoints that differ"
    elif token.is_sign(")"):
        hint = "brackets hold whole constraints: write B.ts - A.te <= 10 minutes without them"
    else:
        hint = "write < <= = >= or > and another endpoint, as in A.ts < B.ts"
    return cursor.error(QuerySyntaxError, f"expected a comparison, found {describe(token)}", token, hint)


def _bad_endpoint(cursor: Cursor, where: Span | Token, found: str) -> QueryError:
    hint = "endpoints are compared with endpoints, as in A.ts < B.ts or B.ts <= A.te + 5 minutes; "
    hint += "restrict times in WHERE and lengths with AT LEAST, AT MOST"
    return cursor.error(QuerySyntaxError, f"expected an endpoint such as B.ts, found {found}", where, hint)


def check_order(place: Place, low: Duration, high: Duration) -> None:
    """Refuse a lower bound that is larger than the upper one."""
    if low.has_unit == high.has_unit and low.value > high.value:
        raise place.error(
            DurationBoundsError,
            f"the bounds are the wrong way round: {duration_text(low)} is longer than {duration_text(high)}",
            hint=f"write BETWEEN {duration_text(high)} AND {duration_text(low)}",
        )
