"""Workers with another Python than the driver's: said on the driver, in a sentence, before any job runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import situ
from situ.spark.errors import WORKER_PYTHON, WorkerError, situ_error
from situ.spark.session.pythons import check_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = situ.query("FROM t ORDER BY t DEFINE A AS x > 1 WITHIN 5")
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def fake(folder: Path, name: str, script: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def workers_run(spark: SparkSession) -> Iterator[Callable[[str], None]]:
    yield lambda executable: spark.conf.set(WORKER_PYTHON, executable)
    spark.conf.unset(WORKER_PYTHON)


def ways(spark: SparkSession, folder: Path) -> dict[str, Callable[[], Any]]:
    table = spark.range(3).selectExpr("id AS t", "id * 3 AS x")
    files = str(folder / "files")
    table.write.parquet(files)
    stream = spark.readStream.schema(table.schema).parquet(files)
    return {
        "match": lambda: situ.match(table, QUERY),
        "situations": lambda: situ.situations(table, QUERY),
        "match_parquet": lambda: situ.match_parquet(spark, files, QUERY),
        "situations_parquet": lambda: situ.situations_parquet(spark, files, QUERY),
        "why": lambda: situ.why(table, QUERY),
        "match on a stream": lambda: situ.match(stream, QUERY),
        "situations on a stream": lambda: situ.situations(stream, QUERY),
    }


def test_every_call_refuses_workers_of_another_version(
    spark: SparkSession, tmp_path: Path, workers_run: Callable[[str], None]
) -> None:
    calls = ways(spark, tmp_path)
    executable = fake(tmp_path, "python3.9", """echo '["3.9", []]'""")
    workers_run(executable)
    spark.sparkContext.setJobGroup("other python", "no job may run")
    for name, call in calls.items():
        with pytest.raises(WorkerError) as caught:
            call()
        assert caught.value.message == (
            f"Spark's workers run Python 3.9 ({executable}) and this program Python {OWN}: "
            "they must have the same minor version."
        ), name
        assert 'os.environ["PYSPARK_PYTHON"] = sys.executable' in str(caught.value.hint)
    assert not spark.sparkContext.statusTracker().getJobIdsForGroup("other python")
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)


def test_a_python_that_lacks_something_a_program_that_is_none_and_one_that_is_silent(
    spark: SparkSession, tmp_path: Path, workers_run: Callable[[str], None]
) -> None:
    # the same Python without its packages, as a system's own is
    bare = fake(tmp_path, "bare", f'exec {shlex.quote(sys.executable)} -I -S "$@"')
    workers_run(bare)
    with pytest.raises(WorkerError, match=r"lacks situ, numba, numpy, pandas, pyarrow, sqlglot\.") as caught:
        check_workers(spark)
    assert bare in caught.value.message
    workers_run(str(tmp_path / "nowhere"))
    with pytest.raises(WorkerError, match=r"nowhere, and there is no such program"):
        check_workers(spark)
    for harmless in (fake(tmp_path, "silent", "exit 1"), "./environment/bin/python", sys.executable):
        workers_run(harmless)
        check_workers(spark)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.12 than that in driver: "
            "3.11, PySpark cannot run with different minor versions.",
            "Spark's workers run Python 3.12 and this program Python 3.11: "
            "they must have the same minor version.",
        ),
        (
            "Error from python worker:\n  ModuleNotFoundError: No module named 'situ'\nPYTHONPATH was:\n",
            "the Python of Spark's workers lacks situ.",
        ),
        ("ImportError: No module named 'pyarrow.lib'", "the Python of Spark's workers lacks pyarrow."),
        (
            'java.io.IOException: Cannot run program "python3": error=2, No such file or directory',
            "Spark's workers cannot be started: there is no python3.",
        ),
    ],
)
def test_what_spark_says_of_its_workers_is_said_in_a_sentence(text: str, message: str) -> None:
    error = situ_error(RuntimeError(f"Job aborted\n{text}\n\tat org.apache.spark"))
    assert isinstance(error, WorkerError)
    assert error.message == message
    assert "PYSPARK_PYTHON" in str(error.hint)
    assert situ_error(RuntimeError("ModuleNotFoundError: No module named 'mine'")) is None
