"""What each operation of the machine gives for one value each of its operands (operations.py).

Only numbers go in and out: an array that is handed over costs more than most operations do.
"""

import numpy as np

from situ.compiled.jit import kernel
from situ.operators.rowpattern.kernels.layout import FAILED, NULL, VALID
from situ.operators.rowpattern.kernels.operations import (
    ABSOLUTE_FLOAT,
    ABSOLUTE_INT,
    ADD_FLOAT,
    ADD_INT,
    AFTER,
    COALESCE,
    CONNECT,
    DIVIDE_FLOAT,
    DIVIDE_INT,
    EQUAL_FLOAT,
    EQUAL_INT,
    EXTREME_FLOAT,
    EXTREME_INT,
    INT_TO_FLOAT,
    IS_NULL,
    IS_TRUTH,
    LESS_FLOAT,
    LESS_INT,
    MULTIPLY_FLOAT,
    MULTIPLY_INT,
    NARROW_INT,
    NEGATE_FLOAT,
    NEGATE_INT,
    NOT,
    REMAINDER_FLOAT,
    REMAINDER_INT,
    SAME_FLOAT,
    SAME_INT,
    SCALE_INT,
    SUBTRACT_FLOAT,
    SUBTRACT_INT,
)

_MOST = np.int64((1 << 63) - 1)
_LEAST = np.int64(-(1 << 63))
_SHORT = 32


@kernel
def operate(op, c, d, m, k, x, y, left, right):
    """State, int and float that an operation gives.

    Its left operand has the int `m`, the float `x` and the state `left`, the right one k, y and `right`.
    """
    both = right if left == VALID else left  # the right side is not evaluated where the left one is null
    if op <= LESS_FLOAT:
        return both, np.int64(_compared(op, m, k, x, y, d) != c), 0.0
    if op <= SAME_FLOAT:
        return _same(op, m, k, x, y, left, right)
    if op <= AFTER:
        return _logical(op, c, m, k, left, right)
    if op <= EXTREME_FLOAT:
        return _better(op, c, m, k, x, y, left, right)
    if op <= NARROW_INT:
        result, is_beyond = whole(op, m, k, c)
        return FAILED if is_beyond and d and both == VALID else both, result, 0.0
    if op <= REMAINDER_INT:
        return _divided(op, d, m, k, left, right)
    if op == SCALE_INT:
        return left, _scaled(m, k), 0.0
    if op <= REMAINDER_FLOAT:
        return _real(op, c, d, x, y, left, right, both)
    return _converted(op, c, d, m, x, left)


@kernel
def is_less(x, y):
    """As Spark compares floats: NaN is the greatest."""
    return (not y <= x) & (x == x)


@kernel
def is_equal(x, y):
    """As Spark compares floats: NaN is NaN."""
    return (x == y) | ((x != x) & (y != y))


@kernel
def _compared(op, m, k, x, y, swapped):
    if op == EQUAL_INT:
        return m == k
    if op == EQUAL_FLOAT:
        return is_equal(x, y)
    if op == LESS_INT:
        return k < m if swapped else m < k
    return is_less(y, x) if swapped else is_less(x, y)


@kernel
def _same(op, m, k, x, y, left, right):
    if left == FAILED or right == FAILED:
        return FAILED, np.int64(0), 0.0
    is_same = left == right
    if is_same and left == VALID:
        is_same = m == k if op == SAME_INT else is_equal(x, y)
    return VALID, np.int64(is_same), 0.0


@kernel
def _logical(op, c, m, k, left, right):
    """Three-valued logic over truths."""
    if op == CONNECT:
        if left == FAILED or (left == VALID and m == c):
            return left, np.int64(c), 0.0
        if right == FAILED or (right == VALID and k == c):
            return right, np.int64(c), 0.0
        return left & right, np.int64(1 - c), 0.0  # both VALID, or one NULL
    if op == NOT:
        return left, 1 - m, 0.0
    if op == IS_NULL:
        return max(left, VALID), np.int64(left == NULL), 0.0
    if op == IS_TRUTH:
        return max(left, VALID), np.int64(left == VALID and m == c), 0.0
    return FAILED if left == FAILED else right, k, 0.0


@kernel
def _better(op, greatest, m, k, x, y, left, right):
    """COALESCE, LEAST, GREATEST: the first, or the outermost, of two that is not null."""
    if op == COALESCE:
        takes_right = left == NULL
    elif left == FAILED or right == NULL:
        takes_right = False
    elif left == NULL or right == FAILED:
        takes_right = True
    elif op == EXTREME_INT:
        takes_right = m < k if greatest else k < m
    else:
        takes_right = is_less(x, y) if greatest else is_less(y, x)
    if takes_right:
        return right, k, y
    return left, m, x


