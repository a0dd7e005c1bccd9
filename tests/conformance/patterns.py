"""The PATTERN clause as data, by a reader that shares nothing with situ (SEM 3, 7, 9, 10, 11)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from conformance.distances import SYMBOL, by, comparisons, differences, plain, tightest
from conformance.lengths import DURATION
from oracles.question import Absence, Difference
from oracles.relations import ALLEN, allen, atoms

Constraints = dict[tuple[str, str], frozenset[str]]
Constraint = tuple[str, set[str], str]  # left, atoms, right

WORDS = {  # SEM 10.1
    "while": set(ALLEN[2:-2]),
    "intersects": set(ALLEN[2:-2]),
    "inside": {"during", "starts", "finishes", "equals"},
    "covers": {"contains", "started-by", "finished-by", "equals"},
    "apart-from": {"before", "meets", "met-by", "after"},
}
LONGEST_FIRST = sorted([*ALLEN, "followed-by", "follows", "equal", *WORDS], key=len, reverse=True)
RELATION = r"\b(?:" + "|".join(LONGEST_FIRST).replace("-", r"[-_\s]") + r")\b"
BY = rf"\bBY\s+(?:AT\s+(?:LEAST|MOST)\s+{DURATION}|BETWEEN\s+{DURATION}\s+AND\s+{DURATION})"
COMPARISONS = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "=": lambda x, y: x == y,
    ">=": lambda x, y: x >= y,
    ">": lambda x, y: x > y,
}
# Every relation occurs among the pairs of intervals over five instants.
PAIRS = [(a, b, c, d) for a, b, c, d in product(range(5), repeat=4) if a < b and c < d]


@dataclass
class Said:
    """What some conjuncts say, as it is written."""

    relations: list[Constraint] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)

    @property
    def symbols(self) -> set[str]:
        ends = [one for difference in self.differences for one, _ in (difference.left, difference.right)]
        return {*ends, *(one for left, _, right in self.relations for one in (left, right))}


@dataclass(frozen=True)
class Pattern:
    """A PATTERN clause: what holds between the positive symbols, and the NO groups."""

    constraints: Constraints
    differences: tuple[Difference, ...]
    absences: tuple[Absence, ...]
    met: tuple[str, ...]  # the symbols as first met
    at_least: dict[str, int]
    at_most: dict[str, int]

    @property
    def positive(self) -> tuple[str, ...]:
        absent = {group.symbol for group in self.absences}
        return tuple(symbol for symbol in self.met if symbol not in absent)


def pattern(text: str) -> Pattern:
    """The atoms of each pair, intersected over all that is written for it, and what else there is."""
    said, groups, met = Said(), [], {}
    for conjunct in conjuncts(text):
        group = re.fullmatch(r"NO\b(.*)", conjunct, re.I | re.S)
        if group:
            groups.append((read([group[1]], Said()), first_met(group[1])))
            met |= dict.fromkeys(groups[-1][1])
        else:
            read([conjunct], said)
            met |= dict.fromkeys(first_met(conjunct))
    lengths = [one for one in said.differences if one.left[0] == one.right[0]]
    between = [one for one in said.differences if one.left[0] != one.right[0]]
    return Pattern(
        constraints=intersected(said.relations),
        differences=tightest(between),
        absences=tuple(absence(group, symbols, said.symbols) for group, symbols in groups),
        met=tuple(met),
        at_least=largest((one.left[0], -one.bound) for one in lengths if one.left[1] == "ts"),
        at_most=smallest((one.left[0], one.bound) for one in lengths if one.left[1] == "te"),
    )


def conjuncts(text: str) -> list[str]:
    """Cut at every AND that is in no parentheses and not BETWEEN's."""
    pieces, depth, is_between = [""], 0, False
    for token in re.findall(r"`[^`]+`|\w+|.", text, re.S):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token.upper() == "AND" and depth == 0 and not is_between:
            pieces.append("")
            continue
        is_between = {"BETWEEN": True, "AND": False}.get(token.upper(), is_between)
        pieces[-1] += token
    return [piece.strip() for piece in pieces if piece.strip()]


