"""What every test shares: Hypothesis profiles, one Spark session, and the rule that CI skips nothing real."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile(
    "default",
    max_examples=100,
    deadline=None,  # the first example pays for compiling the kernels
    print_blob=True,
    phases=set(Phase) - {Phase.explain},  # it doubles the time to a failure, and says nothing of rows
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("soak", settings.get_profile("default"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Tests are of compiled kernels, save those that say otherwise: tests/compiled, all marked `nojit`, and with
# SITU_TESTS_PLAIN those that are run so: as plain Python, the way that small first calls are answered.
os.environ.setdefault("SITU_COMPILE_FIRST", "1")
if os.environ.get("SITU_TESTS_PLAIN"):
    from situ.compiled import plain

    os.environ["SITU_COMPILE_FIRST"] = ""
    plain._allowed = lambda *_: 600.0

REAL_PARTS = ("spark", "server")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips",
        action="store_true",
        default=os.environ.get("CI") == "true",
        help="fail when a test marked spark or server is skipped (the default when CI=true)",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    if "soak" not in (config.option.markexpr or ""):
        soak = [item for item in items if item.get_closest_marker("soak")]
        if soak:
            config.hook.pytest_deselected(items=soak)
            items[:] = [item for item in items if not item.get_closest_marker("soak")]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    needs_real = any(item.get_closest_marker(marker) for marker in REAL_PARTS)
    is_xfail = hasattr(report, "wasxfail")
    if report.skipped and needs_real and not is_xfail and item.config.getoption("--no-skips"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} must run for real in CI but was skipped: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One local Spark session for the whole run: two cores, UTC, written to a temporary folder only."""
    from pyspark.sql import SparkSession

    from situ.cli.java import use_java

    use_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    # Python workers import situ from the same tree as the tests do, installed or not.
    src = str(Path(__file__).parents[1] / "src")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [src, os.environ.get("PYTHONPATH")]))
    home = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("situ-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        # a session of some minutes: what the slower of the JVM's two compilers takes is not won back
        .config(
            "spark.driver.extraJavaOptions",
            f"-Dderby.system.home={home / 'derby'} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        )
        .config("spark.python.daemon.module", "situ.spark.daemon")
        .config("spark.local.dir", str(home / "local"))
        .config("spark.sql.warehouse.dir", str(home / "warehouse"))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        # as in `situ stream`: a micro-batch writes what has changed, not RocksDB's files
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