@kernel
def whole(op, m, k, bits):
    """A number cut to the bits of its type, and whether that changed it.

    Asked before it is computed: compiled code takes for granted that results do not wrap around.
    """
    is_beyond = False
    result = m
    if op == ADD_INT:
        is_beyond = m > _MOST - k if k > 0 else m < _LEAST - k
        result = m + k
    elif op == SUBTRACT_INT:
        is_beyond = m < _LEAST + k if k > 0 else m > _MOST + k
        result = m - k
    elif op == MULTIPLY_INT:
        is_beyond = _wraps(m, k)
        result = m * k
    elif op == NEGATE_INT or (op == ABSOLUTE_INT and m < 0):
        result = -m
        is_beyond = m == _LEAST
    cut = (result << (64 - bits)) >> (64 - bits)
    return cut, is_beyond or cut != result


@kernel
def _wraps(m, k):
    """Whether the product of two int64 is beyond them."""
    if k == -1:
        return m == _LEAST
    if k > 0:
        return m > _MOST // k or m < _LEAST // k + (_LEAST % k != 0)
    return k < 0 and (m > _LEAST // k or m < _MOST // k + (_MOST % k != 0))


@kernel
def _divided(op, raises, m, k, left, right):
    """DIV and % of ints, towards zero; the right side comes first, and a null there spares the left."""
    found = _of_division(raises, k == 0, left, right)
    if found != VALID:
        return found, np.int64(0), 0.0
    if k == -1:
        is_beyond = op == DIVIDE_INT and raises and m == _LEAST
        return FAILED if is_beyond else VALID, -m if op == DIVIDE_INT else np.int64(0), 0.0
    quotient, rest = m // k, m % k
    if rest != 0 and (m < 0) != (k < 0):
        quotient, rest = quotient + 1, rest - k
    return VALID, quotient if op == DIVIDE_INT else rest, 0.0


@kernel
def _of_division(raises, is_zero, left, right):
    """The state of a quotient."""
    if right != VALID:
        return right
    if is_zero and not raises:
        return NULL
    return FAILED if is_zero and left == VALID else left


@kernel
def _scaled(m, factor):
    """Times a power of ten, for comparing: what does not fit is as large as can be."""
    most = _MOST // factor
    if m > most:
        return _MOST
    return -_MOST if m < -most else m * factor


@kernel
def _real(op, c, raises, x, y, left, right, both):
    """Arithmetic of floats; those of 32 bits are computed in 64 and rounded, which gives the same."""
    found, result = both, x
    if op >= DIVIDE_FLOAT:
        found = _of_division(raises, y == 0, left, right)
        if found != VALID:
            return found, np.int64(0), 0.0
        result = x / y if op == DIVIDE_FLOAT else np.fmod(x, y)
    elif op == ADD_FLOAT:
        result = x + y
    elif op == SUBTRACT_FLOAT:
        result = x - y
    elif op == MULTIPLY_FLOAT:
        result = x * y
    elif op == NEGATE_FLOAT:
        result = -x
    elif op == ABSOLUTE_FLOAT:
        result = abs(x)
    return found, np.int64(0), np.float64(np.float32(result)) if c == _SHORT else result


@kernel
def _converted(op, bits, raises, m, x, left):
    """Casts between ints, floats and truths."""
    if op == INT_TO_FLOAT:
        return left, np.int64(0), np.float64(np.float32(m)) if bits == _SHORT else np.float64(m)
    if bits == 1:
        return left, np.int64(x != 0), 0.0
    if left != VALID:
        return left, np.int64(0), 0.0
    is_beyond = raises and not _fits(x, bits)
    return FAILED if is_beyond else VALID, _saturated(x, bits), 0.0


@kernel
def _fits(x, bits):
    """As Spark tests it: 127.9 still fits 8 bits."""
    limit = 2.0 ** (bits - 1)
    most = limit if bits == 64 else limit - 1.0  # a double cannot tell 2**63 from the largest bigint
    return np.floor(x) <= most and np.ceil(x) >= -limit


@kernel
def _saturated(x, bits):
    """As Java converts: to 32 or 64 bits, NaN is 0 and what does not fit the nearest end; then cut."""
    if x != x:
        return np.int64(0)
    size = 64 if bits == 64 else 32
    if x >= 2.0 ** (size - 1) - (size == 32):
        result = _MOST >> (64 - size)
    elif x <= -(2.0 ** (size - 1)):
        result = _LEAST >> (64 - size)
    else:
        result = np.int64(x)
    return (result << (64 - bits)) >> (64 - bits)
