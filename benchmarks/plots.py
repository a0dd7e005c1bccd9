"""Plots of results: a line per contender over the experiment's axis, one plot per series."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks.experiment import Experiment

Record = dict[str, Any]


def value_of(point: Record, path: str) -> float | None:
    """A value of a point by its dotted path, such as details.ratio."""
    found: Any = point
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return None if found is None else float(found)


def plot(experiment: Experiment, results: Record, folder: Path) -> list[Path]:
    """Write one SVG per combination of series values that has at least two points of some contender."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "situ"  # equal results give equal files
    files = []
    for title, points in _by_series(experiment, results).items():
        lines = _lines(experiment, points)
        if not any(len(line) > 1 for line in lines.values()):
            continue
        slug = re.sub(r"[^a-z0-9]+", "-", f"{experiment.name} {title}".lower()).strip("-")
        files.append(folder / f"{slug}.svg")
        _draw(experiment, title, lines, files[-1])
    return files


def _by_series(experiment: Experiment, results: Record) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for point in results["points"]:
        title = ", ".join(f"{key} {point['parameters'].get(key)}" for key in experiment.series)
        found.setdefault(title, []).append(point)
    return found


def _lines(experiment: Experiment, points: list[Record]) -> dict[str, dict[Any, float]]:
    """Per contender: the value over the axis; of several points at one place the one with most events."""
    lines: dict[str, dict[Any, float]] = {}
    for point in sorted(points, key=lambda p: p.get("events", 0)):
        value = value_of(point, experiment.value) if point["status"] == "done" else None
        if value is not None and value >= 0:
            lines.setdefault(point["contender"], {})[point["parameters"][experiment.axis]] = value
    return lines


def _draw(experiment: Experiment, title: str, lines: dict[str, dict[Any, float]], file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for contender, line in sorted(lines.items()):
        places = sorted(line) if experiment.axis != "ratio" else list(line)
        axes.plot(places, [line[x] for x in places], marker="o", label=contender)
    numeric = all(not isinstance(x, str) for line in lines.values() for x in line)
    if experiment.log_x and numeric:
        axes.set_xscale("log")
    if experiment.log_y and all(v > 0 for line in lines.values() for v in line.values()):
        axes.set_yscale("log")
    axes.set_xlabel(experiment.axis)
    axes.set_ylabel(experiment.value.rpartition(".")[2])
    axes.set_title(title or experiment.title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
