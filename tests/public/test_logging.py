"""What situ has to say goes through loggers below `situ`: nothing is printed, no logging is set up."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "situ"
MAY_PRINT = ("cli/", "compiled/jit.py")  # commands, and the half minute in which kernels are compiled

LATE_ROWS = """
import logging, sys
import pyarrow as pa, situ
{setting}
operator = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1").operator(
    pa.schema([("ts", pa.int64()), ("x", pa.int64())]), watermark=1
)
for first in (1000, 2000, 0):
    operator.push(pa.table({{"ts": range(first, first + 100), "x": [0] * 100}}))
"""


def test_only_commands_print() -> None:
    printing = [
        str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert [name for name in printing if not name.startswith(MAY_PRINT)] == []


def said(setting: str) -> str:
    program = LATE_ROWS.format(setting=setting)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return "\n".join(line for line in done.stderr.splitlines() if "compiling its kernels" not in line)


def test_warnings_are_seen_and_can_be_formatted_and_silenced() -> None:
    message = "100 of 300 rows (33%) came too late and were left out."
    assert said("").startswith(message)
    formatted = 'logging.basicConfig(format="%(name)s %(levelname)s %(message)s")'
    assert said(formatted).startswith(f"situ.rows.late_log WARNING {message}")
    assert said('logging.getLogger("situ").setLevel(logging.ERROR)') == ""


def test_importing_situ_sets_up_no_logging() -> None:
    program = "import logging, situ; print(logging.root.handlers, logging.getLogger('situ').level)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == f"[] {logging.NOTSET}\n"
