"""Patterns as shapes: put together, measured and printed."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from situ.language.rows.ast import (
    Alternation,
    Anchor,
    Concatenation,
    Empty,
    Exclusion,
    Pattern,
    Permutation,
    Repetition,
    Variable,
)
from situ.language.rows.names import variable_text


def concatenation(parts: Sequence[Pattern]) -> Pattern:
    """The parts one after the other; a concatenation in a concatenation is written out."""
    flat = [one for part in parts for one in (part.parts if isinstance(part, Concatenation) else (part,))]
    return flat[0] if len(flat) == 1 else Concatenation(tuple(flat))


def alternation(choices: Sequence[Pattern]) -> Pattern:
    """One of the choices; an alternation in an alternation is written out."""
    flat = [one for part in choices for one in (part.choices if isinstance(part, Alternation) else (part,))]
    return flat[0] if len(flat) == 1 else Alternation(tuple(flat))


def n_positions(pattern: Pattern) -> int:
    """How many variables there are once repetitions and permutations are written out."""
    match pattern:
        case Variable():
            return 1
        case Concatenation(parts) | Alternation(parts):
            return sum(map(n_positions, parts))
        case Permutation(parts):
            return factorial(len(parts)) * sum(map(n_positions, parts))
        case Exclusion(body):
            return n_positions(body)
        case Repetition(body, least, most):
            return n_positions(body) * max(least, 1 if most is None else most)
        case _:
            return 0


_CHOICE, _SEQUENCE, _ATOM = range(3)  # how tightly they bind


def pattern_text(pattern: Pattern, binds: int = _CHOICE) -> str:
    """The pattern, in parentheses where it binds less than what stands around it."""
    match pattern:
        case Variable(name):
            return variable_text(name)
        case Empty():
            return "()"
        case Anchor(is_start):
            return "^" if is_start else "$"
        case Concatenation(parts):
            return _wrapped(" ".join(pattern_text(part, _ATOM) for part in parts), binds > _SEQUENCE)
        case Alternation(choices):
            return _wrapped(" | ".join(pattern_text(one, _SEQUENCE) for one in choices), binds > _CHOICE)
        case Permutation(parts):
            return f"PERMUTE({', '.join(pattern_text(part) for part in parts)})"
        case Exclusion(body):
            return f"{{- {pattern_text(body)} -}}"
        case Repetition(body):
            inner = pattern_text(body, _ATOM)
            is_repeated = isinstance(body, Repetition)
            return _wrapped(inner, is_repeated) + quantifier_text(pattern)


def _wrapped(text: str, in_parentheses: bool) -> str:
    return f"({text})" if in_parentheses else text


def quantifier_text(repetition: Repetition) -> str:
    """`*`, `+?`, `{2,5}`."""
    least, most = repetition.least, repetition.most
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if least == most:
        text = f"{{{least}}}"
    else:
        text = signs.get((least, most), f"{{{least},{'' if most is None else most}}}")
    return text + ("?" if repetition.is_reluctant else "")
