"""Run experiments and keep their results: one JSON file per experiment, finished groups skipped.

python -m benchmarks.harness [NAME...] --out DIR [--quick] [--minutes N]        is `situ bench`
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import benchmarks
from benchmarks import machine
from benchmarks.experiment import CannotExpressError, Experiment, Point
from benchmarks.limits import run_limited

FOLDERS = ("engine", "rows", "papers", "peers")
RUN_MINUTES = 150
RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
Record = dict[str, Any]


def experiments() -> dict[str, str]:
    """Every experiment's name and module, in the order of FOLDERS and of file names."""
    found = {}
    for folder in FOLDERS:
        for info in pkgutil.iter_modules([os.path.join(benchmarks.__path__[0], folder)]):
            module = f"benchmarks.{folder}.{info.name}"
            if hasattr(importlib.import_module(module), "EXPERIMENT"):
                found[load(module).name] = module
    return found


def load(module: str) -> Experiment:
    """The experiment a module states."""
    experiment: Experiment = importlib.import_module(module).EXPERIMENT
    return experiment


def run(
    names: Sequence[str],
    out: Path,
    *,
    quick: bool = False,
    minutes: float | None = None,
    say: Callable[[str], None] = print,
) -> list[Path]:
    """Run the experiments with these names, or all; return their result files.

    With `minutes` an experiment begins no group after that time, and no run begins one after RUN_MINUTES;
    a later run fills in the rest.
    """
    known = experiments()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"unknown experiment: {', '.join(unknown)}; known: {', '.join(known)}")
    out.mkdir(parents=True, exist_ok=True)
    facts = machine.facts()
    end = time.monotonic() + 60 * RUN_MINUTES
    return [run_one(known[name], out, facts, quick, minutes, say, end) for name in names or known]


def run_one(
    module: str,
    out: Path,
    facts: Record,
    quick: bool,
    minutes: float | None,
    say: Callable[[str], None],
    end: float = float("inf"),
) -> Path:
    """Run one experiment's unfinished groups; the file is rewritten after each point, so a stop loses one."""
    experiment = load(module)
    file = out / f"{experiment.name}.json"
    results = read(file) or statement(experiment)
    run_id = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    results.update(statement(experiment) | {"points": results["points"], "runs": results["runs"]})
    deadline = min(end, time.monotonic() + 60 * minutes) if minutes else end
    todo = groups(experiment.points(quick))
    results["planned"] = [group[0].parameters for group in todo]
    n_left = 0
    for group in spread(todo) if minutes else todo:
        if is_finished(group, results["points"]):
            continue
        if time.monotonic() > deadline:
            n_left += 1
            continue
        parameters = group[0].parameters
        results["points"] = [p for p in results["points"] if p["parameters"] != parameters]
        results["runs"][run_id] = {**facts, "load": round(os.getloadavg()[0], 2)}
        for point in group:
            record = beyond(experiment, point, results["points"], run_id)
            record = record or (measure_here if quick else measure)(module, experiment, point, run_id)
            results["points"].append(record)
            say(f"{experiment.name}: {describe(record)}")
            write(file, results)
    write(file, results)
    if n_left:
        say(f"{experiment.name}: time is up, {n_left} settings are left for another run")
    return file


def beyond(experiment: Experiment, point: Point, records: Sequence[Record], run_id: str) -> Record | None:
    """What a point is bound to come to if its contender has reached a limit where it was easier already."""
    for record in records:
        if record["contender"] != point.contender or not record["status"].endswith("limit"):
            continue
        easier = easier_in(experiment, record["parameters"], point.parameters)
        if easier:
            return {
                "contender": point.contender,
                "parameters": point.parameters,
                "run": run_id,
                "took": 0.0,
                "peak_bytes": 0,
                "mean_bytes": 0,
                "status": record["status"],
                "reason": f"not run: {easier} has reached it",
            }
    return None


def easier_in(experiment: Experiment, one: Record, other: Record) -> str:
    """In which parameters a setting is easier than another it equals in all the rest; empty for none."""
    differ = [name for name in other if one.get(name) != other[name]]
    if one.keys() != other.keys() or any(
        name not in experiment.harder or one[name] > other[name] for name in differ
    ):
        return ""
    return ", ".join(f"{name} = {one[name]:,}" for name in differ)


