"""Forged state, its checksum recomputed: refused or taken, but no crash, no hang, no error of others'.

Each case runs in a child process. `FORGE_SEED=7 FORGE_CASES=20000 pytest -m soak -s tests/forging` runs more,
`python -m forging.child SEED CASE CASE+1` (in tests/, with src on the path) one of them again.
"""

from __future__ import annotations

import collections
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SECONDS_PER_CASE, SECONDS_TO_START = 60, 300
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux only")


def run(seed: int, n_cases: int) -> tuple[collections.Counter[str], list[str]]:
    """What came of the cases, and what should not have; a child that dies is replaced after its case."""
    counts: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    at = 0
    while at < n_cases:
        at = _run_child(seed, at, n_cases, counts, wrong)
    return counts, wrong


def _run_child(seed: int, first: int, last: int, counts: collections.Counter[str], wrong: list[str]) -> int:
    """Cases from `first` on in one child; the case to go on with."""
    path = os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])
    command = [sys.executable, "-m", "forging.child", str(seed), str(first), str(last)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as child,
    ):
        at = _followed(child, last, counts, wrong)
        if at is None:  # it has died
            errors.seek(0)
            assert wrong, f"the child does not start: {errors.read()}"
            wrong[-1] += errors.read()[-2000:]
            at = int(wrong[-1].split()[1]) + 1
            assert at > first, "the child does not start"
    return at


def _followed(
    child: subprocess.Popen[str], last: int, counts: collections.Counter[str], wrong: list[str]
) -> int | None:
    """The case to go on with after this child, None if it has ended by itself before it was done."""
    lines = _lines(child)
    case, limit = None, SECONDS_TO_START
    while True:
        try:
            line = lines.get(timeout=limit)
        except queue.Empty:
            child.kill()
            assert case is not None, "the child does not start"
            wrong.append(f"{case}: does not end")
            return int(case.split()[1]) + 1
        limit = SECONDS_PER_CASE
        if line is None:
            break
        if line.startswith("case "):
            case = line
        elif line != "ready" and case is not None:
            counts[line.split()[0]] += 1
            if line.startswith("foreign"):
                wrong.append(f"{case}: {line}")
    code = child.wait()
    if code == 0:
        return last
    if case is not None:
        wrong.append(f"{case}: ends with {code}: ")
    return None


def _lines(child: subprocess.Popen[str]) -> queue.Queue[str | None]:
    """Lines of standard output as they come, then None."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def check(seed: int, n_cases: int) -> None:
    print(f"seed {seed}, {n_cases} cases")
    counts, wrong = run(seed, n_cases)
    print(dict(counts))
    assert not wrong, f"seed {seed}: {len(wrong)} of {n_cases} cases\n" + "\n".join(wrong[:20])
    assert counts["refused"] > 0
    assert counts["taken"] > 0, "nothing that is merely false was taken: the cases test too little"


def test_forged_state_does_no_harm() -> None:
    check(int(os.environ.get("FORGE_SEED", "1")), 400)


@pytest.mark.soak
def test_much_forged_state_does_no_harm() -> None:
    seed = int(os.environ.get("FORGE_SEED", str(time.time_ns() % 10**6)))
    check(seed, int(os.environ.get("FORGE_CASES", "20000")))
