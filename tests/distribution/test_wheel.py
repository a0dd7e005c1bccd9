"""The built wheel and sdist, installed where nothing of the checkout is in reach, are a working situ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
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
# The same of a pandas DataFrame.
PANDAS_QUERY = TINY_QUERY.replace("situ.match(events, q).to_pylist()", "answer(events, q)").replace(
    "import pyarrow as pa, situ",
    "import pandas as pd, pyarrow as pa, situ\n"
    "def answer(events, q):\n"
    "    found = situ.match(events.to_pandas(), q)\n"
    "    assert isinstance(found, pd.DataFrame)\n"
    "    return found.to_dict('records')",
)
SPARK_CALL = "import situ; situ.match_parquet(None, 'events', situ.query('FROM t DEFINE A AS x'))"
EXTRA = 'pip install "situ[spark]"'


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


@pytest.fixture(scope="module")
def brought(installed: Path) -> set[str]:
    """The names of the packages that came with the wheel."""
    listed = run(installed / "python", "-m", "pip", "list", "--format=freeze", cwd=installed)
    return {line.partition("==")[0].lower() for line in listed.splitlines()} - {"pip", "setuptools"}


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


def test_without_extras_only_what_tables_in_process_need_is_installed(brought: set[str]) -> None:
    assert {"situ", "numba", "numpy", "pyarrow", "rich", "sqlglot"} <= brought
    assert not brought & {"pyspark", "py4j", "pandas", "polars", "protobuf", "matplotlib"}


def test_without_extras_a_pandas_frame_is_answered(installed: Path, brought: set[str]) -> None:
    constraints = ROOT / "tools" / "constraints.txt"
    run(installed / "python", "-m", "pip", "install", "-q", "-c", constraints, "pandas", cwd=installed)
    assert run(installed / "python", "-c", PANDAS_QUERY, cwd=installed, env=outside()) == "one match\n"


@pytest.mark.parametrize(
    "command", [("python", "-c", SPARK_CALL), ("python", "-c", "import situ.spark"), ("situ", "demo")]
)
def test_without_the_extra_a_call_on_spark_names_it(
    installed: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [installed / command[0], *command[1:]], cwd=tmp_path, capture_output=True, text=True, env=outside()
    )
    assert done.returncode != 0
    assert "needs PySpark, which is not installed" in done.stderr
    assert EXTRA in done.stderr


def test_importing_the_installed_package_imports_nothing_heavy(installed: Path) -> None:
    heavy = ("numba", "llvmlite", "pandas", "polars", "pyarrow", "pyspark", "matplotlib", "rich")
    program = f"import sys, situ; print([name for name in {heavy} if name in sys.modules])"
    assert run(installed / "python", "-c", program, cwd=installed, env=outside()) == "[]\n"


def test_the_extra_brings_spark_and_the_tools_have_it() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = settings["project"]["optional-dependencies"]
    names = {re.split(r"[^a-z]", one)[0] for one in extras["spark"]}
    assert names == {"pyspark", "pandas", "protobuf"}
    assert any("spark" in one and one.startswith("situ[") for one in extras["dev"])
    assert extras["kafka"] == ["situ[spark]"]
