"""exp, expm1 and pow as fdlibm computes them, which is what Java's StrictMath promises.

After fdlibm 5.3: Copyright (C) 1993-2004 by Sun Microsystems, Inc. All rights reserved. Permission to use,
copy, modify, and distribute this software is freely granted, provided that this notice is preserved.

Each sum and product stands in fdlibm's order: another order gives other last bits.
"""

import numpy as np

from situ.compiled.jit import kernel
from situ.expressions.kernels.bits import (
    FRACTION,
    INFINITE,
    SIZE,
    SMALLEST,
    cut,
    high_word,
    of_bits,
    times_power,
    with_high,
)

LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ONE_BY_LN2 = 1.44269504088896338700e00
HALF_LN2 = 0x3FD62E42  # high words of what x is compared with
LN2_AND_A_HALF = 0x3FF0A2B2
OVERFLOWS = 7.09782712893383973096e02
UNDERFLOWS = -7.45133219101941108420e02

# x - x*x*(P1 + ...): what exp(x) = 1 + 2x/(2-c) divides by.
P1 = 1.66666666666666019037e-01
P2 = -2.77777777770155933842e-03
P3 = 6.61375632143793436117e-05
P4 = -1.65339022054652515390e-06
P5 = 4.13813679705723846039e-08

Q1 = -3.33333333333331316428e-02
Q2 = 1.58730158725481460165e-03
Q3 = -7.93650757867487942473e-05
Q4 = 4.00821782732936239552e-06
Q5 = -2.01099218183624371326e-07

# The logarithm of pow: of (x - b)/(x + b), b either 1 or 1.5.
L1 = 5.99999999999994648725e-01
L2 = 4.28571428578550184252e-01
L3 = 3.33333329818377432918e-01
L4 = 2.72728123808534006489e-01
L5 = 2.30660745775561754067e-01
L6 = 2.06975017800338417784e-01
LOG2_OF_THREE_HALVES_HIGH = 5.84962487220764160156e-01
LOG2_OF_THREE_HALVES_LOW = 1.35003920212974897128e-08
TWO_BY_3_LN2 = 9.61796693925975554329e-01
TWO_BY_3_LN2_HIGH = 9.61796700954437255859e-01
TWO_BY_3_LN2_LOW = -7.02846165095275826516e-09
ONE_BY_LN2_HIGH = 1.44269502162933349609e00
ONE_BY_LN2_LOW = 1.92596299112661746887e-08
LN2 = 6.93147180559945286227e-01
LN2_CUT = 6.93147182464599609375e-01
LN2_CUT_REST = -1.90465429995776804525e-09
OVERFLOW_MARGIN = 8.0085662595372944372e-17  # -(1024 - log2(the largest double + half a last bit))


@kernel
def exp(x):
    """e**x of one double."""
    high = high_word(x)
    negative = high < 0
    high &= SIZE
    if high >= INFINITE:
        return 0.0 if x == -np.inf else x + x
    if x > OVERFLOWS:
        return np.inf
    if x < UNDERFLOWS:
        return 0.0
    k = 0
    above = x
    below = 0.0
    if high > HALF_LN2:  # x = k*ln2 + (above - below)
        if high < LN2_AND_A_HALF:
            k = -1 if negative else 1
            above = x + LN2_HIGH if negative else x - LN2_HIGH
            below = -LN2_LOW if negative else LN2_LOW
        else:
            k = int(ONE_BY_LN2 * x + (-0.5 if negative else 0.5))
            above = x - k * LN2_HIGH
            below = k * LN2_LOW
        x = above - below
    elif high < 0x3E300000:  # |x| < 2**-28
        return 1.0 + x
    t = x * x
    c = x - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    if k == 0:
        return 1.0 - ((x * c) / (c - 2.0) - x)
    y = 1.0 - ((below - (x * c) / (2.0 - c)) - above)
    return times_power(y, k) if k >= -1021 else times_power(y, k + 1000) * 2.0**-1000


