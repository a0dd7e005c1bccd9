"""Everything that must hold before a change is accepted, phase by phase.

`python tools/checks.py` runs all phases and `python tools/checks.py lint docs` some; all are run even if one
fails, and the exit code is 1 if any did. `python3 dev.py test` is this, with the environment set up first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PYTEST = ("-m", "pytest")
OF_THEIR_OWN = ("tests/docs", "tests/distribution")  # folders with a phase of their own
# __main__ is the command itself: importing it would run it.
DOCTESTS = ("src/situ", "--doctest-modules", "--ignore=src/situ/cli/__main__.py")
ELSEWHERE = tuple(f"--ignore={folder}" for folder in OF_THEIR_OWN)


class Phase(NamedTuple):
    name: str
    commands: tuple[tuple[str, ...], ...]  # arguments of Python
    environment: tuple[tuple[str, str], ...] = ()


PHASES = (
    Phase("lint", (("-m", "ruff", "check"), ("-m", "ruff", "format", "--check"))),
    Phase("types", (("-m", "mypy"),)),
    Phase("imports", (("tools/check_imports.py",),)),
    Phase("unit", ((*PYTEST, *ELSEWHERE, "-m", "not spark and not server"),)),
    Phase("nojit", ((*PYTEST, *ELSEWHERE, "-m", "nojit"),), (("NUMBA_DISABLE_JIT", "1"),)),
    Phase("spark", ((*PYTEST, *ELSEWHERE, "-m", "spark and not server"),)),
    Phase("server", ((*PYTEST, *ELSEWHERE, "-m", "server"),)),
    Phase(
        "docs",
        ((*PYTEST, "tests/docs"), (*PYTEST, *DOCTESTS), ("-m", "mkdocs", "build", "--strict", "--quiet")),
        (("NO_MKDOCS_2_WARNING", "1"),),  # a notice about the theme's successor, not about our pages
    ),
    Phase("bench", (("-m", "situ.cli", "bench", "--quick"),)),
    Phase("packaging", ((*PYTEST, "tests/distribution"),)),
)


def main(names: list[str]) -> int:
    """Run the named phases, or all; print how each went and how long it took."""
    unknown = set(names) - {phase.name for phase in PHASES}
    if unknown:
        print(f"unknown phase: {', '.join(sorted(unknown))}; known: {', '.join(p.name for p in PHASES)}")
        return 2
    results = []
    for phase in PHASES:
        if not names or phase.name in names:
            print(f"\n==== {phase.name}", flush=True)
            started = time.monotonic()
            passed = all([run(command, phase) for command in phase.commands])
            seconds = time.monotonic() - started
            results.append((phase.name, passed, seconds))
            print(f"==== {phase.name}: {'passed' if passed else 'FAILED'} in {seconds:.0f} s", flush=True)
    print("\nphase       result   seconds")
    for name, passed, seconds in results:
        print(f"{name:<11} {'passed' if passed else 'FAILED'} {seconds:>9.1f}")
    print(f"{'all':<18} {sum(seconds for _, _, seconds in results):>9.1f}")
    return 0 if all(passed for _, passed, _ in results) else 1


def run(command: tuple[str, ...], phase: Phase) -> bool:
    """Run one command of a phase; no test collected (pytest's exit code 5) counts as a failure."""
    environment = {**os.environ, **dict(phase.environment)}
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=environment).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
