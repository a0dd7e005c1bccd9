"""Exact sums of doubles: fixed-point numbers as wide as all doubles, rounded when asked for (WIN 5.5).

A sum is WORDS int64: digits of 32 bits, the least first, the first bit of all being worth 2**-1074. Adding
touches three digits and carries nothing, so a digit may be any int64; after 2**30 additions, and before it is
rounded, carries are passed on. What was added can be taken away again, and then nothing of it remains. NaN
and the infinities are counted apart. Zeros throughout are the sum of nothing.
"""

import math

import numpy as np

from situ.compiled.jit import kernel

DIGITS = 68  # 2098 bits of doubles, and room for 2**62 of them
ADDED, NANS, PLUS, MINUS = DIGITS, DIGITS + 1, DIGITS + 2, DIGITS + 3  # behind the digits
TOP, DOWN = DIGITS + 4, DIGITS + 5  # the highest digit in use, and how far below the last the lowest is
WORDS = DIGITS + 6

_DIGIT = 0xFFFFFFFF
_OFTEN = 1 << 30
_FRACTION = (1 << 52) - 1
_LARGEST = 1074 + 1023  # the place of the highest bit of the largest double


@kernel
def add(words, value, sign):
    """Add a double, or take it away with sign -1."""
    if value != value:
        words[NANS] += sign
        return
    if value == math.inf:
        words[PLUS] += sign
        return
    if value == -math.inf:
        words[MINUS] += sign
        return
    bits = np.float64(value).view(np.int64)
    fraction = bits & _FRACTION
    place = (bits >> 52) & 0x7FF
    if place > 0:
        fraction |= _FRACTION + 1
        place -= 1
    if bits < 0:
        sign = -sign
    first, shift = place >> 5, place & 31
    low = (fraction & _DIGIT) << shift
    high = ((fraction >> 32) << shift) + (low >> 32)
    words[first] += sign * (low & _DIGIT)
    words[first + 1] += sign * (high & _DIGIT)
    words[first + 2] += sign * (high >> 32)
    words[TOP] = max(words[TOP], first + 3)  # the highest one only ever takes carries, and the sign
    words[DOWN] = max(words[DOWN], DIGITS - first)
    words[ADDED] += 1
    if words[ADDED] >= _OFTEN:
        _carry(words)


@kernel
def clear(words):
    """Nothing is added."""
    for i in range(WORDS):
        words[i] = 0


@kernel
def rounded(words):
    """The double nearest to the sum, the even one of two; infinite beyond them, as IEEE rounds."""
    if words[NANS] > 0 or (words[PLUS] > 0 and words[MINUS] > 0):
        return math.nan
    if words[PLUS] > 0:
        return math.inf
    if words[MINUS] > 0:
        return -math.inf
    _carry(words)
    if words[words[TOP]] >= 0:
        return _nearest(words)
    _negate(words)
    _carry(words)
    result = -_nearest(words)
    _negate(words)
    return result


@kernel
def _carry(words):
    """Bring every digit in use but the highest into [0, 2**32)."""
    for i in range(DIGITS - words[DOWN], words[TOP]):
        words[i + 1] += words[i] >> 32
        words[i] &= _DIGIT
    words[ADDED] = 0


@kernel
def _negate(words):
    for i in range(DIGITS - words[DOWN], words[TOP] + 1):
        words[i] = -words[i]


@kernel
def _nearest(words):
    """Of digits in [0, 2**32)."""
    top = words[TOP]
    while top >= 0 and words[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    highest = 32 * top  # the place of the highest bit
    left = words[top] >> 1
    while left > 0:
        highest += 1
        left >>= 1
    least = max(highest - 52, 0)  # the place of the last bit that is kept
    first, shift = least >> 5, least & 31
    kept = words[first] >> shift
    if first + 1 < DIGITS:
        kept |= words[first + 1] << (32 - shift)
    if first + 2 < DIGITS and shift > 0:
        kept |= (words[first + 2] << (32 - shift)) << 32
    if least > 0 and _rounds_up(words, least, kept & 1):
        kept += 1
        if kept == 1 << 53:
            kept >>= 1
            least += 1
            highest += 1
    if highest > _LARGEST:
        return math.inf
    return math.ldexp(float(kept), int(least - 1074))


@kernel
def _rounds_up(words, least, is_odd):
    """Whether what stands below the place `least` is more than half of it, or half beside an odd digit."""
    half = least - 1
    first, shift = half >> 5, half & 31
    if (words[first] >> shift) & 1 == 0:
        return False
    if is_odd or words[first] & ((1 << shift) - 1) != 0:
        return True
    rest = 0
    for i in range(DIGITS - words[DOWN], first):
        rest |= words[i]
    return rest != 0