@kernel
def expm1(x):
    """e**x - 1 of one double, exact also where e**x is nearly 1."""
    high = high_word(x)
    negative = high < 0
    high &= SIZE
    if high >= 0x4043687A:  # |x| >= 56*ln2
        if np.isnan(x):
            return x
        if negative:
            return -1.0
        if x > OVERFLOWS:
            return np.inf
    k = 0
    c = 0.0
    if high > HALF_LN2:
        if high < LN2_AND_A_HALF:
            k = -1 if negative else 1
            above = x + LN2_HIGH if negative else x - LN2_HIGH
            below = -LN2_LOW if negative else LN2_LOW
        else:
            k = int(ONE_BY_LN2 * x + (-0.5 if negative else 0.5))
            above = x - k * LN2_HIGH
            below = k * LN2_LOW
        x = above - below
        c = (above - x) - below  # what the difference lost
    elif high < 0x3C900000:  # |x| < 2**-54
        return x
    half = 0.5 * x
    square = x * half
    r = 1.0 + square * (Q1 + square * (Q2 + square * (Q3 + square * (Q4 + square * Q5))))
    t = 3.0 - r * half
    e = square * ((r - t) / (6.0 - x * t))
    if k == 0:
        return x - (x * e - square)
    e = x * (e - c) - c
    e -= square
    if k == -1:
        return 0.5 * (x - e) - 0.5
    if k == 1:
        return -2.0 * (e - (x + 0.5)) if x < -0.25 else 1.0 + 2.0 * (x - e)
    if k <= -2 or k > 56:
        return times_power(1.0 - (e - x), k) - 1.0
    if k < 20:
        return times_power((1.0 - 2.0**-k) - (e - x), k)
    return times_power((x - (e + 2.0**-k)) + 1.0, k)


@kernel
def _integer_kind(y):
    """1: an odd integer, 2: an even one, 0: no integer."""
    if abs(y) >= 2.0**53:
        return 2
    if np.floor(y) != y:
        return 0
    return 1 if int(y) & 1 else 2


@kernel
def _log2_near_one(x):
    """log2(x) for x very near 1, in two parts."""
    t = x - 1.0
    w = (t * t) * (0.5 - t * (0.3333333333333333333333 - t * 0.25))
    u = ONE_BY_LN2_HIGH * t
    v = t * ONE_BY_LN2_LOW - w * ONE_BY_LN2
    first = cut(u + v)
    return first, v - (first - u)


@kernel
def _log2(x):
    """log2 of a positive double in two parts, the first of few bits."""
    n = 0
    if high_word(x) < SMALLEST:
        x *= 2.0**53
        n = -53
    high = high_word(x)
    n += (high >> 20) - 0x3FF
    fraction = high & FRACTION
    high = fraction | 0x3FF00000
    base, base_high, base_low, shift = 1.0, 0.0, 0.0, 0
    if fraction > 0x3988E:
        if fraction < 0xBB67A:  # between sqrt(3/2) and sqrt(3)
            base, base_high, base_low = 1.5, LOG2_OF_THREE_HALVES_HIGH, LOG2_OF_THREE_HALVES_LOW
            shift = 1
        else:
            n += 1
            high -= 0x00100000
    x = with_high(x, high)
    u = x - base
    v = 1.0 / (x + base)
    s = u * v
    s_high = cut(s)
    t_high = of_bits((((high >> 1) | 0x20000000) + 0x00080000 + (shift << 18)) << 32)  # x + base, cut
    t_low = x - (t_high - base)
    s_low = v * ((u - s_high * t_high) - s_high * t_low)
    square = s * s
    r = square * square * (L1 + square * (L2 + square * (L3 + square * (L4 + square * (L5 + square * L6)))))
    r += s_low * (s_high + s)
    square = s_high * s_high
    t_high = cut(3.0 + square + r)
    t_low = r - ((t_high - 3.0) - square)
    u = s_high * t_high
    v = s_low * t_high + t_low * s
    p_high = cut(u + v)
    p_low = v - (p_high - u)
    z_high = TWO_BY_3_LN2_HIGH * p_high
    z_low = TWO_BY_3_LN2_LOW * p_high + p_low * TWO_BY_3_LN2 + base_low
    first = cut(((z_high + z_low) + base_high) + n)
    return first, z_low - (((first - n) - base_high) - z_high)


