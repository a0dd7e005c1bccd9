"""The first calls on a new machine: plain Python at once, compiled code as soon as it is there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from compiled.test_jit import environment
from situ.compiled import plain
from situ.compiled.jit import Kernel, kernel
from situ.compiled.request import Request, compile_line, request_of
from situ.rows.kernels import numbers
from situ.rows.kernels.narrow import common_step
from situ.rows.kernels.order import extent, group

SMALL = """
import sys
import numpy as np
from situ.rows.kernels.order import group
order, offset = group(np.array([1, 0, 1]), 2)
print(order.tolist(), offset.tolist(), "numba" in sys.modules)
"""
LARGE = SMALL.replace("np.array([1, 0, 1])", "np.tile(np.array([1, 0, 1]), 100_000)").replace(
    "order.tolist(), ", "len(order), "
)
# Calls until compiled code is there, then the proof that it runs.
MANY = """
import sys, time
import numpy as np
from situ.rows.kernels.order import group
codes = np.tile(np.array([1, 0, 1]), 1000)
until = time.monotonic() + 100
while group.func == group._start and time.monotonic() < until:
    order, offset = group(codes, 2)
    assert offset.tolist() == [0, 1000, 3000]
print("numba" in sys.modules, len(group.signatures))
"""


def run(script: str, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = environment(cache, SITU_COMPILE_FIRST="", **more)
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


def ready(cache: Path) -> list[str]:
    return [path.name.split(".")[0] for path in cache.rglob("*.ready")]


def wait_for(cache: Path, *names: str) -> None:
    until = time.monotonic() + 100
    while set(names) - set(ready(cache)):
        assert time.monotonic() < until, f"only {ready(cache)} are ready"
        time.sleep(0.1)


def test_a_small_call_is_answered_at_once_and_its_kernel_left_ready(tmp_path: Path) -> None:
    done = run(SMALL, tmp_path)
    assert done.stdout.split("\n")[0] == "[1, 0, 2] [0, 1, 3] False"
    assert done.stderr == ""
    wait_for(tmp_path, "group")
    assert list(tmp_path.rglob("*.nbc"))
    assert run(SMALL, tmp_path).stdout == done.stdout


def test_a_large_call_is_compiled_and_says_so(tmp_path: Path) -> None:
    done = run(LARGE, tmp_path)
    assert done.stdout.strip() == "300000 [0, 100000, 300000] True"
    assert "situ: compiling its kernels" in done.stderr
    assert ready(tmp_path) == ["group"]
    assert run(LARGE, tmp_path).stderr == ""


def test_many_small_calls_go_on_with_compiled_code(tmp_path: Path) -> None:
    assert run(MANY, tmp_path).stdout.strip() == "True 1"


def test_where_it_is_asked_for_everything_is_compiled_first(tmp_path: Path) -> None:
    asked = "import os; os.environ['SITU_COMPILE_FIRST'] = '1'"
    assert "True" in run(asked + SMALL, tmp_path).stdout
    assert ready(tmp_path) == ["group"]


def test_where_no_process_can_be_started_everything_is_compiled_first(tmp_path: Path) -> None:
    script = """
import subprocess
def refuse(*_, **__):
    raise BlockingIOError("no more processes")
subprocess.Popen = refuse
"""
    done = run(script + SMALL, tmp_path)
    assert done.stdout.strip() == "[1, 0, 2] [0, 1, 3] True"
    assert "situ: compiling its kernels" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_no_part_in_its_parents_helper(tmp_path: Path) -> None:
    forked = f"""
{SMALL}
import os
from situ.compiled import background
child = os.fork()
if child == 0:
    assert background._helper.process is None and not background._helper.asked
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert background._helper.process.poll() is None
"""
    run(forked, tmp_path)
    wait_for(tmp_path, "group")


def test_the_helper_ends_by_itself(tmp_path: Path) -> None:
    """Though its parent lives on and asks nothing."""
    script = SMALL + "from situ.compiled import background; print(background._helper.process.wait(60))"
    assert run(script, tmp_path).stdout.split()[-1] == "0"
    assert ready(tmp_path) == ["group"]


@kernel
def _one_more(counts):
    counts[0] += 1
    return counts[0]


@kernel
def _count_for_ever(counts):
    while _one_more(counts) < 10**8:
        pass
    return counts[0]


@kernel
def _wraps(x, y):
    return x * y + y, x // y


def as_plain(function: object, *arguments: object, seconds: float = 60.0) -> object:
    assert isinstance(function, Kernel)
    return plain._run(function, arguments, seconds)


@pytest.mark.skipif(not isinstance(group, Kernel), reason="Numba is switched off")
class TestPlain:
    def test_a_call_that_takes_too_long_leaves_no_trace(self) -> None:
        counts = np.array([3])
        assert as_plain(_count_for_ever, counts, seconds=0.05) is plain.NONE
        assert counts.tolist() == [3]

    def test_numbers_are_those_of_compiled_code(self) -> None:
        """Without a warning where integers wrap around; and of Python's types."""
        for arguments in [(np.int64(2**62), np.int64(6)), (np.int64(-7), np.int64(2)), (7, -2)]:
            found = as_plain(_wraps, *arguments)
            assert found == _wraps(*arguments)
            assert [type(value) for value in found] == [int, int]  # type: ignore[attr-defined]

    def test_results_have_the_types_of_compiled_code(self) -> None:
        time = np.array([4, 10, 7])
        for function in (common_step, extent):
            found, expected = as_plain(function, time), function(time)
            assert found == expected
            assert [type(value) for value in found] == [type(value) for value in expected]  # type: ignore[attr-defined]

    def test_a_kernel_calls_plain_functions_only(self) -> None:
        called: list[object] = []
        found = as_plain(numbers.first_above, np.array([[1, 2, 3]]), 0, 0, 3, 2, 0)
        assert found == 2
        inner = plain._namespaces[numbers.__name__]
        called += [name for name, value in inner.items() if isinstance(value, Kernel)]
        assert called == []


@pytest.mark.skipif(not isinstance(group, Kernel), reason="Numba is switched off")
def test_a_request_says_what_numba_sees() -> None:
    import numba

    from situ.compiled.request import _described, _numba_type
    from situ.operators.situations.kernels.layout import Rows

    frozen = np.arange(4)
    frozen.flags.writeable = False
    rows = Rows(np.arange(3), np.arange(3, dtype=np.uint8), frozen)
    arguments = [
        1, -(2**40), 2**63, True, 1.5, np.int64(1), np.uint64(1), np.uint8(1), np.bool_(True), np.float64(1),
        np.zeros((2, 3)), np.zeros((2, 3)).T, np.zeros((4, 4))[::2, ::2], frozen, np.zeros(2, bool),
        rows, rows[:], (1, 2), (rows, 1.5, (frozen,)), (),
    ]  # fmt: skip
    for argument in arguments:
        assert _numba_type(_described(argument)) == numba.typeof(argument), argument
    assert request_of(group, ("text",)) is None  # type: ignore[arg-type]


@pytest.mark.skipif(not isinstance(group, Kernel), reason="Numba is switched off")
def test_what_is_compiled_on_request_has_the_name_it_was_asked_by() -> None:
    request = request_of(group, (np.array([0]), 1))  # type: ignore[arg-type]
    assert isinstance(request, Request)
    assert compile_line(request.line) == request
