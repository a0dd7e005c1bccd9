"""Result files to pages: python -m benchmarks.render [RESULTS] [PAGES]

One page per experiment with its statement, what the paper shows, our plot and table, and what follows; and an
index of them all. Nothing on a page is typed by hand but the words in this file and in the experiments.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.experiment import Experiment
from benchmarks.harness import DOCS, RESULTS, experiments, groups, is_finished, load, read
from benchmarks.plots import plot, value_of

Record = dict[str, Any]
INDEX = Path(__file__).parent / "index.md"


def render(results: Path, pages: Path) -> list[Path]:
    """Write the page of every experiment that has a result file, and the index."""
    pages.mkdir(parents=True, exist_ok=True)
    written, lines = [], []
    for name, module in experiments().items():
        found = read(results / f"{name}.json")
        if found is None or not found["points"]:
            continue
        experiment = load(module)
        figures = plot(experiment, found, pages)
        page = pages / f"{name}.md"
        page.write_text(_page(experiment, found, figures), encoding="utf-8")
        written.append(page)
        lines.append(
            f"| [{experiment.title}]({name}.md) | {experiment.source} | {_coverage(experiment, found)} |"
        )
    index = pages / "index.md"
    index.write_text(_index(lines), encoding="utf-8")
    return [*written, index]


def _page(experiment: Experiment, found: Record, figures: Iterable[Path]) -> str:
    sections = [
        f"# {experiment.title}",
        f"Source: {experiment.source}.",
        "## The experiment",
        _bullets(
            f"Input: {experiment.generator}; seed {experiment.seed}.",
            f"Measured: {experiment.measured}.",
            f"Run so far: {_coverage(experiment, found)}.",
        ),
        f"```text\n{experiment.query}\n```",
        "## What was published",
        experiment.published,
        "## What we measured",
        *(f"![{figure.stem}]({figure.name})" for figure in figures),
        _table(experiment, found),
    ]
    sentences = list(experiment.follows(found)) if experiment.follows else []
    if sentences:
        sections += ["## What follows", _bullets(*sentences)]
    sections += ["## Where it ran", _machines(found), _made_by(experiment)]
    return "\n\n".join(sections) + "\n"


def _bullets(*lines: str) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _coverage(experiment: Experiment, found: Record) -> str:
    """How many settings have all their contenders from one run."""
    have = [point["parameters"] for point in found["points"]]
    full, quick = (groups(experiment.points(flag)) for flag in (False, True))
    planned = full if any(group[0].parameters in have for group in full) else quick
    finished = sum(is_finished(group, found["points"]) for group in planned)
    begun = sum(group[0].parameters in have for group in planned) - finished
    if finished == len(planned):
        return f"all settings ({finished})"
    partly = f", {begun} in part" if begun else ""
    return f"{finished} of {len(planned)} settings{partly}; a rerun fills in the rest"


def _table(experiment: Experiment, found: Record) -> str:
    """One line per setting, one column per contender, in seconds or in what the experiment is about."""
    contenders = list(dict.fromkeys(point["contender"] for point in found["points"]))
    keys = list(dict.fromkeys(key for point in found["points"] for key in point["parameters"]))
    settings: dict[str, dict[str, Record]] = {}
    for point in sorted(found["points"], key=lambda p: _order(p["parameters"], keys)):
        settings.setdefault(json.dumps(point["parameters"], sort_keys=True), {})[point["contender"]] = point
    unit = "s" if experiment.value == "seconds" else experiment.value.rpartition(".")[2]
    header = [*keys, *(f"{name} ({unit})" for name in contenders), "matches"]
    lines = [_row(header), _row(["---"] * len(header))]
    for points in settings.values():
        parameters = next(iter(points.values()))["parameters"]
        cells = [_cell(points.get(name), experiment) for name in contenders]
        matches = {p["matches"] for p in points.values() if p["status"] == "done" and p["matches"] > 0}
        lines.append(_row([*(_text(parameters.get(key, "")) for key in keys), *cells, _span(matches)]))
    return "\n".join(lines)


def _order(parameters: Record, keys: list[str]) -> tuple[tuple[int, Any], ...]:
    values = (parameters.get(key, "") for key in keys)
    return tuple((1, str(value)) if isinstance(value, str) else (0, value) for value in values)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _cell(point: Record | None, experiment: Experiment) -> str:
    if point is None:
        return ""
    if point["status"] != "done":
        return str(point["status"])
    value = value_of(point, experiment.value)
    if value is None or value < 0:
        return "unfinished"
    cpu = f" (cpu {point['cpu_seconds']:.3g})" if experiment.value == "seconds" else ""
    return f"{value:.3g}{cpu}"


def _text(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _span(matches: set[int]) -> str:
    if not matches:
        return "0"
    low, high = min(matches), max(matches)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _machines(found: Record) -> str:
    lines = []
    for run, facts in sorted(found["runs"].items()):
        if any(point["run"] == run for point in found["points"]):
            versions = ", ".join(f"{name} {version}" for name, version in sorted(facts["versions"].items()))
            lines.append(
                f"{run}: {facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB, "
                f"{facts['system']}, "
                f"Python {facts['python']}, {versions}; situ at {facts['commit']}; load average at the time "
                f"{facts['load']}"
            )
    return _bullets(*lines)


def _made_by(experiment: Experiment) -> str:
    return (
        "This page is written by `python -m benchmarks.render` from "
        f"`benchmarks/results/{experiment.name}.json`; "
        f"`situ bench {experiment.name}` measures again. Times are the best of the repeats; contenders of "
        "one line "
        "ran one after the other in one run. A busy machine (load average above its cores) stretches "
        "wall-clock "
        "times; processor times (cpu) hardly."
    )


def _index(lines: list[str]) -> str:
    table = "\n".join(["| experiment | source | run so far |", "| --- | --- | --- |", *lines])
    return INDEX.read_text(encoding="utf-8").replace("{table}", table)


def main(argv: list[str]) -> int:
    results = Path(argv[0]) if argv else RESULTS
    pages = Path(argv[1]) if len(argv) > 1 else DOCS
    for page in render(results, pages):
        print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
