"""Fetch jars by their coordinates with the Ivy that Spark brings, into the user's cache folder."""

from __future__ import annotations

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

from situ.cli.java import cache_folder, find_java
from situ.errors import SituError

# The settings name no host: Ivy knows where the central repository is. A mirror goes into a file of Ivy
# settings that SITU_IVY_SETTINGS names.
_SETTINGS = """\
<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""


class JarsNotFoundError(SituError):
    """Jars cannot be fetched: no such coordinates, or no way to the repository."""


def kafka_connector() -> list[Path]:
    """The jars with which this Spark reads and writes Kafka, fetched at the first call.

    The connector of Spark's own version is the right one. Where the repository does not carry it (yet), the
    newest combination that is known to run with Spark 4.2 and 4.3 is taken.
    """
    version = importlib.metadata.version("pyspark")
    own = (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{version}",)
    tried = (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
        "org.apache.kafka:kafka-clients:3.9.1",
        "org.apache.commons:commons-pool2:2.12.1",
    )
    if _folder(tried, transitive=False).is_dir():
        return fetch(tried, transitive=False)
    try:
        # Spark itself brings Scala and the logging that the connector asks for
        return fetch(own, transitive=True, without=("org.scala-lang", "org.slf4j", "org.apache.hadoop"))
    except JarsNotFoundError:
        return fetch(tried, transitive=False)


def fetch(coordinates: Sequence[str], *, transitive: bool, without: Sequence[str] = ()) -> list[Path]:
    """The jars of `group:artifact:version` coordinates, with what they depend on if `transitive`."""
    folder = _folder(coordinates, transitive=transitive)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix="draft-"))
        try:
            _retrieve(coordinates, transitive, without, draft)
            draft.joinpath("jars").rename(folder)  # whole or not at all
        except OSError:
            if not folder.is_dir():  # else another process was first
                raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return sorted(folder.glob("*.jar"))


def _folder(coordinates: Sequence[str], *, transitive: bool) -> Path:
    digest = hashlib.sha256(f"{transitive} {' '.join(coordinates)}".encode()).hexdigest()[:16]
    name = coordinates[0].split(":")[1]
    return cache_folder() / "jars" / f"{name}-{digest}"


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
