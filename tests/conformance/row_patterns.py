"""PATTERN of a row pattern as text and as the oracle's tuples, without situ's reader."""

from __future__ import annotations

import re

from oracles.row_items import Pattern

TOKENS = re.compile(r"\s*(PERMUTE(?=\s*\()|`[^`]+`|\w+|\{-|-\}|\{[\d\s,]*\}|[()|^$,?*+])", re.I)
TIMES = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_pattern(text: str) -> Pattern:
    """The tuples of `oracles.row_items.Pattern`; an unquoted name in upper case (ROW 2.1)."""
    tokens = [*TOKENS.findall(text), ""]
    assert "".join(text.split()) == "".join("".join(tokens).split()), text
    place = [0]

    def take() -> str:
        place[0] += 1
        return tokens[place[0] - 1]

    def alternation() -> Pattern:
        choices = [concatenation()]
        while tokens[place[0]] == "|":
            take()
            choices.append(concatenation())
        return choices[0] if len(choices) == 1 else ("alt", *choices)

    def concatenation() -> Pattern:
        parts = []
        while tokens[place[0]] not in ("", "|", ")", "-}", ","):
            parts.append(quantified())
        return parts[0] if len(parts) == 1 else ("cat", *parts)

    def quantified() -> Pattern:
        body = primary()
        token = tokens[place[0]]
        if token in TIMES:
            least, most = TIMES[take()]
        elif re.match(r"\{[\d\s,]", token):
            low, comma, high = (part.strip() for part in take()[1:-1].partition(","))
            least, most = int(low or 0), int(high) if high else None if comma else int(low)
        else:
            return body
        is_reluctant = tokens[place[0]] == "?" and bool(take())
        return ("repeat", body, least, most, is_reluctant)

    def primary() -> Pattern:
        token = take()
        if token == "(":
            return closed(alternation(), ")")
        if token == "{-":
            return closed(("exclude", alternation()), "-}")
        if token.upper() == "PERMUTE":
            take()
            parts = [alternation()]
            while tokens[place[0]] == ",":
                take()
                parts.append(alternation())
            return closed(("permute", *parts), ")")
        if token in ("^", "$"):
            return (token,)
        return token[1:-1] if token.startswith("`") else token.upper()

    def closed(body: Pattern, token: str) -> Pattern:
        assert take() == token, text
        return body

    pattern = alternation()
    assert tokens[place[0]] == "", text
    return pattern


def mentioned(pattern: Pattern) -> tuple[str, ...]:
    """The variables in order of first mention."""
    if isinstance(pattern, str):
        return (pattern,)
    parts = pattern[1:2] if pattern[0] == "repeat" else pattern[1:]
    return tuple(dict.fromkeys(name for part in parts for name in mentioned(part)))
