"""Times to the fewest bytes."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def common_step(time):
    """Smallest and largest time, and the largest number that divides every distance to the smallest."""
    low, high = time[0], time[0]
    for instant in time:
        low = min(low, instant)
        high = max(high, instant)
    step = np.uint64(0)
    for instant in time:
        a, b = np.uint64(instant) - np.uint64(low), step
        while b:
            a, b = b, a % b
        step = a
    return low, high, step
