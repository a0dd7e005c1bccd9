"""What programs of conditions ask of the row alone, and which compare it with the match's first row.

Most conditions on the first row are `x < A.x`, behind AND with some on the row itself. The latter is a
necessary test that needs no path: rows are sorted out by it before anything is searched. What is left, if
that is one comparison, is made without the machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.kernels.layout import Bytes, Ints, Programs

COMPARISONS = (do.EQUAL_INT, do.EQUAL_FLOAT, do.LESS_INT, do.LESS_FLOAT)


class Quick(NamedTuple):
    """Of P programs that read the path."""

    guards: tuple[tuple[int, ...], ...]  # columns of ints that must be true at the tested row
    # [P, 5]: a comparison, or -1 where the machine is needed; negated, operands change places, the column of
    # the tested row, that of the first row
    compare: Ints


def quick_of(programs: Programs, n_programs: int) -> Quick:
    """Look through the code of the first programs."""
    found = [_of(programs.code, int(first), int(end)) for first, end in _spans(programs, n_programs)]
    compare = np.array([one for _, one in found], np.int64).reshape(n_programs, 5)
    return Quick(tuple(guards for guards, _ in found), compare)


def guard_lines(quick: Quick, ints: Ints, states: Bytes) -> tuple[Bytes, list[int]] | None:
    """Whether the guards of programs hold, by row, and the programs that have some; None if one raised."""
    guarded = [program for program, guards in enumerate(quick.guards) if guards]
    lines = np.empty((len(guarded), ints.shape[1]), np.uint8)
    for line, program in zip(lines, guarded, strict=True):
        line[:] = 1
        for column in quick.guards[program]:
            if states[column].max(initial=0) > 1:
                return None
            line &= (ints[column] != 0).view(np.uint8) & states[column]
    return lines, guarded


def _spans(programs: Programs, n_programs: int) -> Any:
    return zip(programs.begin[:n_programs], programs.begin[1 : n_programs + 1], strict=True)


def _of(code: Ints, first: int, end: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Guards and comparison of one program."""
    made = {int(one[1]): tuple(map(int, one)) for one in code[first:end]}
    if len(made) < end - first:  # a register is used twice
        return (), (-1, 0, 0, 0, 0)
    guards: list[int] = []
    rest = _without_guards(int(code[end - 1, 1]), made, guards)
    return tuple(guards), _comparison(rest, made)


def _without_guards(register: int, made: dict[int, tuple[int, ...]], guards: list[int]) -> int | None:
    """The register that is left when conjuncts of the row alone are taken out; None where it is not one."""
    op, _, a, b, c, d = made[register]
    if op == do.LOAD_INT and (b, c, d) == (do.HERE, 0, 0):
        guards.append(a)
        return None
    if op != do.CONNECT or c != 0:
        return register
    left, right = _without_guards(a, made, guards), _without_guards(b, made, guards)
    if left is not None and right is not None:
        return register
    return right if left is None else left


def _comparison(register: int | None, made: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    no = (-1, 0, 0, 0, 0)
    if register is None or made[register][0] not in COMPARISONS:
        return no
    op, _, a, b, negated, swapped = made[register]
    here, start = made[a], made[b]
    if here[3] == do.START:
        here, start, swapped = start, here, int(not swapped)
    loads = (do.LOAD_INT, do.LOAD_FLOAT)
    if here[0] not in loads or start[0] != here[0]:
        return no
    if here[3:] != (do.HERE, 0, 0) or start[3:] != (do.START, 0, 0):
        return no
    return op, negated, swapped, here[2], start[2]
