"""The regression guard: what it flags, and what it takes for noise."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.compare import compare, main


def results(
    cpu: float, *, matches: int = 7, floor: float = 1.0, spread: float = 0.0, status: str = "done"
) -> dict:
    def point(contender: str, seconds: float) -> dict:
        return {
            "contender": contender,
            "parameters": {"events": 10},
            "status": status if contender == "situ" else "done",
            "cpu_seconds": seconds,
            "all_seconds": [seconds, seconds * (1 + spread), seconds * (1 + spread)],
            "events": 10,
            "matches": matches if contender == "situ" else 0,
        }

    return {"experiment": "made-up", "points": [point("situ", cpu), point("numpy sums", floor)]}


def verdict(before: dict, after: dict, **options: object) -> str:
    found = {c.point.partition(" {")[0]: c.verdict for c in compare(before, after, **options)}  # type: ignore[arg-type]
    return found["situ"]


@pytest.mark.parametrize(
    ("cpu", "expected"), [(1.0, "same"), (1.05, "same"), (1.5, "slower"), (0.5, "faster")]
)
def test_changes_beyond_the_threshold_are_flagged(cpu: float, expected: str) -> None:
    assert verdict(results(1.0), results(cpu)) == expected


def test_repeats_that_differ_widen_the_threshold() -> None:
    assert verdict(results(1.0), results(1.3)) == "slower"
    assert verdict(results(1.0, spread=0.3), results(1.3, spread=0.3)) == "same"


def test_a_slower_machine_is_not_a_slower_engine() -> None:
    assert verdict(results(1.0, floor=1.0), results(2.0, floor=2.0), relative_to="numpy sums") == "same"
    assert verdict(results(1.0, floor=1.0), results(2.0, floor=1.0), relative_to="numpy sums") == "slower"


def test_other_matches_and_failures_are_flagged() -> None:
    assert verdict(results(1.0), results(1.0, matches=8)) == "other matches"
    assert verdict(results(1.0), results(1.0, status="time limit")) == "failed"
    assert verdict(results(1.0), {"experiment": "made-up", "points": []}) == "missing"


def test_the_exit_code_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for file, cpu in zip(files, (1.0, 3.0), strict=True):
        file.write_text(json.dumps(results(cpu)))
    assert main([str(file) for file in files]) == 1
    assert "slower" in capsys.readouterr().out
    assert main([str(files[0]), str(files[0])]) == 0
