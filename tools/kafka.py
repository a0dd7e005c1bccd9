"""A real Kafka broker for tests and benchmarks: one node (KRaft), on loopback, nothing installed.

python tools/kafka.py            starts a broker, prints its address, stops it at Ctrl-C
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from situ.cli.jars import fetch  # noqa: E402
from situ.cli.java import find_java  # noqa: E402

COORDINATES = ("org.apache.kafka:kafka_2.13:4.2.0",)
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:{controller_port}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/log
num.partitions=2
auto.create.topics.enable=true
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.enable=false
"""
_SECONDS_TO_START = 60
_PR_SET_PDEATHSIG = 1


class Broker:
    """One broker; `stop` and `start` again keep its topics and its address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self._controller_port = _free_ports(2)
        self._process: subprocess.Popen[bytes] | None = None
        self._classpath = os.pathsep.join(map(str, fetch(COORDINATES, transitive=True)))
        self._properties = folder / "server.properties"
        self._properties.write_text(
            _PROPERTIES.format(port=self.port, controller_port=self._controller_port, folder=folder)
        )
        cluster = base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=").replace("-", "A")
        arguments = ["format", "-t", cluster, "-c", str(self._properties), "--standalone"]
        made = subprocess.run(
            self._java("kafka.tools.StorageTool", *arguments), capture_output=True, text=True
        )
        if made.returncode:
            raise RuntimeError(f"the broker's storage could not be made:\n{made.stdout}{made.stderr}")

    @property
    def address(self) -> str:
        """What `kafka.bootstrap.servers` should be."""
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the broker and wait until it takes connections."""
        log = (self.folder / "broker.out").open("ab")
        self._process = subprocess.Popen(
            self._java("kafka.Kafka", str(self._properties)),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C meant for a test must not reach the broker
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
        log.close()
        deadline = time.monotonic() + _SECONDS_TO_START
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.1)
        text = (self.folder / "broker.out").read_text()[-3000:]
        self.stop()
        raise RuntimeError(f"the broker did not come up:\n{text}")

    def stop(self, *, kill: bool = False) -> None:
        """Stop the broker; `kill` gives it no time to say goodbye."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def _java(self, main: str, *arguments: str) -> list[str]:
        java = str(find_java().home / "bin" / "java")
        return [java, "-Xmx512m", "-cp", self._classpath, main, *arguments]


@contextlib.contextmanager
def broker() -> Iterator[Broker]:
    """A started broker whose files are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="situ-kafka-", ignore_cleanup_errors=True) as folder:
        one = Broker(Path(folder))
        one.start()
        try:
            yield one
        finally:
            one.stop()


def _die_with_parent() -> None:
    """A test run that is killed leaves no broker behind."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _free_ports(n: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


if __name__ == "__main__":
    with broker() as running:
        print(running.address, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
