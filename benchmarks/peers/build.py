"""Build the environments of the peers: python -m benchmarks.peers.build

Flink gets a virtual environment of its own, because its pins clash with PySpark's; Esper's jars are fetched
by their coordinates. DuckDB and Spark are in situ's development environment already.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from situ.cli.jars import fetch
from situ.private import cache_folder

FLINK = "2.3.0"
ESPER = "9.0.0"


def flink_python() -> Path:
    """The interpreter of Flink's environment, made at the first call."""
    folder = cache_folder("peers") / f"flink-{FLINK}"
    python, stamp = folder / "bin" / "python", folder / "installed"
    if not stamp.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"apache-flink=={FLINK}"], check=True)
        stamp.touch()
    return python


def esper_jars() -> list[Path]:
    """Esper's compiler, runtime and what they need."""
    parts = ("esper-compiler", "esper-runtime", "esper-common")
    return fetch([f"com.espertech:{part}:{ESPER}" for part in parts], transitive=True)


def main() -> int:
    print(f"Flink {FLINK}: {flink_python()}")
    print(f"Esper {ESPER}: {len(esper_jars())} jars")
    return 0


if __name__ == "__main__":
    sys.exit(main())
