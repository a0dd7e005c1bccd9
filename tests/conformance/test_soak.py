"""Random input for as long as it is told: `SOAK_SECONDS=3600 pytest -m soak -s tests/conformance`."""

from __future__ import annotations

import os
import time
from itertools import count, cycle

import pytest
from hypothesis import seed, settings

from conformance import test_random, test_random_intervals, test_random_rows, test_situations

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
FIRST_SEED = int(os.environ.get("SOAK_SEED", str(time.time_ns() % 10**9)))
TESTS = [
    test
    for module in (test_random, test_random_intervals, test_random_rows, test_situations)
    for name, test in vars(module).items()
    if name.startswith("test_")
]


@pytest.mark.soak
def test_random_input_for_a_long_time() -> None:
    """Every random test in turn, each time from another seed; the seed is shown when one fails."""
    end = time.monotonic() + SECONDS
    n_runs = 0
    for test, number in zip(cycle(TESTS), count(FIRST_SEED)):
        print(
            f"\r{n_runs} runs of {settings.default.max_examples} examples, seed {number}", end="", flush=True
        )
        seed(number)(test)()
        n_runs += 1
        if time.monotonic() > end:
            break
    assert n_runs > 0
