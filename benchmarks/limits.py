"""Run one point in a process of its own, watch its memory, and end it at the limits."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_LOOK_EVERY_S = 0.05  # 20 Hz, as in the dissertation's memory measurements
_PAGE, _TICKS = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
_PATIENCE = 3


def run_limited(
    module: str, contender: str, parameters: dict[str, Any], seconds: float, bytes_limit: int
) -> dict[str, Any]:
    """Measure a point of the experiment in `module`; the answer is its result record.

    The limits hold from the moment the worker begins its work: making the input does not count.
    """
    with tempfile.TemporaryDirectory(prefix="situ-bench-") as folder:
        answer, log = Path(folder) / "answer.json", Path(folder) / "log"
        started = Path(folder) / "started"
        command = [
            sys.executable,
            "-m",
            "benchmarks.worker",
            module,
            contender,
            json.dumps(parameters),
            folder,
        ]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
        environment["SITU_BENCH_STARTED"] = str(started)
        environment["SITU_COMPILE_FIRST"] = "1"  # what is measured is compiled code
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            try:
                status, memory = _watch(process, started, seconds, bytes_limit)
            finally:
                _end(process)
        record: dict[str, Any] = {"status": status, "peak_bytes": max(memory, default=0)}
        record["mean_bytes"] = sum(memory) // len(memory) if memory else 0
        if status == "done" and answer.exists():
            record.update(json.loads(answer.read_text()))
        elif status == "done":
            record["status"] = "failed"
            record["reason"] = _tail(log) or f"the process ended with exit code {process.returncode}"
        else:
            record["reason"] = (
                f"ended after {seconds:g} s"
                if status == "time limit"
                else f"more than {bytes_limit >> 30} GiB"
            )
        return record


def _watch(
    process: subprocess.Popen[bytes], started: Path, seconds: float, bytes_limit: int
) -> tuple[str, list[int]]:
    """Wait for the end, or for a limit.

    The clock runs, and memory counts, from the moment the worker says it begins: the input is nobody's.
    """
    memory: list[int] = []
    begun: float | None = None
    before = 0  # bytes the input has taken
    patience = time.monotonic() + 10 * seconds  # for a preparation that never ends
    while process.poll() is None:
        time.sleep(_LOOK_EVERY_S)
        if begun is None and started.exists():
            begun = time.monotonic()
            _, before = _usage(process.pid)
        if begun is None:
            if time.monotonic() > patience:
                return "time limit", memory
            continue
        cpu, resident = _usage(process.pid)
        memory.append(resident)
        if resident - before > bytes_limit:
            return "memory limit", memory
        wall = time.monotonic() - begun
        # on a machine shared with others a contender gets its time in processor seconds
        if (wall > seconds and cpu > seconds) or wall > _PATIENCE * seconds:
            return "time limit", memory
    return "done", memory


def _usage(leader: int) -> tuple[float, int]:
    """Processor seconds and resident bytes of a session's processes, the worker and what it started."""
    cpu, resident = 0.0, 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == leader:
                    cpu += (int(fields[11]) + int(fields[12])) / _TICKS
                    resident += int(fields[21]) * _PAGE
            except (OSError, IndexError):  # it has ended meanwhile
                continue
    return cpu, resident


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the group is this worker's own session
    process.wait()


def _tail(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-3:])[-600:]
