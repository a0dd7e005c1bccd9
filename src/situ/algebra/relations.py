"""Allen's thirteen relations (and followed-by) as bits (SEM 3).

A set of relations is an `int`, bit i standing for atom i. `followed-by` splits `before` in two
(SEM 3.4), so there are fifteen atoms: atom 0 is "before but not followed-by" and the name `before`
stands for the bits {0, 13}; likewise `after` stands for {12, 14}.

The first thirteen atoms are numbered so that atom i and atom 12 - i are each other's converse, and so
that, with A held fixed, ascending numbers are B moving from after A to before A.
"""

from __future__ import annotations

import re

BEFORE_ONLY, MEETS, OVERLAPS, FINISHED_BY, CONTAINS, STARTS, EQUALS = range(7)
STARTED_BY, DURING, FINISHES, OVERLAPPED_BY, MET_BY, AFTER_ONLY = range(7, 13)
FOLLOWED_BY, FOLLOWS = 13, 14

N_ALLEN = 13
N_ATOMS = 15
ALL = (1 << N_ATOMS) - 1
BEFORE = 1 << BEFORE_ONLY | 1 << FOLLOWED_BY
AFTER = 1 << AFTER_ONLY | 1 << FOLLOWS

NAMES: dict[str, int] = {
    "before": BEFORE,
    "meets": 1 << MEETS,
    "overlaps": 1 << OVERLAPS,
    "finished-by": 1 << FINISHED_BY,
    "contains": 1 << CONTAINS,
    "starts": 1 << STARTS,
    "equals": 1 << EQUALS,
    "started-by": 1 << STARTED_BY,
    "during": 1 << DURING,
    "finishes": 1 << FINISHES,
    "overlapped-by": 1 << OVERLAPPED_BY,
    "met-by": 1 << MET_BY,
    "after": AFTER,
    "followed-by": 1 << FOLLOWED_BY,
    "follows": 1 << FOLLOWS,
}

SHARING = (
    1 << OVERLAPS | 1 << FINISHED_BY | 1 << CONTAINS | 1 << STARTS | 1 << EQUALS
    | 1 << STARTED_BY | 1 << DURING | 1 << FINISHES | 1 << OVERLAPPED_BY
)  # fmt: skip
INSIDE = 1 << DURING | 1 << STARTS | 1 << FINISHES | 1 << EQUALS
COVERS = 1 << CONTAINS | 1 << STARTED_BY | 1 << FINISHED_BY | 1 << EQUALS
APART = BEFORE | 1 << MEETS | 1 << MET_BY | AFTER

# SEM 10: words for whole sets; the first of two words for one set is the one printed.
WORDS: dict[str, int] = {
    "while": SHARING,
    "intersects": SHARING,
    "inside": INSIDE,
    "covers": COVERS,
    "apart-from": APART,
}

_ALIASES = {"equal": "equals"}
_SEPARATOR = re.compile(r"[-_\s]+")

# What `names_of` prints, in order; a name is used when all its bits are there and none is printed yet.
# No query text can separate the two halves of `before`, so the last two lines only serve debugging.
_PRINTED: tuple[tuple[str, int], ...] = (
    *NAMES.items(),
    ("before-but-not-followed-by", 1 << BEFORE_ONLY),
    ("after-but-not-follows", 1 << AFTER_ONLY),
)

_CONVERSE = (*range(N_ALLEN - 1, -1, -1), FOLLOWS, FOLLOWED_BY)


def parse_name(text: str) -> int | None:
    """The bits of a relation name in any accepted spelling, or None if it is no relation name.

    >>> parse_name("Overlapped By") == NAMES["overlapped-by"]
    True
    """
    name = _SEPARATOR.sub("-", text.strip()).lower()
    name = _ALIASES.get(name, name)
    return NAMES.get(name, WORDS.get(name))


def names_of(bits: int) -> tuple[str, ...]:
    """The canonical names of a set of relations, in the order of SEM 3's table and its converses.

    >>> names_of(BEFORE | 1 << MEETS)
    ('before', 'meets')
    """
    names, printed = [], 0
    for name, name_bits in _PRINTED:
        if name_bits & bits == name_bits and not name_bits & printed:
            names.append(name)
            printed |= name_bits
    return tuple(names)


def words_of(bits: int) -> tuple[str, ...]:
    """`names_of`, but for a set that has a word of its own only that word.

    >>> words_of(SHARING), words_of(BEFORE | 1 << MEETS)
    (('while',), ('before', 'meets'))
    """
    return next(((word,) for word, meant in WORDS.items() if meant == bits), None) or names_of(bits)


def atoms_of(bits: int) -> tuple[int, ...]:
    """The atom numbers in a set of relations, ascending."""
    return tuple(atom for atom in range(N_ATOMS) if bits >> atom & 1)


def converse(bits: int) -> int:
    """The set that holds from B to A when `bits` holds from A to B.

    >>> names_of(converse(NAMES["during"] | NAMES["followed-by"]))
    ('contains', 'follows')
    """
    result = 0
    for atom in atoms_of(bits):
        result |= 1 << _CONVERSE[atom]
    return result


def relation(a_ts: int, a_te: int, b_ts: int, b_te: int) -> int:
    """The one atom 0..12 that holds from [a_ts, a_te) to [b_ts, b_te); both must have ts < te.

    Whether a `before` is also a `followed-by` depends on the events between, which are not seen here.

    >>> relation(0, 5, 3, 8) == OVERLAPS
    True
    """
    if a_te <= b_ts:
        return BEFORE_ONLY if a_te < b_ts else MEETS
    if b_te <= a_ts:
        return AFTER_ONLY if b_te < a_ts else MET_BY
    if a_ts < b_ts:
        first = OVERLAPS
    elif a_ts == b_ts:
        first = STARTS
    else:
        first = DURING
    # Each group of three is ordered by A ending before, with, or after B.
    return first + (a_te >= b_te) + (a_te > b_te)
