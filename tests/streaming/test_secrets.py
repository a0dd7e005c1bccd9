"""Secrets are in nothing that is printed, kept or listed, also where a connection fails on them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from streaming.commands import Command, descendants

pytestmark = pytest.mark.server

# Kafka's own message quotes the word where it expects "required"
JAAS = (
    'org.apache.kafka.common.security.plain.PlainLoginModule s3cret-word username="u" password="s3cret-word";'
)
QUERY = "FROM t ORDER BY ts DEFINE A AS x > 1 WITHIN 1 minute"


def test_secrets_are_neither_printed_nor_kept_nor_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_JAAS", JAAS)
    options = tmp_path / "options"
    options.write_text("kafka.ssl.key.password=s3cret-file\nkafka.security.protocol=SASL_PLAINTEXT\n")
    state = tmp_path / "state"
    with socket.create_server(("127.0.0.1", 0)) as listening:  # it takes connections and never answers
        command = Command(
            tmp_path, QUERY, "--source", "kafka", "--topic", "t", "--schema", "ts timestamp, x int",
            "--servers", f"127.0.0.1:{listening.getsockname()[1]}", "--sink", "console",
            "--checkpoint", str(state), "--kafka-option-file", str(options),
            "--kafka-option", "kafka.sasl.jaas.config=env:THE_JAAS",
            "--kafka-option", "kafka.sasl.mechanism=PLAIN",
            "--kafka-option", "kafka.ssl.truststore.password=shown-in-ps",
        )  # fmt: skip
        command.wait_until((state / "metadata").exists, "the query to start")
        listed = [command_line(pid) for pid in [command.process.pid, *descendants(command.process.pid)]]
        assert command.finish() == 1
    printed = command.out.read_text() + command.err.read_text()
    assert "error: the stream stopped" in printed
    assert "in the list of processes; write --kafka-option kafka.ssl.truststore.password=env:" in printed
    assert any("org.apache.spark.deploy.SparkSubmit" in line for line in listed)
    kept = [path.read_bytes().decode("latin-1") for path in state.rglob("*") if path.is_file()]
    assert kept
    for text in (printed, *kept, *listed):
        assert "s3cret" not in text
    for text in (printed, *kept):
        assert "shown-in-ps" not in text


LOGGING = """
from situ.cli.session import local_spark
jvm = local_spark("secrets", cores=1)._jvm
log = jvm.org.apache.logging.log4j.LogManager.getLogger("somebody's")
log.error("Invalid flag 's3cret-word' in JAAS", jvm.java.lang.RuntimeException("caused by s3cret-word"))
"""


def test_the_log_of_the_jvm_hides_them_too() -> None:
    """Whoever writes there, and also in what an exception says."""
    environment = {**os.environ, "SITU_HIDDEN": "s3cret-word"}
    done = subprocess.run([sys.executable, "-c", LOGGING], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Invalid flag '***' in JAAS" in done.stderr
    assert "caused by ***" in done.stderr
    assert "s3cret" not in done.stdout + done.stderr


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
