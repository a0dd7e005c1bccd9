"""Check who imports whom: folders in one direction only, and each heavy library in its own place.

And that carriers do not know what they carry: outside of the folders of situations few places may ask
whether a query is over events or over given intervals.

Run as `python tools/check_imports.py`; it prints one line per violation and exits with 1 if there is any.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"

# A part may import itself and the parts before it. situ/__init__.py, the public surface, may import all.
PARTS = (
    "_version",
    "errors",
    "extras",
    "private",
    "files",
    "saved",
    "machine",
    "compiled",
    "algebra",
    "language",
    "expressions",
    "options",
    "keywords",
    "aggregate",
    "rows",
    "plan",
    "carry",
    "operators",
    "sources",
    "spark",
    "plotting",
    "builder",
    "testing",
    "public",
    "cli",
)

# The same inside a part: a folder may import itself, those before it, and files beside the folders.
FOLDERS = {
    "language": ("text", "rows", "situations", "building"),
    "carry": ("batch", "stream"),
    "operators": ("situations", "rowpattern", "composed", "several"),
    "spark": ("session", "files", "select", "batch", "stream"),
}

# What asks "events or given intervals?", where it may, and how often elsewhere.
ASKS = re.compile(r"\.intervals\b|\bis_intervals\b|\binstant\.end\b|isinstance\([^)]*(Interval|Lasting)")
MAY_ASK = ("language/situations/", "operators/situations/")
MOST_ASKS = 10

# Library -> folders (any part of the path) that may import it.
CONFINED = {
    "pyspark": {"spark", "cli", "public"},  # public names its types; the probe holds that it does no more
    "numba": {"compiled", "kernels"},
    "matplotlib": {"plotting"},
}

# Methods of Query that need a later part; imported inside the method, where the user calls it.
BACKWARD = {
    ("situ.language.situations.ast", "keywords"),
    ("situ.language.situations.ast", "plan"),
    ("situ.language.situations.ast", "operators"),
    ("situ.language.rows.ast", "operators"),
}

IMPORT_PROBE = """
import sys
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    import situ
assert "pyspark" not in sys.modules, "import situ imports pyspark"
assert not compiled.buffer, "import situ compiles Numba functions"
"""


class Import(NamedTuple):
    module: str  # who imports
    target: str  # what, absolute
    line: int


def main() -> int:
    """Print all violations; return 1 if there is any."""
    problems = [
        f"{path.relative_to(ROOT)}:{found.line}: {problem}"
        for path in sorted((SOURCE / "situ").rglob("*.py"))
        for found in imports_of(path)
        if (problem := problem_with(found))
    ]
    asks = [
        f"{path.relative_to(ROOT)}:{line}: asks whether rows are events or given intervals"
        for path in sorted((SOURCE / "situ").rglob("*.py"))
        for line in asks_in(path)
    ]
    if len(asks) > MOST_ASKS:
        problems += [*asks, f"{len(asks)} places ask; at most {MOST_ASKS} may: let the operator declare it"]
    probe = subprocess.run([sys.executable, "-c", IMPORT_PROBE], capture_output=True, text=True, cwd=SOURCE)
    if probe.returncode != 0:
        problems.append(probe.stderr.strip().splitlines()[-1])
    print("\n".join(problems) if problems else "imports: all in the right direction")
    return 1 if problems else 0


def asks_in(path: Path) -> list[int]:
    """The lines of a file that ask what only situations should know."""
    if str(path.relative_to(SOURCE / "situ")).startswith(MAY_ASK):
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [number for number, line in enumerate(lines, 1) if ASKS.search(line)]


def problem_with(found: Import) -> str | None:
    """Say what is wrong with an import, or None."""
    importer = found.module.split(".")[1:]
    library, *inside = found.target.split(".")
    if library in CONFINED and not CONFINED[library] & set(importer):
        return f"{library} may be imported in {' and '.join(sorted(CONFINED[library]))} only"
    if library != "situ" or not importer or not inside:
        return None
    for part in (importer[0], inside[0]):
        if part not in PARTS:
            return (
                f"situ.{part} has no place in the order of imports: add it to PARTS in tools/check_imports.py"
            )
    if PARTS.index(inside[0]) > PARTS.index(importer[0]) and (found.module, inside[0]) not in BACKWARD:
        return f"{importer[0]} may not import {inside[0]}, which comes after it"
    return problem_within(importer, inside)


def problem_within(importer: list[str], inside: list[str]) -> str | None:
    """The same between two folders of one part."""
    folders = FOLDERS.get(importer[0], ()) if importer[0] == inside[0] else ()
    if len(importer) < 3 or len(inside) < 2 or not {importer[1], inside[1]} <= set(folders):
        return None
    if folders.index(inside[1]) > folders.index(importer[1]):
        part = importer[0]
        return f"{part}/{importer[1]} may not import {part}/{inside[1]}, which comes after it"
    return None


def imports_of(path: Path) -> Iterator[Import]:
    """Yield what a file imports anywhere in it, except for type checking alone."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    package = parts[:-1]
    module = ".".join(package if parts[-1] == "__init__" else parts)
    for node in _walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, [base, node.module]))
            if source == "situ":  # `from situ import engine` names the part in the list
                yield from (Import(module, f"situ.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield Import(module, source, node.lineno)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        children: list[ast.AST] = list(node.orelse)
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _walk(child)


if __name__ == "__main__":
    sys.exit(main())
