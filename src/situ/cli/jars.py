"""Fetch jars by their coordinates with the Ivy that Spark brings, and verify them each time they are used."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from situ.cli.checksums import CONNECTORS, PINNED
from situ.cli.java import find_java
from situ.errors import SituError
from situ.private import cache_folder, read_private, write_private

# The settings name no host: Ivy knows where the central repository is. A mirror goes into a file of Ivy
# settings that SITU_IVY_SETTINGS names.
_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""
_SUMS = "SHA256SUMS"


class JarsNotFoundError(SituError):
    """Jars cannot be fetched: no such coordinates, or no way to the repository."""


class JarsAlteredError(SituError):
    """A jar is not the one it should be: its checksum is another than the one that is known."""


class UnverifiedConnectorError(SituError):
    """situ knows no checksums of the Kafka connector for this version of Spark, and was not told to go on."""


def kafka_connector(*, unverified: bool = False) -> list[Path]:
    """The jars with which this Spark reads and writes Kafka, fetched at the first call.

    Those that are known to run with a version of Spark are verified against the checksums in `checksums.py`.
    For other versions the connector of the very version is fetched only if `unverified` says so.
    """
    version = importlib.metadata.version("pyspark")
    known = CONNECTORS.get(".".join(version.split(".")[:2]))
    if known is not None:
        return fetch(known, transitive=False)
    own = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}"
    if not unverified:
        raise UnverifiedConnectorError(
            f"situ knows no checksums of the Kafka connector for Spark {version}, {own}.",
            hint="name its jars with --jars, or give --unverified-connector to take what the repository has",
        )
    # Spark itself brings Scala and the logging that the connector asks for
    return fetch([own], transitive=True, without=("org.scala-lang", "org.slf4j", "org.apache.hadoop"))


def fetch(coordinates: Sequence[str], *, transitive: bool, without: Sequence[str] = ()) -> list[Path]:
    """The jars of `group:artifact:version` coordinates, with what they depend on if `transitive`.

    Each is held against its pinned checksum, where there is one, and else, once it is in the cache, against
    what was fetched; while fetching Ivy compares with the checksums of the repository.
    """
    digest = hashlib.sha256(f"{_SUMS} {transitive} {' '.join(coordinates)}".encode()).hexdigest()[:16]
    name = f"{coordinates[0].split(':')[1]}-{digest}"
    folder = cache_folder("jars") / name
    if not folder.exists():
        draft = _drafted(coordinates, transitive, without, folder.parent)
        _verify(draft / "jars")  # if it fails, what was fetched stays where the error says it is
        with contextlib.suppress(OSError):  # another process was first
            draft.joinpath("jars").rename(folder)  # whole or not at all
        shutil.rmtree(draft, ignore_errors=True)
    _verify(cache_folder("jars", name))
    return sorted(folder.glob("*.jar"))


def _drafted(coordinates: Sequence[str], transitive: bool, without: Sequence[str], parent: Path) -> Path:
    """A folder of its own with `jars`: what the repository has, private, and its checksums."""
    draft = Path(tempfile.mkdtemp(dir=parent, prefix="draft-"))
    try:
        _retrieve(coordinates, transitive, without, draft)
        _keep_private(draft / "jars")
        write_private(draft / "jars" / _SUMS, _written(_sums(draft / "jars")))
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return draft


def _keep_private(jars: Path) -> None:
    """Ivy made these, with whatever the umask left them."""
    jars.chmod(0o700)
    for jar in jars.iterdir():
        jar.chmod(0o600)


def _verify(jars: Path) -> None:
    """The folder holds exactly the jars that were fetched, and they are what they should be."""
    lines = (read_private(jars / _SUMS) or b"").decode().splitlines()
    recorded = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    if not recorded:
        raise JarsAlteredError(
            f"{jars} holds no {_SUMS} with checksums.",
            hint="remove that folder and run again to fetch it anew",
        )
    expected = {name: PINNED.get(name, digest) for name, digest in recorded.items()}
    found = _sums(jars)
    for name in sorted(expected | found):
        if found.get(name) != expected.get(name):
            raise JarsAlteredError(
                f"{jars / name} has the SHA-256 checksum {found.get(name, '(no such file)')}, "
                f"and should have {expected.get(name, 'none: it is not one of the jars that were fetched')}.",
                hint=f"nothing was removed: look at it, remove {jars} and run again to fetch it anew; "
                "if the checksum stays another, ask whoever runs the repository or mirror",
            )


def _sums(jars: Path) -> dict[str, str]:
    contents = {path.name: read_private(path) for path in jars.glob("*.jar")}
    return {
        name: "(not a file of this user alone)" if content is None else hashlib.sha256(content).hexdigest()
        for name, content in contents.items()
    }


def _written(sums: dict[str, str]) -> bytes:
    """As sha256sum writes them."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()


def _retrieve(coordinates: Sequence[str], transitive: bool, without: Sequence[str], folder: Path) -> None:
    settings = os.environ.get("SITU_IVY_SETTINGS")
    if settings is None:
        settings = str(folder / "settings.xml")
        Path(settings).write_text(_SETTINGS, encoding="utf-8")
    module = folder / "ivy.xml"
    module.write_text(_module(coordinates, transitive, without), encoding="utf-8")
    pattern = folder / "jars" / "[organisation].[artifact]-[revision](-[classifier]).[ext]"
    command = [str(find_java().home / "bin" / "java"), "-jar", str(_ivy_jar()), "-settings", settings]
    command += ["-cache", str(folder / "cache"), "-ivy", str(module), "-confs", "default"]
    command += ["-types", "jar", "bundle", "-retrieve", str(pattern)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if answer.returncode != 0 or not any((folder / "jars").glob("*.jar")):
        lines = (answer.stdout + answer.stderr).splitlines()
        said = [
            line.strip() for line in lines if "UNRESOLVED" in line or "not found" in line or "ERROR" in line
        ]
        raise JarsNotFoundError(
            f"cannot fetch {', '.join(coordinates)}: {'; '.join(said[:3]) or 'Ivy failed'}",
            hint="check the network, or set SITU_IVY_SETTINGS to a file of Ivy settings with your mirror",
        )


def _module(coordinates: Sequence[str], transitive: bool, without: Sequence[str]) -> str:
    lines = ['<ivy-module version="2.0">', '<info organisation="situ" module="fetched"/>']
    lines += ['<configurations><conf name="default"/></configurations>', "<dependencies>"]
    for one in coordinates:
        group, artifact, version = map(quoteattr, one.split(":"))
        lines.append(
            f'<dependency org={group} name={artifact} rev={version} transitive="{str(transitive).lower()}"'
            ' conf="default->default"/>'
        )
    lines += [f"<exclude org={quoteattr(group)}/>" for group in without]
    return "\n".join([*lines, "</dependencies>", "</ivy-module>"])


def _ivy_jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(os.environ.get("SPARK_HOME") or Path(spec.origin).parent)
    found = sorted((home / "jars").glob("ivy-*.jar"))
    if not found:
        raise JarsNotFoundError(
            f"{home / 'jars'} holds no Ivy to fetch jars with",
            hint="give the jars of the Kafka connector with --jars",
        )
    return found[-1]
