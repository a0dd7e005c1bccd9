"""The frame: groups and what counts as finished, limits, result files, and the command."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.experiment import CannotExpressError, Experiment, Measured, Point, Watch, best_of, grid
from benchmarks.limits import run_limited
from benchmarks.render import render

from benchmarks import harness
from situ import cli

CALLS: list[tuple[str, int]] = []


def _points(quick: bool) -> Iterator[Point]:
    return grid(["situ", "other"], events=[10] if quick else [10, 20, 30])


def _run(contender: str, events: int) -> Measured:
    CALLS.append((contender, events))
    if contender == "other" and events == 20:
        raise CannotExpressError("no such words")
    return Measured(0.5, 0.25, events, 3, [0.5, 0.6])


EXPERIMENT = Experiment(
    name="made-up",
    title="Made up",
    source="this test",
    generator="none",
    seed=0,
    query="FROM x",
    measured="nothing",
    published="Nothing.",
    points=_points,
    run=_run,
    axis="events",
)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> str:
    made = types.ModuleType("made_up_experiment")
    made.EXPERIMENT = EXPERIMENT  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "made_up_experiment", made)
    monkeypatch.setattr(
        harness, "measure", harness.measure_here
    )  # a module of a test has no process of its own
    CALLS.clear()
    return "made_up_experiment"


def run_it(module: str, out: Path, minutes: float | None = None) -> dict:
    lines: list[str] = []
    return json.loads(harness.run_one(module, out, {"load": 0}, False, minutes, lines.append).read_text())


def test_every_point_has_a_record_and_a_rerun_measures_nothing(module: str, tmp_path: Path) -> None:
    results = run_it(module, tmp_path)
    assert [(p["contender"], p["parameters"]["events"], p["status"]) for p in results["points"]] == [
        ("situ", 10, "done"),
        ("other", 10, "done"),
        ("situ", 20, "done"),
        ("other", 20, "cannot"),
        ("situ", 30, "done"),
        ("other", 30, "done"),
    ]
    assert set(results["runs"]) == {point["run"] for point in results["points"]}
    CALLS.clear()
    assert run_it(module, tmp_path) == results
    assert CALLS == []


def test_a_group_with_a_missing_contender_is_measured_as_a_whole(module: str, tmp_path: Path) -> None:
    run_it(module, tmp_path)
    file = tmp_path / "made-up.json"
    results = json.loads(file.read_text())
    results["points"] = [
        p for p in results["points"] if (p["contender"], p["parameters"]["events"]) != ("other", 30)
    ]
    file.write_text(json.dumps(results))
    CALLS.clear()
    run_it(module, tmp_path)
    assert CALLS == [("situ", 30), ("other", 30)]


def test_contenders_of_different_runs_do_not_count_as_compared() -> None:
    group = [Point("situ", {"events": 1}), Point("other", {"events": 1})]
    record = {"parameters": {"events": 1}, "status": "done"}
    one = [{**record, "contender": "situ", "run": "1"}, {**record, "contender": "other", "run": "1"}]
    assert harness.is_finished(group, one)
    assert not harness.is_finished(group, [one[0], {**one[1], "run": "2"}])
    assert not harness.is_finished(group, [one[0], {**one[1], "status": "failed"}])


def test_a_run_that_is_out_of_time_says_what_is_left(module: str, tmp_path: Path) -> None:
    lines: list[str] = []
    file = harness.run_one(module, tmp_path, {"load": 0}, False, None, lines.append, time.monotonic() - 1)
    assert json.loads(file.read_text())["points"] == []
    assert lines == ["made-up: time is up, 3 settings are left for another run"]
    harness.run_one(module, tmp_path, {"load": 0}, False, None, lines.append)
    assert len(json.loads(file.read_text())["points"]) == 6


def test_spread_keeps_all_groups_and_takes_far_ones_first() -> None:
    groups = [[Point("situ", {"events": i})] for i in range(9)]
    order = [group[0].parameters["events"] for group in harness.spread(groups)]
    assert sorted(order) == list(range(9))
    assert order[:3] == [0, 8, 4]


def test_a_contender_that_reached_a_limit_is_not_run_where_it_is_harder() -> None:
    reached = {"contender": "slow", "parameters": {"events": 100, "n": 4}, "status": "time limit"}

    def beyond(contender: str, record: dict = reached, **parameters: int) -> dict | None:
        experiment = dataclasses.replace(EXPERIMENT, harder=("events", "n"))
        return harness.beyond(experiment, Point(contender, parameters), [record], "now")

    for harder, said in (
        ((1000, 4), "events = 100"),
        ((1000, 5), "events = 100, n = 4"),
        ((100, 5), "n = 4"),
    ):
        more = beyond("slow", events=harder[0], n=harder[1])
        assert more is not None
        assert (more["status"], more["reason"]) == ("time limit", f"not run: {said} has reached it")
    assert beyond("slow", events=10, n=4) is None
    assert beyond("slow", events=1000, n=3) is None
    assert beyond("fast", events=1000, n=4) is None
    assert beyond("slow", {**reached, "status": "done"}, events=1000, n=4) is None
    only_events = harness.beyond(EXPERIMENT, Point("slow", {"events": 1000, "n": 5}), [reached], "now")
    assert only_events is None


def test_limits_end_a_process_that_takes_too_long() -> None:
    record = run_limited(
        "benchmarks.engine.start",
        "situ",
        {"cache": "warm", "events": 100},
        seconds=0.001,
        bytes_limit=6 << 30,
    )
    assert record["status"] == "time limit"


def test_a_failing_worker_is_reported_with_its_last_words() -> None:
    record = run_limited("benchmarks.no_such_module", "situ", {}, seconds=60, bytes_limit=6 << 30)
    assert record["status"] == "failed"
    assert "no_such_module" in record["reason"]


def test_best_of_takes_the_best_and_keeps_all() -> None:
    def once(watch: Watch) -> tuple[int, int]:
        with watch:
            pass
        return 5, 2

    measured = best_of(3, once)
    assert measured.seconds == min(measured.all_seconds)
    assert (len(measured.all_seconds), measured.events, measured.matches) == (3, 5, 2)


def test_pages_hold_the_figures_of_the_files(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = {
        "processor": "p",
        "cores": 2,
        "memory_gib": 1,
        "system": "s",
        "python": "3",
        "commit": "c",
        "load": 0,
    }
    facts["versions"] = {"numpy": "2"}
    harness.run_one(module, tmp_path, facts, False, None, lambda _: None)
    monkeypatch.setattr("benchmarks.render.experiments", lambda: {"made-up": module})
    render(tmp_path, tmp_path / "pages")
    page = (tmp_path / "pages" / "made-up.md").read_text()
    assert "| 10 | 0.5 (cpu 0.25) | 0.5 (cpu 0.25) | 3 |" in page
    assert "| 20 | 0.5 (cpu 0.25) | cannot | 3 |" in page
    assert "all settings (3)" in page
    assert "made-up.md" in (tmp_path / "pages" / "index.md").read_text()


def test_every_experiment_states_itself_and_has_a_smoke_run() -> None:
    known = harness.experiments()
    assert len(known) > 10
    for name, module in known.items():
        experiment = harness.load(module)
        assert experiment.name == name
        assert experiment.generator
        assert experiment.query
        assert experiment.measured
        full, quick = (harness.groups(experiment.points(flag)) for flag in (False, True))
        assert 0 < len(quick) <= len(full)
        assert {p.contender for group in quick for p in group} <= {
            p.contender for group in full for p in group
        }


def test_bench_lists_experiments_and_refuses_unknown_ones(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli.main(["bench", "--list"]) == 0
    assert "disconnected" in capsys.readouterr().out
    assert cli.main(["bench", "disconected", "--out", str(tmp_path)]) == 2
    assert "unknown experiment: disconected" in capsys.readouterr().err


def test_bench_says_where_it_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.bench, "CHECKOUT", tmp_path)
    assert cli.main(["bench", "--quick"]) == 2
    assert "runs from a checkout" in capsys.readouterr().err
