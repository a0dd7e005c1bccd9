"""The PATTERN clause to one relation set per pair, by a reader that shares nothing with situ (SEM 3, 7)."""

from __future__ import annotations

import re
from itertools import pairwise, product

from oracles.relations import ALLEN, allen, atoms

Constraints = dict[tuple[str, str], frozenset[str]]
Constraint = tuple[str, set[str], str]  # left, atoms, right

LONGEST_FIRST = sorted([*ALLEN, "followed-by", "follows", "equal"], key=len, reverse=True)
RELATION = r"\b(?:" + "|".join(LONGEST_FIRST).replace("-", r"[-_\s]") + r")\b"
SYMBOL = r"[A-Za-z_]\w*|`[^`]+`"
COMPARISONS = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    "=": lambda x, y: x == y,
    ">=": lambda x, y: x >= y,
    ">": lambda x, y: x > y,
}
# Every relation occurs among the pairs of intervals over five instants.
PAIRS = [(a, b, c, d) for a, b, c, d in product(range(5), repeat=4) if a < b and c < d]


def pattern(text: str) -> tuple[Constraints, tuple[str, ...]]:
    """The atoms of each pair, intersected over all that is written for it; and the symbols as first met."""
    constraints: Constraints = {}
    met: dict[str, None] = {}
    for conjunct in re.split(r"\bAND\b", text, flags=re.I) if text.strip() else []:
        read = endpoints if re.search(r"\.\s*t[se]\b", conjunct) else relations
        for left, meant, right in read(conjunct):
            met |= {left: None, right: None}
            if left != right:
                pair, meant = (left, right), frozenset(meant)
                if (right, left) in constraints:
                    pair, meant = (right, left), frozenset(map(converse, meant))
                constraints[pair] = meant & constraints.get(pair, meant)
    return constraints, tuple(met)


def relations(conjunct: str) -> list[Constraint]:
    """`A r B r C`, `A r;r B` and `A r B; B r A`, freely joined."""
    found: list[Constraint] = []
    tokens = re.findall(rf"{RELATION}|{SYMBOL}|;", conjunct, re.I)
    while tokens:
        if tokens[0] == ";":  # one more alternative for the pair just read
            is_alternative, left = True, tokens[1]
            del tokens[:2]
        else:  # the beginning, or a chain that goes on from the last symbol
            is_alternative, left = False, found[-1][2] if found else tokens.pop(0)
        meant = atoms({canonical(tokens.pop(0))})
        while tokens[0] == ";":
            meant |= atoms({canonical(tokens[1])})
            del tokens[:2]
        left, right = left.strip("`"), tokens.pop(0).strip("`")
        if is_alternative:
            first, others, second = found.pop()
            meant = others | (meant if left == first else set(map(converse, meant)))
            left, right = first, second
        found.append((left, meant, right))
    return found


def endpoints(conjunct: str) -> list[Constraint]:
    """`A.ts < B.ts = C.te` as its adjacent comparisons, each the relations consistent with it."""
    ends = re.findall(rf"({SYMBOL})\s*\.\s*(ts|te)\b", conjunct)
    signs = re.findall(r"<=|>=|<|>|=", conjunct)
    found: list[Constraint] = []
    for ((left, left_end), (right, right_end)), sign in zip(pairwise(ends), signs, strict=True):
        compare = COMPARISONS[sign]
        x, y = {"ts": 0, "te": 1}[left_end], {"ts": 2, "te": 3}[right_end]
        names = {allen(*pair) for pair in PAIRS if compare(pair[x], pair[y])}
        found.append((left.strip("`"), atoms(names), right.strip("`")))
    return found


def canonical(spelled: str) -> str:
    name = re.sub(r"[-_\s]+", "-", spelled).lower()
    return "equals" if name == "equal" else name


def converse(atom: str) -> str:
    order = ["followed-by", "before-only", *ALLEN[1:-1], "after-only", "follows"]
    return order[-1 - order.index(atom)]
