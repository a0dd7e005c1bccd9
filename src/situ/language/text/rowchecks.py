"""What an expression over one row may not contain, found among its tokens so that the caret is exact."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from situ.errors import (
    AggregateInConditionError,
    DurationError,
    ForbiddenExpressionError,
    NumberUnitError,
    QuerySyntaxError,
    Span,
)
from situ.language.text.clauses import clause_hint
from situ.language.text.durations import is_unit
from situ.language.text.render import ends_operand, is_call, is_unary
from situ.language.text.tokens import Kind, Source, Token, describe
from situ.language.text.words import (
    BARE_NONDETERMINISTIC,
    INTERVAL_UNITS,
    OPERATOR_WORDS,
    SPARK_AGGREGATES,
    SPARK_GENERATORS,
    SPARK_NONDETERMINISTIC,
    SPARK_WINDOW_FUNCTIONS,
    TYPES_WITH_ARGUMENTS,
)

_LITERAL_SUFFIXES = frozenset({"L", "S", "Y", "D", "F", "BD"})  # Spark: 5L is a bigint
_TYPED_LITERALS = frozenset({"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME", "INTERVAL"})
_BEFORE_STRING = _TYPED_LITERALS | {"BOTH", "LEADING", "TRAILING", "PLACING"}
_AFTER_NUMBER = INTERVAL_UNITS | _LITERAL_SUFFIXES | {"TO"}
_INSIDE_CALLS = frozenset({"BOTH", "LEADING", "TRAILING", "TO", "FOR", "PLACING", "COLLATE"})
_OTHER_SIGNS = {"&&": "AND", "=<": "<=", "=>": ">=", "=!": "<>", "===": "=", "**": "pow(a, b)"}
# Words that may follow an operand without being one.
_INFIX_WORDS = OPERATOR_WORDS | {
    "END",
    "COLLATE",
    "OVER",
    "TO",
    "PLACING",
    "FOR",
    "IGNORE",
    "RESPECT",
    "FILTER",
}
_DISALLOWED_SIGNS = {"?": "a parameter", "@": "a parameter", "$": "a parameter", "#": "not an operator",
                     "{": "not an operator", "}": "not an operator", "\\": "not an operator"}  # fmt: skip


def check_numbers(source: Source, tokens: Sequence[Token]) -> None:
    """Refuse `8m/s2` and `70 mph`: a number is a number."""
    interval = False
    for position, token in enumerate(tokens[:-1]):
        if token.is_word("INTERVAL"):
            interval = True
        if token.kind is not Kind.NUMBER:
            interval = interval and (
                token.kind is Kind.STRING or token.is_word("INTERVAL") or token.is_in(INTERVAL_UNITS)
            )
            continue
        unit = tokens[position + 1]
        if unit.kind is not Kind.WORD or (interval and unit.is_in(INTERVAL_UNITS)):
            continue
        touching = unit.start == token.end
        if touching and unit.is_in(_LITERAL_SUFFIXES):
            continue
        if not touching and unit.is_in(_INFIX_WORDS):
            continue
        if touching and unit.is_in(_INFIX_WORDS):
            raise source.error(
                QuerySyntaxError, f"a space is missing between {token.value} and {unit.value}", unit
            )
        raise _unit_error(source, tokens, position)


def check_durations(source: Source, tokens: Sequence[Token]) -> None:
    """A duration constraint that was not cut off before stands where none can be."""
    for token, after in pairwise(tokens):
        if token.is_word("AT") and after.is_word("LEAST", "MOST"):
            raise source.error(
                DurationError,
                f"AT {after.value.upper()} cannot stand here",
                Span(token.start, after.end),
                hint="it follows the whole condition of a symbol, outside of parentheses; "
                "in Python it is at_least= or at_most=",
            )


def _unit_error(source: Source, tokens: Sequence[Token], position: int) -> Exception:
    number, unit = tokens[position], tokens[position + 1]
    if position + 2 < len(tokens) and _compares(tokens[position + 2]):
        return source.error(
            QuerySyntaxError,
            f"expected an operator between {number.value} and {describe(unit)}",
            unit,
            hint="join two conditions with AND or OR",
        )
    if any(_is_time(tokens, later) for later in range(position + 2, min(position + 5, len(tokens) - 1))):
        return _misplaced_duration(source, unit)
    if clause := clause_hint(unit.value):
        return source.error(
            QuerySyntaxError, f"expected an operator or a clause, found {unit.value}", unit, hint=clause
        )
    after = tokens[position + 2] if position + 2 < len(tokens) else None
    of_time = is_unit(unit.value) and unit.start > number.end  # 8m touches and may be metres
    if of_time or (after is not None and after.kind is Kind.NUMBER):
        before = tokens[position - 1] if position else None
        # `x > 70 FOR 5 seconds`: it is FOR that is wrong.
        introduced = before is not None and before.is_word("FOR") and of_time
        return _misplaced_duration(source, before if before is not None and introduced else unit)
    end = unit.end
    # `m/s2` and `km/h` are one unit.
    rest = tokens[position + 2 : position + 4]
    if len(rest) == 2 and rest[0].is_sign("/") and rest[1].kind is Kind.WORD and rest[0].start == end:
        end = rest[1].end
    written = source.text[unit.start : end]
    return source.error(
        NumberUnitError,
        f"units are not part of a number here: found {number.value} followed by {written}",
        Span(number.start, end),
        hint=f"write {number.value} alone, in the unit the column has, and say the unit in a comment: "
        f"{number.value} /* {written} */"
        + (
            ""
            if number.end != unit.start
            else f"; a column called {number.value}{unit.value} needs back-quotes"
        ),
    )


def _compares(token: Token) -> bool:
    return token.is_sign("<", ">", "<=", ">=", "=", "==", "<>", "!=", "<=>") or token.is_word(
        "IN", "IS", "LIKE", "ILIKE", "RLIKE", "BETWEEN", "NOT"
    )


def _is_time(tokens: Sequence[Token], position: int) -> bool:
    """Whether a number and a unit of time stand here, with only words before them."""
    number, unit = tokens[position], tokens[position + 1]
    return number.kind is Kind.NUMBER and unit.kind is Kind.WORD and is_unit(unit.value)


def _misplaced_duration(source: Source, token: Token) -> Exception:
    return source.error(
        DurationError,
        "this looks like a duration, but it does not follow AT LEAST, AT MOST or BETWEEN",
        token,
        hint="say how long a situation lasts behind its condition, as in speed > 70 AT LEAST 5 seconds",
    )


def check_calls(source: Source, tokens: Sequence[Token], what: str) -> None:
    """Refuse by name what is not a deterministic function of one row (SEM 1.5)."""
    for position, token in enumerate(tokens):
        before = tokens[position - 1] if position else None
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        closes = position + 2 < len(tokens) and tokens[position + 2].is_sign(")")
        is_qualified = before is not None and before.is_sign(".")
        if (
            token.is_name
            and after is not None
            and after.is_sign("(")
            and (is_qualified or token.kind is Kind.QUOTED)
        ):
            # Spark calls its own functions by these spellings too: `reflect`(...), builtin.reflect(...)
            _check_call(source, token, what, no_arguments=closes)
        if is_qualified:
            continue
        if token.is_word("SELECT") and not ends_operand(before):
            raise _forbidden(source, token, f"{what} contains a subquery", "join the tables before matching")
        if token.is_word("OVER") and before is not None and before.is_sign(")"):
            raise _forbidden(source, token, f"{what} contains a window function", _WINDOW_HINT)
        if token.is_in(BARE_NONDETERMINISTIC) and not (after is not None and after.is_sign("(")):
            raise _nondeterministic(source, token, what)
        if is_call(token, before, after):
            _check_call(source, token, what, no_arguments=closes)


_WINDOW_HINT = (
    "compute it as a column of the DataFrame first; to speak of what lasts, define a situation and relate it"
)


_LAG_HINT = "in DEFINE write prev(x), or prev(x, n) for the n-th instant before, without OVER"


def _check_call(source: Source, token: Token, what: str, *, no_arguments: bool) -> None:
    name = token.value.lower()
    if name in SPARK_AGGREGATES:
        raise source.error(
            AggregateInConditionError,
            f"{what} calls the aggregate {name}, but a condition sees one row at a time",
            token,
            hint="aggregates belong in RETURN: while a situation goes on it would be "
            "unclear whether its value so far, "
            "at the other's start or at its end is meant, which is why TPStream does not allow them either"
            + _scalar_counterpart(name),
        )
    if name in SPARK_WINDOW_FUNCTIONS:
        raise _forbidden(
            source,
            token,
            f"{what} calls the window function {name}",
            _LAG_HINT if name == "lag" else _WINDOW_HINT,
        )
    if name in SPARK_GENERATORS:
        hint = "explode the rows in the DataFrame before matching"
        raise _forbidden(source, token, f"{what} calls {name}, which makes many rows of one", hint)
    if name in SPARK_NONDETERMINISTIC or (name == "unix_timestamp" and no_arguments):
        raise _nondeterministic(source, token, what)


def _scalar_counterpart(name: str) -> str:
    other = {"max": "greatest", "min": "least"}.get(name)
    return f"; the larger or smaller of several columns of a row is {other}(a, b)" if other else ""


def _nondeterministic(source: Source, token: Token, what: str) -> Exception:
    hint = "store its value in a column of the DataFrame and use that column"
    message = f"{what} calls {token.value.lower()}, whose value is not determined by the row"
    return _forbidden(source, token, message, hint)


def _forbidden(source: Source, token: Token, message: str, hint: str) -> Exception:
    return source.error(ForbiddenExpressionError, message, token, hint=hint)


def check_order(source: Source, tokens: Sequence[Token], what: str) -> None:
    """Operands and operators must alternate: sqlglot alone would let `a > > 3` pass for a shift."""
    tokens = _without_type_arguments(tokens)
    before: Token | None = None
    for position, token in enumerate(tokens):
        if token.kind is Kind.SIGN and token.value in _DISALLOWED_SIGNS:
            raise source.error(
                QuerySyntaxError,
                f"{token.value} is {_DISALLOWED_SIGNS[token.value]} here",
                token,
                hint="give the value a name: x > :limit, and situ.query(text, limit=5)"
                if token.is_sign("?")
                else None,
            )
        if token.is_sign(";"):
            raise source.error(QuerySyntaxError, f"{what} ends before this ;", token, hint="remove the ;")
        if _starts_operand(token) and ends_operand(before) and not _may_adjoin(tokens, position):
            assert before is not None
            raise source.error(
                QuerySyntaxError,
                f"expected an operator between {_written(source, before)} and {_written(source, token)}",
                token,
                hint=_adjoin_hint(before, token),
            )
        _check_sign(source, token, before)
        if token.is_sign("=>") and not (position > 1 and tokens[position - 2].is_sign("(", ",")):
            raise source.error(QuerySyntaxError, "=> is not a comparison", token, hint="write >=")
        if _is_infix(token, before) and not ends_operand(before) and not _is_star(tokens, position):
            found = "nothing" if before is None else _written(source, before)
            raise source.error(
                QuerySyntaxError, f"{token.value} needs a value on its left, found {found}", token
            )
        before = token
    if before is not None and not ends_operand(before):
        raise source.error(
            QuerySyntaxError, f"{what} is not complete after {_written(source, before)}", before
        )


def _written(source: Source, token: Token) -> str:
    """A token as the user wrote it: in RETURN, items stand as columns of other names."""
    return f"`{source.text[token.start : token.end]}`"


def _without_type_arguments(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without the `<...>` of types, where < and > are brackets and no operators."""
    kept: list[Token] = []
    angles = 0
    for position, token in enumerate(tokens):
        if token.is_sign("<") and position and tokens[position - 1].is_in(TYPES_WITH_ARGUMENTS):
            angles += 1
        elif angles and token.is_sign(">", ">>", ">>>"):
            angles = max(0, angles - len(token.value))
        elif not angles:
            kept.append(token)
    return kept


