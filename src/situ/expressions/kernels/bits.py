"""Doubles as their bits: sign, eleven of the exponent, 52 of the fraction."""

import numpy as np

from situ.compiled.jit import kernel

FRACTION = 0x000FFFFF  # of the high word: its share of the fraction
SIZE = 0x7FFFFFFF  # of the high word: all but the sign
INFINITE = 0x7FF00000  # the high word of infinity; above it is NaN
SMALLEST = 0x00100000  # the high word of the smallest normal double


@kernel
def bits_of(x):
    """The 64 bits of a double as an integer."""
    return np.float64(x).view(np.int64)


@kernel
def of_bits(bits):
    """The double with these 64 bits."""
    return np.int64(bits).view(np.float64)


@kernel
def high_word(x):
    """The upper 32 bits, with the sign: ordered as the size of the doubles is."""
    return bits_of(x) >> 32


@kernel
def low_word(x):
    """The lower 32 bits."""
    return bits_of(x) & 0xFFFFFFFF


@kernel
def with_high(x, high):
    """x with another high word."""
    return of_bits((np.int64(high) << 32) | low_word(x))


@kernel
def cut(x):
    """x without its low word: a product of two of these is nearly exact."""
    return of_bits((bits_of(x) >> 32) << 32)


@kernel
def times_power(x, k):
    """x * 2**k, as far as the result is a normal double."""
    return of_bits(bits_of(x) + (np.int64(k) << 52))
