"""A stream whose connection fails on its secrets: they are in nothing that is printed, kept or listed."""

from __future__ import annotations

import socket
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
        command.wait_until(state.exists, "the query to start")
        listed = [command_line(pid) for pid in [command.process.pid, *descendants(command.process.pid)]]
        assert command.finish() == 1
    printed = command.out.read_text() + command.err.read_text()
    assert "Invalid login module control flag '***' in JAAS config" in printed  # by the JVM, in its log
    assert "error: the stream stopped" in printed
    assert "in the list of processes; write --kafka-option kafka.ssl.truststore.password=env:" in printed
    assert any("org.apache.spark.deploy.SparkSubmit" in line for line in listed)
    kept = [path.read_bytes().decode("latin-1") for path in state.rglob("*") if path.is_file()]
    assert kept
    for text in (printed, *kept, *listed):
        assert "s3cret" not in text
    for text in (printed, *kept):
        assert "shown-in-ps" not in text


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
