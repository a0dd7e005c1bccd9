"""The import check notices what it is there to notice."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_imports", ROOT / "tools" / "check_imports.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("module", "target", "problem"),
    [
        ("situ.algebra.network", "situ.errors", None),
        ("situ.algebra.network", "situ.algebra.relations", None),
        ("situ.algebra.network", "situ.language", "may not import language"),
        ("situ.operators.derive", "situ.spark.batch.job", "may not import spark"),
        ("situ.operators.derive", "pyspark.sql", "pyspark may be imported in"),
        ("situ.spark.batch.job", "pyspark.sql", None),
        ("situ.operators.derive", "numba", "numba may be imported in compiled and kernels only"),
        ("situ.operators.situations.kernels.derive", "numba", None),
        ("situ.aggregate.kernels.fold", "numba", None),
        ("situ.cli.plot", "matplotlib.pyplot", "matplotlib may be imported in plotting only"),
        ("situ.newcomer.thing", "situ.errors", "has no place"),
        ("situ", "situ.spark.batch.job", None),
        ("situ.spark.stream.job", "situ.spark.batch.job", None),
        ("situ.spark.batch.job", "situ.spark.stream.job", "spark/batch may not import spark/stream"),
        ("situ.carry.stream.bucket", "situ.carry.batch.pieces", None),
        ("situ.operators.situations.why", "situ.operators.several.needs", "may not import operators/several"),
    ],
)
def test_problem_with(checker: ModuleType, module: str, target: str, problem: str | None) -> None:
    found = checker.problem_with(checker.Import(module, target, 1))
    assert found is None if problem is None else problem in found


def test_imports_of_finds_nested_relative_and_aliased_imports_but_not_typing_only_ones(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "SOURCE", tmp_path)
    path = tmp_path / "situ" / "rows" / "thing.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "from . import derive\n"
        "from ..plan import cost\n"
        "from situ import spark\n"
        "if TYPE_CHECKING:\n    import pyspark\nelse:\n    import polars\n"
        "def late():\n    import numba as nb\n"
    )
    targets = [found.target for found in checker.imports_of(path)]
    assert targets == ["typing", "situ.rows", "situ.plan", "situ.spark", "polars", "numba"]


def test_asking_what_rows_are_is_counted_outside_of_situations(
    checker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "SOURCE", tmp_path)
    text = "if query.intervals is None:\n    pass\nif isinstance(engine, IntervalEngine):\n    pass\n"
    for folder, expected in (("carry", [1, 3]), ("operators/situations", [])):
        path = tmp_path / "situ" / folder / "thing.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        assert checker.asks_in(path) == expected
