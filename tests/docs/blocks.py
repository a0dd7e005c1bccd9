"""Read the fenced blocks of a page and run them as a reader would, from top to bottom."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$", re.M | re.S)
EXPECTS_OUTPUT = "<!-- output -->"


class Block(NamedTuple):
    language: str
    code: str
    line: int  # of the first line of code, counted from 1
    is_output: bool  # the page shows it as what the block before it prints


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    for match in FENCE.finditer(page):
        before = page[: match.start()].rstrip()
        indent = match["indent"]
        code = "\n".join(line.removeprefix(indent) for line in match["code"].splitlines())
        line = page[: match.start("code")].count("\n") + 1
        yield Block(match["language"], code, line, before.endswith(EXPECTS_OUTPUT))


def run_page(path: Path) -> None:
    """Run every Python block, `situ` command and query of a page, and compare the outputs it shows."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(path.read_text(encoding="utf-8")):
        where = f"{path}:{block.line}"
        if block.is_output:
            shown, got = _trimmed(block.code), _trimmed(printed)
            assert got == shown, f"{where}: the page shows\n{shown}\nbut the block before it prints\n{got}"
        elif block.language == "python":
            printed = _run_python(block, path, namespace)
        elif block.language == "bash" and block.code.startswith("situ "):
            printed = _run_bash(block, where)
        elif block.language == "situ":
            from situ.language import query

            query(block.code)


def _run_python(block: Block, path: Path, namespace: dict[str, object]) -> str:
    # Leading empty lines make a traceback name the page's own line.
    code = compile("\n" * (block.line - 1) + block.code, str(path), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(code, namespace)
    return output.getvalue()


def _run_bash(block: Block, where: str) -> str:
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(["bash", "-euc", block.code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"{where}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
