"""The built wheel and sdist, installed where nothing of the checkout is in reach, are a working situ."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

TINY_QUERY = """
import pyarrow as pa, situ
a, b = [True, True, True, False, False], [False, True, True, True, False]
events = pa.table({"t": [1, 2, 3, 4, 5], "a": a, "b": b})
q = situ.query("FROM events ORDER BY t DEFINE A AS a, B AS b PATTERN A overlaps B WITHIN 10")
rows = situ.match(events, q).to_pylist()
assert [(row["A_ts"], row["B_ts"], row["match_time"]) for row in rows] == [(1, 2, 4)], rows
print("one match")
"""


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment of its own with the wheel in it."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    (wheel,) = built.glob("*.whl")
    constraints = ROOT / "tools" / "constraints.txt"
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "-c", constraints, wheel, cwd=folder)
    return folder / "bin"


def outside() -> dict[str, str]:
    """The environment without what would let Python find the checkout."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def test_wheel_holds_the_package_its_types_and_data(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"situ/__init__.py", "situ/py.typed", "situ/cli/log4j2.properties"} <= set(names)
    assert all(name.startswith(("situ/", "situ-")) for name in names)


def test_sdist_holds_sources_tests_and_docs(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert {"src", "tests", "docs", "LICENSE", "README.md", "pyproject.toml"} <= tops


def test_version_stands_in_one_place(built: Path, installed: Path) -> None:
    from situ._version import __version__

    assert run(installed / "situ", "--version", cwd=installed, env=outside()) == f"situ {__version__}\n"
    (wheel,) = built.glob("*.whl")
    assert wheel.name.startswith(f"situ-{__version__}-")


def test_installed_package_runs_a_query(installed: Path) -> None:
    assert run(installed / "python", "-c", TINY_QUERY, cwd=installed, env=outside()) == "one match\n"
