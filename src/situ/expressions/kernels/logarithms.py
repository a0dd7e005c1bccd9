"""log, log10, log1p and cbrt as fdlibm computes them, which is what Java's StrictMath promises.

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
    bits_of,
    cut,
    high_word,
    of_bits,
    with_high,
)

LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
TWO_54 = 2.0**54

# log(1+f) = f - s*(f-R), s = f/(2+f): R as a polynomial in s*s.
L1 = 6.666666666666735130e-01
L2 = 3.999999999940941908e-01
L3 = 2.857142874366239149e-01
L4 = 2.222219843214978396e-01
L5 = 1.818357216161805012e-01
L6 = 1.531383769920937332e-01
L7 = 1.479819860511658591e-01

ONE_BY_LN10 = 4.34294481903251816668e-01
LOG10_OF_2_HIGH = 3.01029995663611771306e-01
LOG10_OF_2_LOW = 3.69423907715893078616e-13

# The first guess of a cube root: a third of the exponent, plus these.
CBRT_START = 715094163
CBRT_START_SUBNORMAL = 696219795


@kernel
def log(x):
    """The natural logarithm of one double: -inf at 0, NaN below."""
    high = high_word(x)
    k = 0
    if high < SMALLEST:
        if x == 0.0:
            return -np.inf
        if high < 0:
            return np.nan
        k = -54
        x *= TWO_54
        high = high_word(x)
    if high >= INFINITE:
        return x + x
    k += (high >> 20) - 1023
    high &= FRACTION
    # x becomes a number between sqrt(1/2) and sqrt(2).
    above = (high + 0x95F64) & 0x100000
    x = with_high(x, high | (above ^ 0x3FF00000))
    k += above >> 20
    f = x - 1.0
    if (FRACTION & (2 + high)) < 3:  # |f| < 2**-20
        if f == 0.0:
            return k * LN2_HIGH + k * LN2_LOW
        r = f * f * (0.5 - 0.33333333333333333 * f)
        if k == 0:
            return f - r
        return k * LN2_HIGH - ((r - k * LN2_LOW) - f)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (L2 + w * (L4 + w * L6))
    odd = z * (L1 + w * (L3 + w * (L5 + w * L7)))
    r = odd + even
    if ((high - 0x6147A) | (0x6B851 - high)) > 0:
        half = 0.5 * f * f
        if k == 0:
            return f - (half - s * (half + r))
        return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f)
    if k == 0:
        return f - s * (f - r)
    return k * LN2_HIGH - ((s * (f - r) - k * LN2_LOW) - f)


@kernel
def log10(x):
    """The decimal logarithm of one double."""
    high = high_word(x)
    k = 0
    if high < SMALLEST:
        if x == 0.0:
            return -np.inf
        if high < 0:
            return np.nan
        k = -54
        x *= TWO_54
        high = high_word(x)
    if high >= INFINITE:
        return x + x
    k += (high >> 20) - 1023
    below = 1 if k < 0 else 0
    x = with_high(x, (high & FRACTION) | ((0x3FF - below) << 20))
    y = float(k + below)
    z = y * LOG10_OF_2_LOW + ONE_BY_LN10 * log(x)
    return z + y * LOG10_OF_2_HIGH


@kernel
def log1p(x):
    """log(1 + x) of one double, exact also where 1 + x is not."""
    high = high_word(x)
    size = high & SIZE
    k = 1
    f = 0.0
    c = 0.0
    rest = 1
    if high < 0x3FDA827A:  # x < sqrt(2) - 1
        if size >= 0x3FF00000:
            return -np.inf if x == -1.0 else np.nan
        if size < 0x3E200000:
            return x if size < 0x3C900000 else x - x * x * 0.5
        if high > 0 or size <= 0x3FD2BEC3:
            k = 0
            f = x
    if high >= INFINITE:
        return x + x
    if k != 0:
        u = x
        if high < 0x43400000:
            u = 1.0 + x
            k = (high_word(u) >> 20) - 1023
            c = 1.0 - (u - x) if k > 0 else x - (u - 1.0)  # what the sum lost
            c /= u
        else:
            k = (high_word(u) >> 20) - 1023
        rest = high_word(u) & FRACTION
        if rest < 0x6A09E:
            u = with_high(u, rest | 0x3FF00000)
        else:
            k += 1
            u = with_high(u, rest | 0x3FE00000)
            rest = (0x00100000 - rest) >> 2
        f = u - 1.0
    half = 0.5 * f * f
    if rest == 0:  # |f| < 2**-20
        if f == 0.0:
            if k == 0:
                return 0.0
            c += k * LN2_LOW
            return k * LN2_HIGH + c
        r = half * (1.0 - 0.66666666666666666 * f)
        if k == 0:
            return f - r
        return k * LN2_HIGH - ((r - (k * LN2_LOW + c)) - f)
    s = f / (2.0 + f)
    z = s * s
    r = z * (L1 + z * (L2 + z * (L3 + z * (L4 + z * (L5 + z * (L6 + z * L7))))))
    if k == 0:
        return f - (half - s * (half + r))
    return k * LN2_HIGH - ((half - (s * (half + r) + (k * LN2_LOW + c))) - f)


@kernel
def cbrt(x):
    """The cube root of one double."""
    if not np.isfinite(x) or x == 0.0:
        return x
    size = abs(x)
    high = high_word(size)
    if high < SMALLEST:
        guess = TWO_54 * size
        guess = with_high(guess, high_word(guess) // 3 + CBRT_START_SUBNORMAL)
    else:
        guess = of_bits((high // 3 + CBRT_START) << 32)
    r = guess * guess / size
    s = 5.42857142857142815906e-01 + r * guess
    guess *= 3.57142857142857150787e-01 + 1.60714285714285720630e00 / (
        s + 1.41428571428571436819e00 + -7.05306122448979611050e-01 / s
    )
    # 20 bits, rounded up, so that the square is exact; then one step of Newton's method.
    guess = cut(of_bits(bits_of(guess) + (1 << 32)))
    s = guess * guess
    r = size / s
    r = (r - guess) / (guess + guess + r)
    return np.copysign(guess + guess * r, x)


@kernel
def each_log(xs):
    """log of every double. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = log(xs[i])
    return out


@kernel
def each_log10(xs):
    """log10 of every double. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = log10(xs[i])
    return out


@kernel
def each_log1p(xs):
    """log(1 + x) of every double. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = log1p(xs[i])
    return out


@kernel
def each_cbrt(xs):
    """The cube root of every double. O(n)."""
    out = np.empty(xs.size, np.float64)
    for i in range(xs.size):
        out[i] = cbrt(xs[i])
    return out
