"""Peak memory of situ.match: at most three times its input plus its output, beyond a tiny table's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORK = """
import json, sys
import numpy as np, pyarrow as pa, situ

def status(name):  # the process as the system sees it: Arrow's and the kernels' memory included
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(name))

def table(n):
    rng = np.random.default_rng(0)
    columns = {name: np.repeat(rng.random(n // 2000 + 1) < 0.4, 2000)[:n] for name in "abc"}
    return pa.table({"k": pa.array(rng.integers(0, 100, n).astype(np.int32)), "t": np.arange(n), **columns,
                     "x": rng.random(n)})

query = situ.query(sys.argv[1])
situ.match(table(1000), query)
events = table(int(sys.argv[2]))
before = status("VmRSS")
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")  # the peak is counted anew
found = situ.match(events, query)
print(json.dumps({"input": events.nbytes, "output": found.nbytes, "beyond": status("VmHWM") - before}))
"""
PATTERN = "ORDER BY t DEFINE A AS a, B AS b, C AS c PATTERN A overlaps B AND B before;meets C WITHIN 30000 "
RETURN = "RETURN A.ts AS a, B.ts AS b, C.ts AS c, avg(A.x) AS x"
ROOT = Path(__file__).parents[2]


def measured(text: str, n_rows: int) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-c", WORK, text, str(n_rows)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "SITU_QUIET": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from Linux' /proc")
@pytest.mark.parametrize(
    "text", [f"FROM e {PATTERN}{RETURN}", f"FROM e PARTITION BY k {PATTERN}{RETURN}"], ids=["one", "many"]
)
def test_a_large_table_takes_little_more_than_itself(text: str) -> None:
    base = measured(text, 2000)["beyond"]
    large = measured(text, 2_000_000)
    assert large["output"] > 0
    # the input itself is there already: of three times its size, twice is left
    assert large["beyond"] <= base + 2 * large["input"] + 2 * large["output"], large
