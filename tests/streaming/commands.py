"""`situ stream` as a process: started, watched, interrupted and killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"
_PATIENCE = 240
# a JVM that lives for seconds: the slower of its two compilers would only take time from the tests
SHORT_LIVED = {"SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


class Command:
    """A running `situ stream`, its output in files."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        environment = {
            **os.environ, "PYTHONPATH": str(SRC), "PYSPARK_PYTHON": sys.executable, **SHORT_LIVED
        }  # fmt: skip
        with self.out.open("ab") as out, self.err.open("ab") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "situ.cli", "stream", *arguments],
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=True,  # a Ctrl-C meant for the tests must not reach it
            )

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Until something has happened, or the command has ended."""
        deadline = time.monotonic() + _PATIENCE
        while not condition():
            assert self.process.poll() is None, f"ended before {what}:\n{self.errors()}"
            assert time.monotonic() < deadline, f"waited too long for {what}:\n{self.errors()}"
            time.sleep(0.1)

    def kill_when(self, condition: Callable[[], bool]) -> None:
        """Kill it once something has happened, unless that has made it end by itself."""
        deadline = time.monotonic() + _PATIENCE
        while not condition() and self.process.poll() is None:
            assert time.monotonic() < deadline, f"waited too long:\n{self.errors()}"
            time.sleep(0.02)
        self.kill()

    def finish(self) -> int:
        """Wait for its end."""
        return self.process.wait(timeout=_PATIENCE)

    def interrupt(self) -> int:
        """Ctrl-C, and wait for the end."""
        self.process.send_signal(signal.SIGINT)
        return self.finish()

    def kill(self) -> None:
        """Driver, JVM and workers at once, without a word."""
        for pid in [*descendants(self.process.pid), self.process.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def a_worker(self) -> int | None:
        """A Python worker that runs tasks: a child of Spark's daemon."""
        for pid, parent in descendants(self.process.pid).items():
            with contextlib.suppress(OSError):
                if "-m\0situ.spark.daemon" in Path(f"/proc/{parent}/cmdline").read_text():
                    return pid
        return None

    def errors(self) -> str:
        """What it said, without Spark's stack traces."""
        lines = self.err.read_text(errors="replace").splitlines()
        return "\n".join(line for line in lines if not line.lstrip().startswith("at "))[-4000:]


def descendants(pid: int) -> dict[int, int]:
    """The processes below one, each with its parent."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    found: dict[int, int] = {}
    fresh = {pid}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh}
        found |= {child: parents[child] for child in fresh}
    return found


def watermark(checkpoint: Path) -> int:
    """The watermark of the last micro-batch that was committed, in milliseconds."""
    batch = committed(checkpoint) - 1
    if batch < 0:
        return 0
    return int(
        json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[1])["batchWatermarkMs"]
    )


def committed(checkpoint: Path) -> int:
    """How many micro-batches a checkpoint has behind it."""
    folder = checkpoint / "commits"
    return len([name for name in os.listdir(folder) if name.isdigit()]) if folder.is_dir() else 0