def read(texts: Iterable[str], said: Said) -> Said:
    """Conjuncts, also in parentheses, into what they say."""
    for text in texts:
        inner = re.fullmatch(r"\s*\((.*)\)\s*", text, re.S)
        if inner:
            read(conjuncts(inner[1]), said)
        elif re.search(r"\.\s*t[se]\b", text):
            endpoints(text, said)
        else:
            relations(text, said)
    return said


def first_met(conjunct: str) -> list[str]:
    tokens = re.findall(
        rf"{BY}|{RELATION}|\bt[se]\b|\b(?:AND|BETWEEN)\b|{DURATION}|({SYMBOL})", conjunct, re.I
    )
    return [token.strip("`") for token in tokens if token]


def intersected(found: Iterable[Constraint]) -> Constraints:
    constraints: Constraints = {}
    for left, meant, right in found:
        if left != right:
            pair, names = (left, right), frozenset(meant)
            if (right, left) in constraints:
                pair, names = (right, left), frozenset(map(converse, meant))
            constraints[pair] = names & constraints.get(pair, names)
    return constraints


def absence(group: Said, met: list[str], positive: set[str]) -> Absence:
    """The absent symbol is the one in no positive constraint; where there is none, the one behind NO."""
    (symbol,) = {one for one in met if one not in positive} if positive else met[:1]
    turned = [
        (left, meant, right) if left == symbol else (right, set(map(converse, meant)), left)
        for left, meant, right in group.relations
    ]
    constraints = {right: names for (_, right), names in intersected(turned).items()}
    return Absence(symbol, constraints, tightest(group.differences))


def largest(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for symbol, length in pairs:
        found[symbol] = max(length, found.get(symbol, length))
    return found


def smallest(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    return {
        symbol: -length for symbol, length in largest((symbol, -length) for symbol, length in pairs).items()
    }


def relations(conjunct: str, said: Said) -> None:
    """`A r B r C`, `A r;r B` and `A r B; B r A`, freely joined, and BY behind a pair."""
    found: list[Constraint] = []
    tokens = re.findall(rf"{BY}|{RELATION}|{SYMBOL}|;", conjunct, re.I)
    while tokens:
        if tokens[0] == ";":  # one more alternative for the pair just read
            is_alternative, left = True, tokens[1]
            del tokens[:2]
        else:  # the beginning, or a chain that goes on from the last symbol
            is_alternative, left = False, found[-1][2] if found else tokens.pop(0)
        meant = named(tokens.pop(0))
        while tokens[0] == ";":
            meant |= named(tokens[1])
            del tokens[:2]
        left, right = left.strip("`"), tokens.pop(0).strip("`")
        if is_alternative:
            first, others, second = found.pop()
            meant = others | (meant if left == first else set(map(converse, meant)))
            left, right = first, second
        found.append((left, meant, right))
        if tokens and re.match(BY, tokens[0], re.I):
            said.differences += by(tokens.pop(0)[2:], left, meant, right)
    said.relations += found


def endpoints(conjunct: str, said: Said) -> None:
    """`A.ts < B.ts = C.te` as its adjacent comparisons: relations, or differences where it has an offset."""
    for left, sign, right in comparisons(conjunct):
        ends = plain(left, right)
        if ends is None:
            said.differences += differences(left, sign, right)
            continue
        (a, a_end), (b, b_end) = ends
        x, y = {"ts": 0, "te": 1}[a_end], {"ts": 2, "te": 3}[b_end]
        names = {allen(*pair) for pair in PAIRS if COMPARISONS[sign](pair[x], pair[y])}
        said.relations.append((a, atoms(names), b))


def named(spelled: str) -> set[str]:
    """The atoms of a relation or a word."""
    name = re.sub(r"[-_\s]+", "-", spelled).lower()
    return atoms(WORDS.get(name, {"equals" if name == "equal" else name}))


def converse(atom: str) -> str:
    order = ["followed-by", "before-only", *ALLEN[1:-1], "after-only", "follows"]
    return order[-1 - order.index(atom)]
