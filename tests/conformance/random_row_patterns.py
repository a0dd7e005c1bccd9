"""Random PATTERN clauses of row patterns, as the oracle's tuples."""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

from oracles.row_items import Pattern

NAMES = "ABCD"
# The first is what a failure should show; Hypothesis also draws it most often.
TIMES = [
    None,
    None,
    None,
    (1, None),
    (0, None),
    (0, 1),
    (1, 2),
    (2, 2),
    (2, None),
    (0, 2),
    (1, None),
    (0, None),
]
RELUCTANT = [False, False, False, True]
KINDS = (
    ["variable"] * 12 + ["group"] * 4 + ["choice"] * 4 + ["exclude", "exclude", "permute", "empty", "^", "$"]
)


@cache
def terms(depth: int) -> st.SearchStrategy[Pattern]:
    """A quantified variable, or where there is depth left a group."""
    name = st.sampled_from(NAMES)
    if depth == 0:
        body: st.SearchStrategy[Pattern] = name
    else:
        inner = terms(depth - 1)
        some = st.lists(inner, min_size=1, max_size=3)
        several = st.lists(inner, min_size=2, max_size=3)
        bodies = {
            "variable": name,
            "group": some.map(concatenated),
            "choice": several.map(lambda parts: ("alt", *parts)),
            "exclude": some.map(lambda parts: ("exclude", concatenated(parts))),
            "permute": several.map(lambda parts: ("permute", *parts)),
            "empty": st.just(("cat",)),
            "^": st.just(("^",)),
            "$": st.just(("$",)),
        }
        body = st.sampled_from(KINDS).flatmap(bodies.__getitem__)
    return st.builds(quantified, body, st.sampled_from(TIMES), st.sampled_from(RELUCTANT))


def quantified(body: Pattern, times: tuple[int, int | None] | None, is_reluctant: bool) -> Pattern:
    return body if times is None else ("repeat", body, *times, is_reluctant)


def concatenated(parts: list[Pattern]) -> Pattern:
    return parts[0] if len(parts) == 1 else ("cat", *parts)


def patterns(max_size: int = 4) -> st.SearchStrategy[Pattern]:
    """One to four terms, one of two such at times."""
    several = st.lists(terms(2), min_size=1, max_size=max_size).map(concatenated)
    two = st.tuples(several, several).map(lambda choices: ("alt", *choices))
    return st.sampled_from([several, several, several, several, two]).flatmap(lambda chosen: chosen)


def pattern_text(pattern: Pattern) -> str:
    """As PATTERN has it."""
    match pattern:
        case str(name):
            return name
        case ("cat",):
            return "()"
        case ("cat", *parts):
            return " ".join(in_brackets(part, "alt", "cat") for part in parts)
        case ("alt", *choices):
            return " | ".join(in_brackets(choice, "alt") for choice in choices)
        case ("permute", *parts):
            return f"PERMUTE({', '.join(map(pattern_text, parts))})"
        case ("exclude", body):
            return f"{{- {pattern_text(body)} -}}"
        case ("repeat", body, least, most, is_reluctant):
            return (
                in_brackets(body, "alt", "cat", "repeat", "^", "$")
                + times_text(least, most)
                + "?" * is_reluctant
            )
        case (anchor,):
            return str(anchor)
    raise TypeError(pattern)


def in_brackets(pattern: Pattern, *kinds: str) -> str:
    text = pattern_text(pattern)
    return f"({text})" if pattern[0] in kinds and not isinstance(pattern, str) and text != "()" else text


def times_text(least: int, most: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if (least, most) in short:
        return short[least, most]
    return f"{{{least}}}" if least == most else f"{{{least or ''},{'' if most is None else most}}}"


def has(pattern: Pattern, *kinds: str) -> bool:
    """Does it have a part of this kind?"""
    if isinstance(pattern, str):
        return False
    return pattern[0] in kinds or any(has(part, *kinds) for part in parts_of(pattern))


def parts_of(pattern: Pattern) -> tuple[Pattern, ...]:
    return () if isinstance(pattern, str) else pattern[1:2] if pattern[0] == "repeat" else pattern[1:]


def is_bounded(pattern: Pattern) -> bool:
    """ROW 8.1: no `*`, `+`, `{n,}`."""
    if not isinstance(pattern, str) and pattern[0] == "repeat" and pattern[3] is None:
        return False
    return all(map(is_bounded, parts_of(pattern)))


def without(pattern: Pattern, *kinds: str) -> Pattern:
    """Parts of these kinds become their body, anchors nothing, "reluctant" quantifiers greedy."""
    if isinstance(pattern, str):
        return pattern
    if pattern[0] in kinds:
        return without(pattern[1], *kinds) if pattern[0] == "exclude" else ("cat",)
    if pattern[0] == "repeat":
        _, body, least, most, is_reluctant = pattern
        return ("repeat", without(body, *kinds), least, most, is_reluctant and "reluctant" not in kinds)
    return (pattern[0], *(without(part, *kinds) for part in pattern[1:]))
