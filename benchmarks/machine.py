"""Facts about the machine and the versions of what ran on it, kept with each result."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from situ.machine.threads import usable_cores

ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = ("numpy", "numba", "pyarrow", "pyspark", "duckdb", "sqlglot")


def facts() -> dict[str, Any]:
    """Processor, memory, system, versions, commit, and how busy the machine is."""
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": usable_cores(),
        "memory_gib": round(_kib("/proc/meminfo", "MemTotal") / 2**20, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
        "commit": _commit(),
        "load": round(os.getloadavg()[0], 2),
    }


def _first(file: str, key: str) -> str:
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _kib(file: str, key: str) -> int:
    return int((_first(file, key).split() or ["0"])[0])


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str:
    answer = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--", "src"], cwd=ROOT, capture_output=True, text=True
    )
    if answer.returncode != 0:
        answer = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
        )
    return answer.stdout.strip()
