"""What installing and importing situ costs: python -m benchmarks.install

Builds the wheel, installs it without and with the extra `spark` in fresh environments, measures size and
import time, and writes `benchmarks/results/install.json` and `docs/benchmarks/install.md`. Packages are
fetched as pip is set up to.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from benchmarks.harness import DOCS, RESULTS
from benchmarks.machine import ROOT, facts

INSTALLS = {"situ": "", "situ[spark]": "[spark]"}
IMPORTS = ("situ", "numpy", "pyarrow")
REPEATS = 15
TARGET = 0.5  # seconds to import situ
SHOWN_FROM = 1e6  # bytes of a package that has a line of its own

SIZES = """
import json
from importlib.metadata import distributions
found = {}
for one in distributions():
    files = [one.locate_file(file) for file in one.files or ()]
    found[one.metadata["Name"]] = sum(file.stat().st_size for file in files if file.is_file())
print(json.dumps({name: size for name, size in found.items() if name not in ("pip", "setuptools")}))
"""
SECONDS = """
import json, time
began = time.perf_counter(), time.process_time()
import {name}
print(json.dumps([time.perf_counter() - began[0], time.process_time() - began[1]]))
"""


def main() -> None:
    """Measure, keep the figures, and write the page."""
    with tempfile.TemporaryDirectory() as folder:
        found = {"facts": facts(), "repeats": REPEATS, "installs": measured(Path(folder))}
    (RESULTS / "install.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (DOCS / "install.md").write_text(page(found), encoding="utf-8")


def measured(folder: Path) -> dict[str, Any]:
    """Sizes by package, and import times, of each way to install."""
    said(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    installs = {}
    for name, extra in INSTALLS.items():
        place = folder / name
        venv.create(place, with_pip=True)
        python = place / "bin" / "python"
        constraints = ROOT / "tools" / "constraints.txt"
        said(python, "-m", "pip", "install", "-q", "-c", constraints, f"{wheel}{extra}")
        installs[name] = {"bytes": json.loads(said(python, "-c", SIZES)), "seconds": imports(python)}
    return installs


def imports(python: Path) -> dict[str, list[float]]:
    """The best of several imports of each module, by the clock and in processor time; a process for each."""
    rounds = [
        {name: json.loads(said(python, "-c", SECONDS.format(name=name))) for name in IMPORTS}
        for _ in range(REPEATS)
    ]
    return {name: [min(one[name][i] for one in rounds) for i in (0, 1)] for name in IMPORTS}


def said(*command: str | Path) -> str:
    """What a command printed; it must have gone well."""
    return subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=tempfile.gettempdir()
    ).stdout


def page(found: dict[str, Any]) -> str:
    """The figures as a page."""
    installs, machine = found["installs"], found["facts"]
    plain, spark = (installs[name]["bytes"] for name in INSTALLS)
    seconds = installs["situ"]["seconds"]
    shown = sorted(
        (name for name, size in spark.items() if size >= SHOWN_FROM), key=lambda name: -spark[name]
    )
    rows = [f"| {name} | {megabytes(plain.get(name))} | {megabytes(spark[name])} |" for name in shown]
    others = [sum(size for name, size in one.items() if name not in shown) for one in (plain, spark)]
    totals = [sum(one.values()) for one in (plain, spark)]
    imported = [f"| `import {name}` | {wall:.2f} | {cpu:.2f} |" for name, (wall, cpu) in seconds.items()]
    return "\n".join(
        [
            "# What installing and importing situ costs",
            "",
            "## Size",
            "",
            "Megabytes on disk of each package in a fresh environment, with the versions of",
            "`tools/constraints.txt`:",
            "",
            "| | `situ` | `situ[spark]` |",
            "|---|---:|---:|",
            *rows,
            f"| all others | {megabytes(others[0])} | {megabytes(others[1])} |",
            f"| **together** | **{megabytes(totals[0])}** | **{megabytes(totals[1])}** |",
            "",
            f"Without Spark it is {totals[1] / totals[0]:.1f} times smaller.",
            "",
            "## Import",
            "",
            f"Seconds, the best of {found['repeats']} processes each, with the files in the system's cache.",
            "situ imports numpy; pyarrow is imported by the first call that needs it.",
            "",
            "| | by the clock | processor time |",
            "|---|---:|---:|",
            *imported,
            "",
            f"The target for `import situ` is {TARGET} s: {verdict(*seconds['situ'])}.",
            "",
            "## Where it ran",
            "",
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB;",
            f"{machine['system']}; Python {machine['python']}; commit {machine['commit']};",
            f"load average {machine['load']}.",
            "",
            "This page is written by `python -m benchmarks.install`.",
            "",
        ]
    )


def verdict(wall: float, cpu: float) -> str:
    """Whether importing takes less than its target, on this machine and on one that does nothing else."""
    if wall < TARGET:
        return "met"
    return "met in processor time, missed by the clock of a busy machine" if cpu < TARGET else "missed"


def megabytes(size: int | None) -> str:
    """Bytes as megabytes, or nothing where there are none."""
    return "" if size is None else f"{size / 1e6:,.1f}"


if __name__ == "__main__":
    main()
