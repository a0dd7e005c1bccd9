"""What the options of Kafka hold, where it may come from, and that secrets are printed nowhere."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from argparse import Namespace
from pathlib import Path

import pytest

from situ.cli import secrets
from situ.cli.common import print_error
from situ.cli.kafka_options import Address, addresses, read_kafka_options
from situ.cli.stream_io import StreamStoppedError, _check_brokers
from situ.errors import OptionError, SituError

JAAS = 'org.example.PlainLoginModule required username="alice" password="pa$$ w\\"ord";'


@pytest.fixture(autouse=True)
def nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_hidden", set())
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setenv("SITU_HIDDEN", "")  # so that it is put back


def options(*given: str, file: Path | None = None) -> dict[str, str]:
    return read_kafka_options(Namespace(kafka_option=list(given), kafka_option_file=file and str(file)))


def test_values_come_from_the_command_line_the_environment_and_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAAS", JAAS)
    monkeypatch.setenv("KEY", "of the key")
    file = tmp_path / "kafka.options"
    file.write_text(
        "# for the cluster\n\nkafka.security.protocol = SASL_SSL\n"
        "kafka.ssl.truststore.password=a=b#c\n  kafka.ssl.key.password=env:KEY\nkafka.client.id=one\n"
    )
    found = options("kafka.sasl.jaas.config=env:JAAS", "kafka.client.id=two", file=file)
    assert found == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.ssl.truststore.password": "a=b#c",
        "kafka.ssl.key.password": "of the key",
        "kafka.client.id": "two",
        "kafka.sasl.jaas.config": JAAS,
    }
    assert capsys.readouterr().err == ""
    text = f"{JAAS} | a=b#c | of the key | SASL_SSL | two | {json.dumps(JAAS)}"
    assert secrets.redacted(text) == '*** | *** | *** | SASL_SSL | two | "***"'


def test_a_secret_on_the_command_line_is_warned_of_and_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    options("kafka.ssl.key.password=hunter22", "kafka.ssl.keystore.location=/etc/keys", "kafka.acks=all")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "kafka.ssl.key.password=env:VARIABLE" in said
    assert "--kafka-option-file" in said
    assert "hunter22" not in said
    assert secrets.redacted("hunter22 in /etc/keys, all of it") == "*** in /etc/keys, all of it"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("s3cret", "--kafka-option number 1 is not NAME=VALUE"),
        ("=s3cret", "--kafka-option number 1 is not NAME=VALUE"),
        ("a.password=env:NOT_SET", "environment variable NOT_SET, which is not set"),
        ("a.password=env:EMPTY", "environment variable EMPTY, which is empty"),
    ],
)
def test_wrong_options(given: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(OptionError, match=message) as caught:
        options(given)
    assert "s3cret" not in str(caught.value)


def test_wrong_option_files(tmp_path: Path) -> None:
    file = tmp_path / "options"
    with pytest.raises(OptionError, match=r"options cannot be read: No such file"):
        options(file=file)
    file.write_text("kafka.acks=all\n\ns3cret\n")
    with pytest.raises(OptionError, match=r"line 3 of .*options is not NAME=VALUE") as caught:
        options(file=file)
    assert "s3cret" not in str(caught.value)
    file.write_bytes(b"a=\xff\xfe")
    with pytest.raises(OptionError, match="not UTF-8"):
        options(file=file)


def test_errors_and_tracebacks_are_printed_without_what_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    secrets.hide([JAAS])
    print_error(SituError(f"Invalid flag in {JAAS}", hint='the password pa$$ w\\"ord is wrong, alice'))
    try:
        raise ValueError(f"cannot parse {JAAS}")
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    said = capsys.readouterr().err
    assert "pa$$" not in said
    assert "alice is" not in said
    assert "the password *** is wrong, alice" in said
    assert "cannot parse ***" in said
    assert "Traceback" in said


def test_short_secrets_are_hidden_as_words_and_long_ones_anywhere() -> None:
    secrets.hide(["ssl", "0123456789", "line one of a key\nline two of a key"])
    assert secrets.redacted("ssl, SSL, sslContext x0123456789x") == "***, SSL, sslContext x***x"
    assert secrets.redacted("> line two of a key <") == "> *** <"


def test_the_expression_for_the_jvm_finds_the_same_and_has_nothing_that_log4j_would_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    awkward = r"a}b{c$${d}\e[f]^(g)|h*i+j.k?ü😀"
    secrets.hide([awkward, JAAS, "ssl"])
    pattern = secrets.os.environ["SITU_HIDDEN"]
    assert re.fullmatch(r"[A-Za-z0-9.()?<!\[\]|_-]+", pattern)
    for text in (awkward, JAAS, json.dumps(JAAS)[1:-1]):
        assert re.sub(pattern, "***", f"<{text}>") == "<***>"
    assert re.sub(pattern, "***", "ssl sslContext") == "*** sslContext"


def test_addresses_of_brokers() -> None:
    assert addresses("a:1,b.example.org:65535, [::1]:9092 ,[fe80::1%eth0]:9093,10.0.0.1:9094") == [
        Address("a", 1),
        Address("b.example.org", 65535),
        Address("::1", 9092),
        Address("fe80::1%eth0", 9093),
        Address("10.0.0.1", 9094),
    ]


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        ("localhost", r"'localhost' is not HOST:PORT"),
        (":9092", r"':9092' is not HOST:PORT"),
        ("a:9092,", r"'' is not HOST:PORT"),
        ("::1:9092", r"written in brackets, as in \[::1\]:9092"),
        ("[::1]", r"written in brackets, as in \[::1\]:9092"),
        ("[::1:9092", r"written in brackets"),
        ("::1]:9092", r"written in brackets"),
        ("[]:9092", r"is not HOST:PORT"),
        ("a:http", r"has the port 'http'.[^$]*1 to 65535"),
        ("a:0", r"has the port '0'"),
        ("a:65536", r"has the port '65536'"),
        ("SSL://a:9092", r"names a protocol.[^$]*kafka.security.protocol"),
    ],
)
def test_wrong_addresses(servers: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        addresses(f"good:9092,{servers}")


def test_a_broker_at_an_ipv6_address_is_reached() -> None:
    try:
        listening = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening:
        port = listening.getsockname()[1]
        _check_brokers(f"127.0.0.1:1,[::1]:{port}")
    with pytest.raises(StreamStoppedError, match=r"no Kafka broker answers at \[::1\]"):
        _check_brokers(f"[::1]:{port}")
