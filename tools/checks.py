"""Everything that must hold before a change is accepted, phase by phase.

`python tools/checks.py` runs all phases and `python tools/checks.py lint docs` some; all are run even if one
fails, and the exit code is 1 if any did. `python3 dev.py test` is this, with the environment set up first.
Phases that keep to one core run two at a time, so each line of output begins with the name of its phase.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PYTEST = ("-m", "pytest")
OF_THEIR_OWN = ("tests/docs", "tests/distribution")  # folders with a phase of their own
# About half of the time of the tests that need neither Spark nor a server; a new folder is in the other half.
OF_THE_ENGINE = ("tests/carry", "tests/conformance", "tests/forging", "tests/situations")
# __main__ is the command itself: importing it would run it.
DOCTESTS = ("src/situ", "--doctest-modules", "--ignore=src/situ/cli/__main__.py")
ELSEWHERE = tuple(f"--ignore={folder}" for folder in OF_THEIR_OWN)
NOT_OF_THE_ENGINE = tuple(f"--ignore={folder}" for folder in OF_THE_ENGINE)
ALONE = ("-m", "not spark and not server")


class Phase(NamedTuple):
    name: str
    commands: tuple[tuple[str, ...], ...]  # arguments of Python
    environment: tuple[tuple[str, str], ...] = ()
    cores: int = 1


class Result(NamedTuple):
    name: str
    passed: bool
    seconds: float


PHASES = (
    # First: it compiles the kernels, which the others then find.
    Phase("engine", ((*PYTEST, *OF_THE_ENGINE, *ALONE),)),
    Phase("lint", (("-m", "ruff", "check"), ("-m", "ruff", "format", "--check"))),
    Phase("types", (("-m", "mypy"),)),
    Phase("imports", (("tools/check_imports.py",),)),
    Phase("citations", (("tools/check_citations.py",),)),
    # As small first calls are answered: kernels that Python runs, and calls the way that compiled ones are.
    Phase(
        "plain",
        ((*PYTEST, "tests/conformance", *ALONE),),
        (("SITU_TESTS_PLAIN", "1"),),
    ),
    Phase("nojit", ((*PYTEST, *ELSEWHERE, "-m", "nojit"),), (("NUMBA_DISABLE_JIT", "1"),)),
    Phase(
        "docs",
        ((*PYTEST, "tests/docs"), (*PYTEST, *DOCTESTS), ("-m", "mkdocs", "build", "--strict", "--quiet")),
        (("NO_MKDOCS_2_WARNING", "1"),),  # a notice about the theme's successor, not about our pages
    ),
    Phase("unit", ((*PYTEST, *ELSEWHERE, *NOT_OF_THE_ENGINE, *ALONE),)),
    Phase("packaging", ((*PYTEST, "tests/distribution"),)),
    Phase("spark", ((*PYTEST, *ELSEWHERE, "-m", "spark and not server"),), cores=2),
    Phase("server", ((*PYTEST, *ELSEWHERE, "-m", "server"),), cores=2),
    Phase("bench", (("-m", "situ.cli", "bench", "--quick"),), cores=2),
)


def main(names: list[str]) -> int:
    """Run the named phases, or all; print how each went and how long it took."""
    unknown = set(names) - {phase.name for phase in PHASES}
    if unknown:
        print(f"unknown phase: {', '.join(sorted(unknown))}; known: {', '.join(p.name for p in PHASES)}")
        return 2
    chosen = [phase for phase in PHASES if not names or phase.name in names]
    started = time.monotonic()
    results = carried_out([phase for phase in chosen if phase.cores == 1], at_a_time=2)
    results += carried_out([phase for phase in chosen if phase.cores > 1], at_a_time=1)
    print("\nphase       result   seconds")
    for name, passed, seconds in results:
        print(f"{name:<11} {'passed' if passed else 'FAILED'} {seconds:>9.1f}")
    print(f"{'all':<18} {time.monotonic() - started:>9.1f}")
    return 0 if all(result.passed for result in results) else 1


def carried_out(phases: Iterable[Phase], *, at_a_time: int) -> list[Result]:
    """Run phases, so many at a time."""
    with ThreadPoolExecutor(at_a_time) as workers:
        return list(workers.map(carry_out, phases))


def carry_out(phase: Phase) -> Result:
    """Run all commands of a phase, also after one has failed."""
    print(f"==== {phase.name}", flush=True)
    started = time.monotonic()
    passed = all([run(command, phase) for command in phase.commands])
    seconds = time.monotonic() - started
    print(f"==== {phase.name}: {'passed' if passed else 'FAILED'} in {seconds:.0f} s", flush=True)
    return Result(phase.name, passed, seconds)


def run(command: tuple[str, ...], phase: Phase) -> bool:
    """Run one command of a phase; no test collected (pytest's exit code 5) counts as a failure."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", **dict(phase.environment)}
    with subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(f"{phase.name:<9} | {line.rstrip()}", flush=True)
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
