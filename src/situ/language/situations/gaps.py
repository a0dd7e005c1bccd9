"""`IGNORING GAPS UP TO 5 seconds`, or `3 EVENTS`: which interruptions do not end a situation (SEM 14)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import DurationError, QuerySyntaxError
from situ.language.situations.ast import Gaps
from situ.language.text.durations import duration, duration_text
from situ.language.text.nodes import Duration
from situ.language.text.render import ends_operand
from situ.language.text.tokens import Kind, Source, Token, describe, span_of

_HINT = "write IGNORING GAPS UP TO 5 seconds, or IGNORING GAPS UP TO 3 EVENTS"
_MOST_EVENTS = 2**31 - 1


def split_gaps(source: Source, tokens: Sequence[Token]) -> tuple[Sequence[Token], Gaps | None]:
    """Cut IGNORING GAPS off the end of a definition, whatever length stands before it."""
    depth = 0
    for position, token in enumerate(tokens):
        depth += token.is_sign("(", "[") - token.is_sign(")", "]")
        follows = position > 0 and ends_operand(tokens[position - 1])
        misspelt = token.kind is Kind.WORD and position + 1 < len(tokens) and _is_gaps(tokens[position + 1])
        if depth == 0 and follows and (token.is_word("IGNORING") or misspelt):
            return tokens[:position], _gaps(source, tokens[position:])
    return tokens, None


def gaps_text(gaps: Gaps) -> str:
    """The canonical way to write it."""
    if gaps.duration is not None:
        return f"IGNORING GAPS UP TO {duration_text(gaps.duration)}"
    return f"IGNORING GAPS UP TO {gaps.events} {'EVENT' if gaps.events == 1 else 'EVENTS'}"


def checked_gaps(given: Duration | int) -> Gaps:
    """Gaps of a length of time, or of a number of events; neither may be nothing."""
    gaps = Gaps(duration=given) if isinstance(given, Duration) else Gaps(events=given)
    if not (gaps.events if gaps.duration is None else gaps.duration.value):
        raise DurationError("a gap of no length is no gap", hint=f"leave IGNORING out, or {_HINT}")
    return gaps


def _is_gaps(token: Token) -> bool:
    return token.is_word("GAPS", "GAP")


def _gaps(source: Source, tokens: Sequence[Token]) -> Gaps:
    """What stands behind the condition and its length."""
    for place, word in enumerate(("IGNORING", "GAPS", "UP", "TO")):
        if place >= len(tokens) or not tokens[place].is_word(word):
            found = tokens[place] if place < len(tokens) else None
            near = f"after {describe(tokens[place - 1])}" if place else f"before {describe(tokens[1])}"
            raise source.error(
                QuerySyntaxError,
                f"expected {word} {near}" + (f", found {describe(found)}" if found else ""),
                found or tokens[place - 1],
                hint=_HINT,
            )
    bound = tokens[4:]
    later = next((token for token in bound if token.is_word("AT", "BETWEEN")), None)
    if later is not None:
        raise source.error(
            DurationError,
            "the length of a situation comes before IGNORING GAPS",
            later,
            hint="write A AS speed > 70 AT LEAST 1 minute IGNORING GAPS UP TO 5 seconds",
        )
    if len(bound) == 2 and bound[1].is_word("EVENTS", "EVENT"):
        given: Duration | int = _events(source, bound[0])
    elif not bound:
        raise source.error(QuerySyntaxError, "it is not said how long a gap may be", tokens[3], hint=_HINT)
    else:
        given = duration(source, bound, after=tokens[3])
    try:
        return checked_gaps(given)
    except DurationError as error:
        raise source.error(DurationError, error.message, span_of(bound), hint=error.hint) from None


def _events(source: Source, token: Token) -> int:
    if token.kind is not Kind.NUMBER or not token.value.isdigit() or int(token.value[:20]) > _MOST_EVENTS:
        raise source.error(
            DurationError,
            f"EVENTS needs a whole number from 1 to {_MOST_EVENTS}, found {describe(token)}",
            token,
            hint=_HINT,
        )
    return int(token.value)
