"""A function of foreachBatch killed before and after it writes: every match is there, once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from streaming.commands import SHORT_LIVED, SRC
from streaming.faults import latest
from streaming.foreach_script import QUERY
from streaming.running import canonical_rows

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.timestamp("us", "UTC")), ("x", pa.float64())])
SCRIPT = Path(__file__).with_name("foreach_script.py")
PATIENCE = 240


def run(folder: Path, fatal_batch: int, point: str) -> int:
    environment = {
        **os.environ, "PYTHONPATH": str(SRC), "PYSPARK_PYTHON": sys.executable, **SHORT_LIVED
    }  # fmt: skip
    command = [sys.executable, str(SCRIPT), str(folder), str(fatal_batch), point]
    with (folder / "err.txt").open("ab") as err:
        return subprocess.run(
            command, env=environment, stderr=err, timeout=PATIENCE, start_new_session=True, check=False
        ).returncode


def test_killed_before_and_after_the_function_writes(tmp_path: Path, chance: Random) -> None:
    """SEM 8.6 too: a row from the future is set aside by the run that dies and by its rerun alike."""
    now, n = datetime.now(UTC), 400
    random = np.random.default_rng(5)
    times = [now - timedelta(minutes=30) + timedelta(seconds=i) for i in range(n)]
    table = pa.table({"k": random.integers(0, 4, n), "t": times, "x": random.normal(size=n)}, SCHEMA)
    wild = pa.table({"k": [0], "t": [now + timedelta(days=400)], "x": [1.0]}, SCHEMA)
    end = pa.table({"k": [0], "t": [now], "x": [0.0]}, SCHEMA)
    pieces = [table.slice(at, 80) for at in range(0, n, 80)]
    with_wild = [pa.concat_tables([piece, wild]) for piece in pieces]
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for i, piece in enumerate([*with_wild, end, end]):
        path = tmp_path / "in" / f"{i}.parquet"
        pq.write_table(piece, path)
        os.utime(path, (1e9 + i, 1e9 + i))

    first, second = sorted(chance.sample(range(1, 5), 2))
    points = chance.sample(["before", "after"], 2)
    for batch, point in zip((first, second), points, strict=True):
        assert run(tmp_path, batch, point) == -signal.SIGKILL, (tmp_path / "err.txt").read_text()[-3000:]
        assert latest(tmp_path / "state" / "commits") == batch - 1
    assert run(tmp_path, -1, "") == 0, (tmp_path / "err.txt").read_text()[-3000:]
    assert "threw an exception" not in (tmp_path / "err.txt").read_text()  # nobody is called who has gone
    found = pa.concat_tables([pq.read_table(path) for path in (tmp_path / "out").glob("*.parquet")])
    wanted = situ.match(table, situ.query(QUERY))
    assert wanted.num_rows > 10
    assert canonical_rows(found) == canonical_rows(wanted)