def _check_sign(source: Source, token: Token, before: Token | None) -> None:
    """Signs and words of other languages."""
    if before is None:
        return
    if (meant := _OTHER_SIGNS.get(before.value + token.value)) and before.end == token.start:
        raise source.error(
            QuerySyntaxError,
            f"{before.value}{token.value} is not an operator here",
            Span(before.start, token.end),
            hint=f"write {meant}",
        )
    if before.is_word("IS") and not token.is_word("NULL", "NOT", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"):
        raise source.error(
            QuerySyntaxError,
            f"IS is followed by NULL, TRUE, FALSE or NOT, found {describe(token)}",
            token,
            hint="compare values with =, and write text in quotes: name = 'high'",
        )


def _starts_operand(token: Token) -> bool:
    if token.kind is Kind.WORD:
        return not token.is_in(_INFIX_WORDS) or token.is_word("CASE", "INTERVAL")
    return token.kind in (Kind.QUOTED, Kind.STRING, Kind.NUMBER)


def _may_adjoin(tokens: Sequence[Token], position: int) -> bool:
    before, token = tokens[position - 1], tokens[position]
    if token.kind is Kind.STRING:  # 'a' 'b' is one string; DATE '2026-01-01', INTERVAL '5'
        return before.kind is Kind.STRING or before.is_in(_BEFORE_STRING)
    if before.is_word("INTERVAL"):
        return True
    if before.kind in (Kind.NUMBER, Kind.STRING) and token.is_in(_AFTER_NUMBER):
        return True
    if before.is_in(INTERVAL_UNITS) and (token.kind is Kind.NUMBER or token.is_word("TO")):
        return True
    return before.is_in(_INSIDE_CALLS)


def _is_infix(token: Token, before: Token | None) -> bool:
    if token.is_word("AND", "OR", "DIV"):
        return True
    if token.kind is not Kind.SIGN or is_unary(token, before):
        return False
    return token.value not in ("(", ")", "[", "]", ".", ",", ":", "?") and token.value not in (
        "->",
        "=>",
        "::",
    )


def _is_star(tokens: Sequence[Token], position: int) -> bool:
    """The star of count(*)."""
    return tokens[position].is_sign("*") and position > 0 and tokens[position - 1].is_sign("(", ".")


def _adjoin_hint(before: Token, token: Token) -> str:
    if before.is_name and token.kind is Kind.STRING:
        return f"write {before.value} = {token.value} to compare them"
    if token.is_word("EQUALS", "EQ"):
        return "write = to compare"
    if clause := clause_hint(token.value):
        return clause
    return "join two conditions with AND or OR; a name with a space in it is written in back-quotes"