@kernel
def _power_of_two(p_high, p_low):
    """2**(p_high + p_low), for sums whose result neither overflows nor vanishes."""
    z = p_low + p_high
    high = high_word(z)
    size = high & SIZE
    n = 0
    if size > 0x3FE00000:  # |z| > 0.5: n is z rounded
        rounded = (high & 0xFFFFFFFF) + (0x00100000 >> (((size >> 20) - 0x3FF) + 1))
        k = ((rounded & SIZE) >> 20) - 0x3FF
        p_high -= of_bits((rounded & ~(FRACTION >> k)) << 32)
        n = ((rounded & FRACTION) | 0x00100000) >> (20 - k)
        if high < 0:
            n = -n
    t = cut(p_low + p_high)
    u = t * LN2_CUT
    v = (p_low - (t - p_high)) * LN2 + t * LN2_CUT_REST
    z = u + v
    w = v - (z - u)
    t = z * z
    c = z - t * (P1 + t * (P2 + t * (P3 + t * (P4 + t * P5))))
    r = (z * c) / (c - 2.0) - (w + z * w)
    z = 1.0 - (r - z)
    if (high_word(z) >> 20) + n <= 0:  # a subnormal result: rounded once
        return times_power(z, n + 54) * 2.0**-54
    return times_power(z, n)


@kernel
def power(x, y):
    """x**y of two doubles, with Java's special cases: 1**NaN and 1**infinity are NaN."""
    if y == 0.0:
        return 1.0
    if np.isnan(x) or np.isnan(y):
        return x + y
    size = abs(x)
    if np.isinf(y):
        if size == 1.0:
            return np.nan
        return np.inf if (size > 1.0) == (y > 0.0) else 0.0
    if y == 1.0:
        return x
    if y == -1.0:
        return 1.0 / x
    if y == 2.0:
        return x * x
    if y == 0.5 and x >= 0.0:
        return np.sqrt(x + 0.0)
    kind = _integer_kind(y)
    sign = -1.0 if high_word(x) < 0 and kind == 1 else 1.0
    if size == 0.0 or size == 1.0 or np.isinf(size):
        if x == -1.0 and kind == 0:
            return np.nan
        return sign * (1.0 / size if y < 0.0 else size)
    if x < 0.0 and kind == 0:
        return np.nan
    if (high_word(y) & SIZE) > 0x41E00000:  # |y| > 2**31
        if high_word(size) < 0x3FEFFFFF:
            return sign * np.inf if y < 0.0 else sign * 0.0
        if high_word(size) > 0x3FF00000:
            return sign * np.inf if y > 0.0 else sign * 0.0
        if (high_word(y) & SIZE) > 0x43F00000:  # |y| > 2**64
            return np.inf if (size > 1.0) == (y > 0.0) else 0.0
        first, second = _log2_near_one(size)
    else:
        first, second = _log2(size)
    y_cut = cut(y)
    p_low = (y - y_cut) * first + y * second
    p_high = y_cut * first
    z = p_low + p_high
    if z > 1024.0 or (z == 1024.0 and p_low + OVERFLOW_MARGIN > z - p_high):
        return sign * np.inf
    if z < -1075.0 or (z == -1075.0 and p_low <= z - p_high):
        return sign * 0.0
    return sign * _power_of_two(p_high, p_low)


@kernel
def each_exp(xs):
    """e**x of every double. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = exp(xs[i])
    return out


@kernel
def each_expm1(xs):
    """e**x - 1 of every double. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = expm1(xs[i])
    return out


@kernel
def each_power(xs, ys):
    """x**y of every pair of doubles. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = power(xs[i], ys[i])
    return out
