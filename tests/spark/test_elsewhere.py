"""Other places to run: Connect, a standalone cluster, HDFS, the oldest Spark, a worker without situ."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from situ.private import cache_folder

ROOT = Path(__file__).parents[2]
SMOKE, HDFS = Path(__file__).with_name("smoke.py"), Path(__file__).with_name("hdfs.py")


def run_smoke(where: str, python: str = sys.executable, **environment: str) -> str:
    """The smoke script's output; its own process, since a process has one kind of session only."""
    return run_script(SMOKE, where, python, **environment)


def run_script(script: Path, argument: str, python: str = sys.executable, **environment: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "SPARK_LOCAL_IP": "127.0.0.1", **environment}
    done = subprocess.run(
        [python, str(script), argument], env=env, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.spark
def test_connect() -> None:
    output = run_smoke("connect")
    assert "smoke passed" in output
    assert "a Connect session does not show the plan" in output
    assert "Not direct" in output


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A standalone master and two workers on this machine."""
    import pyspark

    from situ.cli.java import use_java

    use_java()
    home = Path(pyspark.__file__).parent
    folder = tmp_path_factory.mktemp("cluster")
    env = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONPATH": str(ROOT / "src"),
        "SPARK_LOCAL_DIRS": str(folder),
    }
    started: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str) -> None:
        command = [str(home / "bin" / "spark-class"), *arguments]
        with (folder / f"{len(started)}.log").open("w") as log:
            process = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT)
        started.append(process)

    try:
        start(
            "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
        )
        url = awaited(folder / "0.log", r"Starting Spark master at (spark://\S+)")
        for _ in range(2):
            start(
                "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
                "--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"), url,
            )  # fmt: skip
        for number in (1, 2):
            awaited(folder / f"{number}.log", r"(Successfully registered) with master")
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(timeout=60)


def awaited(log: Path, pattern: str) -> str:
    """What the pattern's group says, once the log has it."""
    for _ in range(600):
        if found := re.search(pattern, log.read_text()):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(f"{log.name} never said {pattern}:\n{log.read_text()[-2000:]}")


@pytest.mark.server
def test_standalone_cluster(master: str) -> None:
    """Two workers, one executor each: pieces really travel between processes."""
    assert "smoke passed" in run_smoke(master)


@pytest.mark.server
def test_files_on_hdfs(tmp_path: Path) -> None:
    """Spark opens them for us: footers on the driver, contents for the tasks."""
    assert "passed on hdfs://" in run_script(HDFS, str(tmp_path))


@pytest.mark.spark
def test_a_worker_without_situ_says_so(tmp_path: Path) -> None:
    """The function that is shipped loads where situ is not installed, and says what to do."""
    from pyspark import cloudpickle

    from situ.spark.session.ship import shipped

    function = cloudpickle.dumps(shipped("pack", {"no": "task"}))
    (tmp_path / "function").write_bytes(function)
    script = (
        "import pickle, sys; sys.modules['situ'] = None\n"
        f"list(pickle.loads(open({str(tmp_path / 'function')!r}, 'rb').read())(iter([])))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "situ cannot be imported on a Spark executor" in done.stderr
    assert "packed environment" in done.stderr
    assert "situ/spark/worker" not in done.stderr


@pytest.mark.server
def test_the_oldest_spark_that_is_allowed() -> None:
    """In an environment of its own, kept for the next time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["spark"]]
    (asked,) = [text for text in wanted if text.startswith("pyspark")]
    oldest = re.search(r">=(\d+\.\d+)", asked)[1]
    cache = cache_folder("tests", f"pyspark-{oldest}")
    python = cache / "bin" / "python"
    if not (cache / "done").exists():
        venv.create(cache, with_pip=True)
        others = [text for text in wanted if not text.startswith("pyspark")]
        subprocess.run([python, "-m", "pip", "install", "-q", f"pyspark=={oldest}.*", *others], check=True)
        (cache / "done").touch()
    assert f"smoke passed on {oldest}" in run_smoke("local", str(python), SITU_QUIET="1")
