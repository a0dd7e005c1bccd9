#!/usr/bin/env python3
"""Work on a checkout of situ with nothing but git and Python: each command sets up what it needs first.

    python3 dev.py demo           generate traffic, find the aggressive drivers, draw them
    python3 dev.py test           run every check and test (a phase's name runs that phase alone)
    python3 dev.py situ ARGS      run the situ command
    python3 dev.py python ARGS    run Python in the environment, e.g. -m pytest tests/language
    python3 dev.py setup          only set up

The environment is made in .venv; a later run finds it there and starts at once, also without a network.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import deque
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = str(VENV / "bin" / "python")
STAMP = VENV / "situ-setup.txt"
CONSTRAINTS = ROOT / "tools" / "constraints.txt"
OLDEST_PYTHON = (3, 11)
NO_JAVA = 3


def main() -> int:
    """Set up, then run what was asked for; the exit code is its exit code."""
    command, *rest = sys.argv[1:] or ["help"]
    known: dict[str, list[str]] = {
        "demo": [PYTHON, "-m", "situ.cli", "demo"],
        "test": [PYTHON, "tools/checks.py"],
        "situ": [PYTHON, "-m", "situ.cli"],
        "python": [PYTHON],
        "setup": [],
    }
    if command not in known:
        print(__doc__)
        return 0 if command in ("help", "-h", "--help") else 2
    started = time.monotonic()
    if set_up_packages():
        say(f"Set up in {time.monotonic() - started:.0f} s; later runs skip this.")
    environment = {**os.environ, "JAVA_HOME": java_home(), "VIRTUAL_ENV": str(VENV)}
    environment["PATH"] = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])
    if not known[command]:
        return 0
    # Checks run in the checkout; other commands in the caller's folder, where relative paths are meant.
    folder = ROOT if command == "test" else Path.cwd()
    try:
        return subprocess.run([*known[command], *rest], cwd=folder, env=environment).returncode
    except KeyboardInterrupt:
        return 130


def set_up_packages() -> bool:
    """Make the environment and install situ in it; False when that was done before and is still right."""
    wanted = fingerprint()
    if os.path.exists(PYTHON) and STAMP.exists() and STAMP.read_text() == wanted:
        return False
    if not os.path.exists(PYTHON):
        make_environment()
    say("Installing situ, Spark and the tools")
    pip("--editable", f"{ROOT}[dev]")
    STAMP.write_text(wanted)
    return True


def fingerprint() -> str:
    """Return a hash of what the installed packages depend on: requirements, constraints, this folder."""
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    parts = [
        settings["build-system"],
        project["dependencies"],
        project["optional-dependencies"],
        project["scripts"],
        CONSTRAINTS.read_text(encoding="utf-8"),
        str(ROOT),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def make_environment() -> None:
    if find_spec("ensurepip") is None or find_spec("venv") is None:
        sys.exit(
            "error: this Python cannot make virtual environments: its ensurepip module is missing.\n"
            "Hint: on Debian and Ubuntu, install it with: apt-get install python3-venv"
        )
    say(f"Making a virtual environment in {VENV}")
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True)
    if made.returncode != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        sys.exit(f"error: the virtual environment could not be made:\n{made.stdout}{made.stderr}")


def java_home() -> str:
    """Return a JAVA_HOME that Spark can use; where the machine has none, install a runtime with pip."""
    answer = ask_for_java()
    if answer.returncode == NO_JAVA:
        say("No Java runtime found: installing one beside the other packages")
        pip("--editable", f"{ROOT}[dev,java]")
        answer = ask_for_java()
    if answer.returncode != 0:
        sys.exit(answer.stdout + answer.stderr)
    return answer.stdout.strip()


def ask_for_java() -> "subprocess.CompletedProcess[str]":
    """Let situ itself look for Java: it prints the JAVA_HOME, or its error with the exit code NO_JAVA."""
    program = (
        "import sys\n"
        "from situ.cli.java import JavaNotFoundError, find_java\n"
        "try:\n    print(find_java().home)\n"
        f"except JavaNotFoundError as error:\n    print(f'error: {{error}}')\n    sys.exit({NO_JAVA})\n"
    )
    return subprocess.run([PYTHON, "-c", program], capture_output=True, text=True)


def pip(*what: str) -> None:
    """Install, showing one line per package; everything pip said is shown if it fails."""
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--constraint", str(CONSTRAINTS), *what]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    last: deque[str] = deque(maxlen=40)
    assert process.stdout is not None
    for line in process.stdout:
        last.append(line)
        if line.startswith(("Collecting ", "Downloading ", "  Downloading ", "Installing collected")):
            progress(line.strip())
    progress("")
    if process.wait() != 0:
        sys.exit("".join(last) + "\nerror: the packages could not be installed; pip's last lines are above.")


def progress(text: str) -> None:
    """Show what is going on: on one line of a terminal, or as lines of a log."""
    if sys.stdout.isatty():
        print(f"\r\033[K  {text[:100]}" if text else "\r\033[K", end="", flush=True)
    elif text:
        print(f"  {text[:100]}", flush=True)


def say(text: str) -> None:
    print(f"[situ] {text}", flush=True)


def use_newer_python() -> None:
    """Go on under the newest Python on the PATH when this one is too old."""
    for minor in range(14, OLDEST_PYTHON[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer:
            os.execv(newer, [newer, *sys.argv])
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(f"error: situ needs Python 3.11 or newer; this is {found} ({sys.executable}).")


if __name__ == "__main__":
    if sys.version_info < OLDEST_PYTHON:
        use_newer_python()
    sys.exit(main())
