"""Without PySpark every way to Spark is told the extra that brings it, and tables in process are answered."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from situ.errors import MissingExtraError, SituError
from situ.extras import need_spark

WITHOUT_PYSPARK = """
import sys
sys.modules["pyspark"] = None  # as if it were not installed
import pyarrow as pa, situ
query = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1")
"""
EVENTS = 'pa.table({"ts": [1, 2, 3], "x": [0, 5, 5]})'


def without_pyspark(call: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYSPARK + call], capture_output=True, text=True, timeout=300
    )
    return done.stdout if done.returncode == 0 else done.stderr


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("situ.match_parquet(None, 'events', query)", "situ.match_parquet"),
        ("situ.situations_parquet(None, 'events', query)", "situ.situations_parquet"),
        ("import situ.spark", "this"),
        ("from situ.spark.stream.metrics import MetricsListener", "this"),
    ],
)
def test_a_spark_call_without_pyspark_names_the_extra(call: str, named: str) -> None:
    said = without_pyspark(call)
    assert f"MissingExtraError: {named} needs PySpark, which is not installed" in said
    assert 'pip install "situ[spark]"' in said


def test_tables_are_answered_without_pyspark() -> None:
    assert without_pyspark(f"print(situ.match({EVENTS}, query).num_rows)") == "1\n"


def test_where_pyspark_is_installed_nothing_is_said() -> None:
    need_spark("this test")


def test_the_error_is_one_of_situ_and_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError) as caught:
        need_spark("this test")
    assert isinstance(caught.value, SituError)
    assert isinstance(caught.value, ImportError)


def test_a_pyspark_that_is_too_old_is_refused_by_its_version(tmp_path: Path) -> None:
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").touch()
    (tmp_path / "pyspark" / "version.py").write_text('__version__ = "3.5.1"')
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import situ.spark"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "situ needs PySpark 4.0 or newer, and PySpark 3.5.1 is installed" in done.stderr
