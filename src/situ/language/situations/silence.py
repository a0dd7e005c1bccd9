"""`quiet AS SILENCE AT LEAST 10 minutes`: a situation made of the absence of events (SEM 12)."""

from __future__ import annotations

from collections.abc import Sequence

from situ.errors import DurationError, IntervalQueryError, QueryError, QuerySyntaxError, Span
from situ.language.situations.ast import Symbol
from situ.language.situations.draft import Definition
from situ.language.text.looking import refuse_prev
from situ.language.text.nodes import Duration
from situ.language.text.tokens import Kind, Source, Token, describe, span_of
from situ.language.text.words import OPERATOR_WORDS

SILENCE = "SILENCE"
_HINT = "write SILENCE AT LEAST 10 minutes, or SILENCE BETWEEN 10 minutes AND 1 hour"
_A_COLUMN = "; a column of that name is written in back-quotes"


def is_silence(tokens: Sequence[Token]) -> bool:
    """Whether a definition asks for silence: the word alone, or with nothing but a length behind it.

    `silence > 3` and `silence BETWEEN 1 AND 2 OR x` are conditions over a column of that name.
    """
    if not tokens or not tokens[0].is_word(SILENCE):
        return False
    if len(tokens) == 1 or tokens[1].is_word("AT"):
        return True
    joins = sum(token.is_word("AND", "OR") for token in tokens[2:])
    return tokens[1].is_word("BETWEEN") and joins < 2


def kept_columns(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, a column silence that was qualified back-quoted: unqualified it would be the keyword."""
    return [
        token._replace(kind=Kind.QUOTED)
        if position and tokens[position - 1].is_sign(".") and token.is_word(SILENCE)
        else token
        for position, token in enumerate(tokens)
    ]


def silence_symbol(
    source: Source, name: str, written: Sequence[Token], bounds: tuple[Duration | None, Duration | None]
) -> Symbol:
    """The symbol of a silence, which needs to be told from when on there is one."""
    least, most = bounds
    if least is None:
        raise _no_minimum(source, span_of(written), is_bounded=most is not None)
    if not least.value:
        raise source.error(
            DurationError,
            "every time without an event would be a silence of no length",
            span_of(written),
            hint=_HINT,
        )
    return Symbol(name, None, least, most, is_silence=True)


def check_silence_words(source: Source, tokens: Sequence[Token]) -> None:
    """Refuse `SILENCE 5 minutes` and `SILENCE OF sensors`: no condition over a column begins like this."""
    if len(tokens) < 2 or not tokens[0].is_word(SILENCE):
        return
    behind = tokens[1]
    if behind.kind is Kind.NUMBER or (behind.kind is Kind.WORD and not behind.is_in(OPERATOR_WORDS)):
        hint = _HINT
        if behind.is_word("OF", "IN", "ON"):
            hint += "; whose silence is meant is said by WHERE and PARTITION BY"
        raise source.error(
            QuerySyntaxError,
            f"expected AT LEAST or BETWEEN after {describe(tokens[0])}, found {describe(behind)}",
            behind,
            hint=hint,
        )


def check_silent(definitions: Sequence[Definition], *, is_intervals: bool) -> None:
    """Refuse silences, gaps and looks back where they mean nothing (SEM 12.4, 14.4, 15.2)."""
    for symbol, place, written in definitions:
        if is_intervals:
            refuse_prev(written.source, written.tokens, f"the condition of {symbol.name}, which is given,")
        if symbol.is_silence and symbol.ignoring is not None:
            raise place.error(
                QuerySyntaxError,
                f"{symbol.name} is a silence, and a gap in it would be an event",
                hint="leave IGNORING GAPS out",
            )
        if is_intervals and (symbol.is_silence or symbol.ignoring is not None):
            what = "SILENCE" if symbol.is_silence else "IGNORING GAPS"
            raise place.error(
                IntervalQueryError,
                f"{what} asks for the events between, and intervals have none",
                hint="leave it out, or match the events themselves: FROM without INTERVALS",
            )


def _no_minimum(source: Source, span: Span, *, is_bounded: bool) -> QueryError:
    if is_bounded:
        return source.error(
            DurationError,
            "a silence needs a shortest length: AT MOST alone would be any time between two events",
            span,
            hint=_HINT + _A_COLUMN,
        )
    return source.error(
        QuerySyntaxError, "it is not said how long a SILENCE must last", span, hint=_HINT + _A_COLUMN
    )
