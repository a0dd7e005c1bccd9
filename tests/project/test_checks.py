"""The checks run what they say: no test is outside every phase, and a failing command fails the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def checks(*names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools" / "checks.py", *names]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_unknown_phases_are_refused() -> None:
    done = checks("lintt")
    assert done.returncode == 2
    assert "unknown phase: lintt" in done.stdout


def test_a_failing_phase_fails_the_run_and_is_named(tmp_path: Path) -> None:
    program = tmp_path / "probe.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
        "import checks\n"
        "bad, good = ('-c', 'raise SystemExit(5)'), ('-c', 'print(7 * 6)')\n"
        "checks.PHASES = (checks.Phase('bad', (bad, good)), checks.Phase('good', (good,), cores=2))\n"
        "sys.exit(checks.main([]))\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "bad         FAILED" in done.stdout
    assert "good        passed" in done.stdout
    assert "bad       | 42" in done.stdout
    assert "good      | 42" in done.stdout


def test_every_test_of_the_whole_is_in_one_of_its_halves() -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from checks import PHASES
    finally:
        sys.path.pop(0)
    commands = {phase.name: phase.commands[0] for phase in PHASES}
    folders = {word for word in commands["engine"] if word.startswith("tests/")}
    left_out = {word.removeprefix("--ignore=") for word in commands["unit"] if word.startswith("--ignore=")}
    assert left_out == folders | {"tests/docs", "tests/distribution"}  # which are phases too
    assert all((ROOT / folder).is_dir() for folder in folders)
    assert commands["unit"][-2:] == commands["engine"][-2:]


def test_ci_runs_the_test_command() -> None:
    assert (ROOT / ".ci" / "run").read_text().endswith("exec python3 dev.py test\n")
