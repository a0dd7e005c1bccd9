"""Why a program raised: what it left in its registers, followed from the result to the first cause."""

from __future__ import annotations

from typing import Final

from situ.errors import ExpressionError
from situ.operators.rowpattern.kernels import operations as do
from situ.operators.rowpattern.kernels.layout import FAILED, VALID, Path, Programs

_TYPES: Final = {8: "tinyint", 16: "smallint", 32: "int", 64: "64 bits"}
_DOES_NOT_FIT: Final = {
    do.ADD_INT: "a sum",
    do.SUBTRACT_INT: "a difference",
    do.MULTIPLY_INT: "a product",
    do.NEGATE_INT: "the negative of a number",
    do.ABSOLUTE_INT: "the size of a number",
    do.NARROW_INT: "a number that is cast",
    do.FLOAT_TO_INT: "a number that is cast",
}
_DIVISIONS: Final = (do.DIVIDE_INT, do.REMAINDER_INT, do.DIVIDE_FLOAT, do.REMAINDER_FLOAT)
_HINT: Final = (
    "Guard it, as in CASE WHEN b <> 0 THEN a / b END, or cast to a wider type first; "
    "ansi=False gives null or a wrapped value instead, as Spark does with spark.sql.ansi.enabled=false."
)


def failure(programs: Programs, program: int, path: Path, name: str) -> ExpressionError:
    """What to say of a program of a path that has just raised; `name` is that of its condition."""
    first, last = int(programs.begin[program]), int(programs.begin[program + 1]) - 1
    code = {int(row[1]): row.tolist() for row in programs.code[first : last + 1]}
    at = code[int(programs.code[last, 1])]
    while causes := [one for one in _operands(at, path) if path.state[one, 0] == FAILED]:
        at = code[causes[0]]
    return ExpressionError(f"in {name}, {_told(at, path)}", hint=_HINT)


def _operands(instruction: list[int], path: Path) -> tuple[int, ...]:
    """The registers that it reads, in the order in which Spark would."""
    op, _, a, b, c, _ = instruction
    if op <= do.AGGREGATE_FLOAT:
        return ()
    if op == do.CHOOSE:
        is_true = path.state[a, 0] == VALID and path.ints[a, 0] != 0
        return (a, b if is_true else c)
    return (b, a) if op in _DIVISIONS else (a, b)


def _told(instruction: list[int], path: Path) -> str:
    op, _, _, b, c, _ = instruction
    if op in _DIVISIONS:
        is_zero = (path.floats if op >= do.DIVIDE_FLOAT else path.ints)[b, 0] == 0
        return "a division is by zero" if is_zero else "a quotient does not fit 64 bits"
    if op in _DOES_NOT_FIT:
        return f"{_DOES_NOT_FIT[op]} does not fit {_TYPES[c]}"
    if op in (do.AGGREGATE_INT, do.AGGREGATE_FLOAT):
        return "an aggregate does not fit 64 bits, or its argument raises of a row"
    return "a value of another row raises, as a division by zero or a number that does not fit"
