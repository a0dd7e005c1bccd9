"""What `situ stream` is told about Kafka: where the brokers are, and options that may hold secrets."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from situ.cli.secrets import hide, looks_secret, says_how
from situ.errors import OptionError

_FROM_ENVIRONMENT = "env:"
_LAST_PORT = 65535


class Address(NamedTuple):
    """Where a broker is; `host` without the brackets that an IPv6 address is written in."""

    host: str
    port: int


def addresses(servers: str) -> list[Address]:
    """Read `HOST:PORT,...` as Kafka does.

    >>> addresses("kafka-1:9092, [::1]:9093")
    [Address(host='kafka-1', port=9092), Address(host='::1', port=9093)]
    """
    return [_address(one.strip()) for one in servers.split(",")]


def _address(text: str) -> Address:
    def wrong(found: str, hint: str) -> OptionError:
        return OptionError(f"--servers {text!r} {found}.", hint=hint)

    host, colon, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if "://" in text:
        raise wrong("names a protocol", "leave it out; it is the option kafka.security.protocol=SSL")
    if text.startswith("[") != is_bracketed or text.endswith("]"):
        raise wrong("is not HOST:PORT", "an IPv6 address is written in brackets, as in [::1]:9092")
    if ":" in host and not is_bracketed:
        raise wrong("is not HOST:PORT", f"an IPv6 address is written in brackets, as in [{host}]:{port}")
    if not colon or not host.strip("[]"):
        raise wrong("is not HOST:PORT", "for example localhost:9092 or [::1]:9092")
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= _LAST_PORT):
        raise wrong(f"has the port {port!r}", f"a port is a number from 1 to {_LAST_PORT}, mostly 9092")
    return Address(host[1:-1] if is_bracketed else host, int(port))


class _Given(NamedTuple):
    name: str
    value: str
    is_secret: bool


def read_kafka_options(args: argparse.Namespace) -> dict[str, str]:
    """The connector's options from --kafka-option-file and --kafka-option, the latter first in rank.

    Secrets among them are hidden from now on, and one that stands in the process list is warned of.
    """
    given = []
    if args.kafka_option_file:
        given += list(_from_file(args.kafka_option_file))
    for number, text in enumerate(args.kafka_option, 1):
        given.append(_from_command_line(text, number))
    hide(one.value for one in given if one.is_secret)
    return {one.name: one.value for one in given}


def _from_file(path: str) -> Iterator[_Given]:
    """Lines NAME=VALUE; empty lines and those that begin with # say nothing. Errors repeat no line's text."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise OptionError(f"--kafka-option-file {path} cannot be read: {said}.") from None
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name, value = _split(line, f"line {number} of {path}")
            found = _resolved(name, value)
            yield _Given(name, found, found != value or not says_how(name))


def _from_command_line(text: str, number: int) -> _Given:
    name, value = _split(text, f"--kafka-option number {number}")
    found = _resolved(name, value)
    if found == value and looks_secret(name):
        print(
            f"situ: everybody on this machine can see the value of {name} in the list of processes; write "
            f"--kafka-option {name}=env:VARIABLE, or put it into a file for --kafka-option-file",
            file=sys.stderr,
            flush=True,
        )
    return _Given(name, found, found != value or looks_secret(name))


def _split(text: str, where: str) -> tuple[str, str]:
    name, is_given, value = text.partition("=")
    if not is_given or not name.strip():
        raise OptionError(f"{where} is not NAME=VALUE.", hint="for example kafka.security.protocol=SASL_SSL")
    return name.strip(), value.strip()


def _resolved(name: str, value: str) -> str:
    """`env:NAME` stands for the value of an environment variable."""
    if not value.startswith(_FROM_ENVIRONMENT):
        return value
    variable = value.removeprefix(_FROM_ENVIRONMENT)
    found = os.environ.get(variable)
    if not found:
        state = "is not set" if found is None else "is empty"
        raise OptionError(
            f"the option {name} is to come from the environment variable {variable}, which {state}.",
            hint=f"set it before the command runs, as in: export {variable}=...",
        )
    return found
