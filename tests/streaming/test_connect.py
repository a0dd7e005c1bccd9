"""Streams through Spark Connect: the same matches, restarted from the checkpoint."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streaming.commands import SHORT_LIVED, SRC


@pytest.mark.spark
def test_a_stream_through_connect(tmp_path: Path) -> None:
    """In a process of its own: a process has one kind of session only."""
    environment = {**os.environ, **SHORT_LIVED, "PYTHONPATH": str(SRC), "SPARK_LOCAL_IP": "127.0.0.1"}
    script = str(Path(__file__).with_name("connect_script.py"))
    done = subprocess.run(
        [sys.executable, script, str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "the same through Connect" in done.stdout
