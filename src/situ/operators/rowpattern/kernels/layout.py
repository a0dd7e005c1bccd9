"""What kernels of row patterns share: rows, the path of a candidate, the programs of conditions.

Numba takes microseconds to recognise a named tuple that comes from Python, and a fraction of one for a plain
tuple. So a kernel that single rows go through may take either, and gives the names back inside: `as_rows`
and the like. What they give is borrowed, so that nobody counts its owners: take it once, in the kernel that
Python calls, and hand it on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from situ.compiled.borrowed import borrowed
from situ.compiled.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

# What a test says of a candidate row.
FALSE, TRUE, FAILED, UNKNOWN = 0, 1, 2, 3  # FAILED: it raised (ROW 2.6); UNKNOWN: it reads a row yet to come

# The state of a value: null, there, or FAILED: computing it raised.
NULL, VALID = 0, 1


class Rows(NamedTuple):
    """N rows in order, of all partitions; what conditions read of them."""

    time: Ints
    truth: Bytes  # [tests, N]: of tests that read only the row and its neighbours, FALSE, TRUE, FAILED
    ints: Ints  # [columns, N]: whole numbers, ticks, booleans, codes of text in its order
    int_state: Bytes  # [columns, N]: NULL, VALID, FAILED
    floats: Floats  # [columns, N]
    float_state: Bytes
    texts: Ints  # codes of the texts that programs name: literals, then variables


class Path(NamedTuple):
    """The candidate on which a test is asked: rows and variables by depth, the tested row included.

    `count[g, k]`: how many of the rows at depths 0..k belong to group g, a set of variables. Aggregates by
    depth: `whole` and `real` hold what is combined of each; exact floating sums are held once in `exact` and
    rows that are taken back are subtracted. `Conditions.path` makes one.
    """

    row: Ints
    variable: Ints
    count: Ints  # [groups, depth]
    whole: Ints  # [slots of aggregates, depth]
    real: Floats  # [slots of aggregates, depth]
    exact: Ints  # [exact sums, words]
    ints: Ints  # [registers, block]: of the machine that runs programs
    floats: Floats
    state: Bytes


class Programs(NamedTuple):
    """Tests that read more than the row and its neighbours, as code of a small machine (see machine.py)."""

    code: Ints  # [instructions, 4]: operation and operands
    begin: Ints  # [tests + 1]: the instructions of each test
    ints: Ints  # constants
    floats: Floats
    member: Bools  # [groups, variables]: which variables belong to a group
    aggregate: Ints  # [aggregates, fields]: function, group, column and so on, read by machine.py alone


@kernel
def as_rows(t):
    """Rows, or a plain tuple of them, by name and borrowed."""
    return Rows(
        borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]), borrowed(t[4]), borrowed(t[5]),
        borrowed(t[6]),
    )  # fmt: skip


@kernel
def as_path(t):
    """The same of a Path."""
    return Path(
        borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]), borrowed(t[4]), borrowed(t[5]),
        borrowed(t[6]), borrowed(t[7]), borrowed(t[8]),
    )  # fmt: skip


@kernel
def as_programs(t):
    """The same of Programs; None where there are none."""
    if t is None:
        return None
    return Programs(
        borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]), borrowed(t[4]), borrowed(t[5])
    )


class Shape(NamedTuple):
    """An automaton of M positions; the ways of p are at follow[p]:follow[p + 1], the start's at p = M."""

    follow: Ints  # [M + 2]
    to: Ints  # of each way: a position, or END
    flags: Ints  # of each way: AT_FIRST, AT_LAST
    variable: Ints  # [M]
    test: Ints  # [M]: its test, -1 for none
    lag: Ints  # [tests]: how many rows ahead a test reads
    n_truth: int  # tests before this one are in Rows.truth, the others are programs


AT_FIRST, AT_LAST = 1, 2


class Histories(NamedTuple):
    """H stretches of rows that see each other: partitions, cut where `forget_after` says so."""

    low: Ints  # [H]
    high: Ints  # [H]: one more than the last row known
    start: Ints  # [H]: the first start that is not decided
    number: Ints  # [H]: matches before it
    now: Ints  # [H]: rows of instants up to here are known
    begun: Bools  # [H]: were there rows before the first one here
    closed: Bools  # [H]: comes nothing after the last one
    over: Ints  # [H]: when that is known, NEVER where only the end of the input tells


class Stack(NamedTuple):
    """Where a search stands: at each depth a list of ways, the place in it, whether something is pending."""

    list: Ints
    place: Ints
    pending: Ints
    seen: Ints  # [depth * M * 2]: the last search that came by here


class Memory(NamedTuple):
    """States that a search came by whose tests read its path: position, row, and all they read of the path.

    `reads` [R, 3]: kind, and of LAST_ROW and FIRST_ROW group and offset, of WHOLE and REAL a slot, of
    COUNTED a group.
    """

    reads: Ints
    key: Ints  # [a power of two, 2 + R]
    search: Ints  # [the same]: which search wrote it
    now: Ints  # [2]: the current search, how many it wrote


LAST_ROW, FIRST_ROW, WHOLE, REAL, COUNTED = 0, 1, 2, 3, 4
BY_STATE, BY_MEMORY, BY_NOTHING = 0, 1, 2  # how a search knows where it came by


@kernel
def as_shape(t):
    """The same of a Shape."""
    return Shape(
        borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]), borrowed(t[4]), borrowed(t[5]), t[6]
    )


@kernel
def as_histories(t):
    """The same of Histories."""
    return Histories(
        borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]), borrowed(t[4]), borrowed(t[5]),
        borrowed(t[6]), borrowed(t[7]),
    )  # fmt: skip


@kernel
def as_stack(t):
    """The same of a Stack."""
    return Stack(borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]))


@kernel
def as_memory(t):
    """The same of a Memory."""
    return Memory(borrowed(t[0]), borrowed(t[1]), borrowed(t[2]), borrowed(t[3]))