def measure(module: str, experiment: Experiment, point: Point, run_id: str) -> Record:
    """One point, in a process of its own."""
    started = time.monotonic()
    outcome = run_limited(
        module, point.contender, point.parameters, experiment.seconds_limit, experiment.bytes_limit
    )
    took = round(time.monotonic() - started, 2)
    return {
        "contender": point.contender,
        "parameters": point.parameters,
        "run": run_id,
        "took": took,
        **outcome,
    }


def measure_here(module: str, experiment: Experiment, point: Point, run_id: str) -> Record:
    """One point in this process, without limits: a smoke run has no time to start a process for each."""
    started = time.monotonic()
    try:
        outcome = {**asdict(experiment.run(point.contender, **point.parameters)), "status": "done"}
    except CannotExpressError as reason:
        outcome = {"status": "cannot", "reason": str(reason)}
    except Exception as error:
        outcome = {"status": "failed", "reason": f"{type(error).__name__}: {error}"}
    took = round(time.monotonic() - started, 2)
    sizes = {"peak_bytes": 0, "mean_bytes": 0}
    return {
        "contender": point.contender,
        "parameters": point.parameters,
        "run": run_id,
        "took": took,
        **sizes,
        **outcome,
    }


def spread(items: Sequence[list[Point]]) -> list[list[Point]]:
    """The same groups, ever finer (ends, middle, quarters), so that an early stop still covers the range."""
    bits = max(len(items) - 1, 1).bit_length()
    return sorted(items, key=lambda item: int(f"{items.index(item):0{bits}b}"[::-1], 2))


def groups(points: Iterable[Point]) -> list[list[Point]]:
    """Points of equal parameters, in order of first appearance."""
    found: dict[str, list[Point]] = {}
    for point in points:
        found.setdefault(json.dumps(point.parameters, sort_keys=True), []).append(point)
    return list(found.values())


def is_finished(group: Sequence[Point], records: Sequence[Record]) -> bool:
    """A group counts as done when all its contenders have results of one run: only those compare."""
    of_group = {r["contender"]: r for r in records if r["parameters"] == group[0].parameters}
    present = [of_group.get(point.contender) for point in group]
    if any(record is None or record["status"] == "failed" for record in present):
        return False
    return len({record["run"] for record in present if record is not None}) == 1


def statement(experiment: Experiment) -> Record:
    """What the result file says about the experiment itself."""
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "generator": experiment.generator,
        "seed": experiment.seed,
        "query": experiment.query,
        "measured": experiment.measured,
        "points": [],
        "runs": {},
    }


def describe(record: Record) -> str:
    """One line on a point, for the terminal."""
    setting = " ".join(f"{key}={value}" for key, value in record["parameters"].items())
    if record["status"] != "done":
        return f"{setting} {record['contender']}: {record['status']} ({record['reason']})"
    return (
        f"{setting} {record['contender']}: {record['seconds']:.4g} s (cpu {record['cpu_seconds']:.4g}), "
        f"{record['events']:,} events, {record['matches']:,} matches"
    )


def failed_points(files: Iterable[Path]) -> list[str]:
    """What went wrong in these result files, one line per point."""
    found = [(read(file) or {"points": [], "experiment": file.stem}) for file in files]
    return [
        f"{results['experiment']}: {describe(point)}"
        for results in found
        for point in results["points"]
        if point["status"] == "failed"
    ]


def pages_of(out: Path) -> Path:
    """Where the pages of a folder of results go: the checkout's own are the documentation's."""
    return DOCS if out.resolve() == RESULTS.resolve() else out / "pages"


def read(file: Path) -> Record | None:
    """A result file, None where there is none."""
    if not file.exists():
        return None
    results: Record = json.loads(file.read_text(encoding="utf-8"))
    return results


def write(file: Path, results: Record) -> None:
    """Replace a result file, whole or not at all."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(draft, file)


if __name__ == "__main__":
    from situ.cli import main

    sys.exit(main(["bench", *sys.argv[1:]]))
