"""A trace of steps and a drawing of what is kept: what they say is what happened."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.carry.contract import Span
from situ.carry.describe import MOST_PARTITIONS, MOST_SPANS, _bar
from situ.carry.stream.bucket import Bucket
from situations.drawing import SCHEMA, events
from spark.tasks import run_map_side, run_shuffle, run_slices
from streaming.in_memory import MemoryStream

TEXT = "FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A overlaps B WITHIN 100"


def figures(line: str) -> dict[str, str]:
    return dict(re.findall(r"(\w+)=(\S+)", line))


def test_every_step_of_a_push_operator_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    operator = situ.query(TEXT).operator(SCHEMA)
    operator.trace()
    with caplog.at_level(logging.INFO, "situ.carry.trace"):
        #                      0123456
        operator.push(events("a ####...", "b ..#####", k="p"))
        operator.push(events("a #", "b .", t=[3], k="p"))
        operator.push(events("a #", "b .", t=[3], k="q"))
        operator.trace(on=False)
        operator.push(events("a #", "b .", t=[9], k="q"))
    first, late, other = [figures(record.message) for record in caplog.records]
    assert first == {
        "rows": "7", "partitions": "1", "touched": "1", "plan": first["plan"],
        "candidates": first["candidates"], "results": "1", "late": "0", "kept": "2", "held": "0",
        "ms": first["ms"],
    }  # fmt: skip
    assert re.fullmatch(r"range:[AB]>[AB]", first["plan"])
    assert int(first["candidates"]) >= 1
    assert (late["late"], late["results"]) == ("1", "0")
    assert (other["rows"], other["kept"]) == ("1", "1")


def test_the_environment_asks_for_a_trace_on_standard_error(tmp_path: Path) -> None:
    program = (
        "import pyarrow as pa, situ\n"
        "t = pa.table({'t': [1, 2, 3], 'a': [True, False, True]})\n"
        "q = situ.query('FROM t ORDER BY t DEFINE A AS a')\n"
        "situ.match(t, q)\nop = q.operator(t.schema)\nop.push(t)\n"
    )
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": str(root / "src"), "SITU_TRACE": "1", "PATH": "", "HOME": str(Path.home())}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("situ trace")]
    assert [line.split(":")[0] for line in lines] == ["situ trace in process", "situ trace push"]
    assert all(figures(line)["results"] == "2" for line in lines)
    environment["SITU_TRACE"] = "0"
    quiet = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True
    )
    assert "situ trace" not in quiet.stderr


def test_what_is_kept_is_drawn_by_partition() -> None:
    operator = situ.query(TEXT).operator(SCHEMA)
    assert operator.describe() == "nothing is kept"
    operator.push(events("a ..##.###", "b ........", k="p"))
    operator.push(events("a ...", "b #..", t=[4, 6, 8], k="q"))
    lines = operator.describe().splitlines()
    assert lines[0] == "3 kept in 2 partitions, 0 rows waiting"
    assert lines[2] == "p: processed up to 7"
    assert [line.rpartition("| ")[2] for line in lines[3:5]] == ["2 to 4", "5 to goes on"]
    assert lines[3].startswith("  A |[")
    assert lines[4].rstrip().endswith("5 to goes on")
    assert ">|" in lines[4]
    assert lines[6] == "q: processed up to 8"
    assert lines[7].endswith("4 to 6")


def test_a_bucket_of_a_stream_draws_the_same() -> None:
    text = TEXT.replace("overlaps", "before")  # rules nothing out that both would have pruned by now
    operator = situ.query(text).operator(SCHEMA)
    stream = MemoryStream(text, SCHEMA, n_buckets=1)
    for table in (events("a ..##.###", "b ........", k="p"), events("a .#.", "b #..", t=[20, 21, 22], k="p")):
        operator.push(table)
        stream.push(table)
    (shelf,) = stream.shelves.values()
    assert Bucket(stream.program, shelf).describe() == operator.describe()


def test_a_drawing_is_never_long() -> None:
    n = 3 * MOST_SPANS
    table = pa.concat_tables(
        events("a " + "#." * n, "b " + ".." * n, k=f"p{i:03}") for i in range(MOST_PARTITIONS + 5)
    )
    operator = situ.query(TEXT.replace("WITHIN 100", "WITHIN 100000")).operator(SCHEMA)
    operator.push(table)
    lines = operator.describe().splitlines()
    assert len(lines) < (MOST_PARTITIONS + 1) * (MOST_SPANS + 5)
    assert lines[-1] == "... and 5 more partitions"


@pytest.mark.parametrize(("begin", "end"), [(0, 1), (0, 100), (99, 100), (50, None), (100, None)])
def test_bars_have_one_width(begin: int, end: int | None) -> None:
    bar = _bar(Span(0, "A", begin, end), 0, 100)
    assert len(bar) == 50
    assert bar.strip()[0] == "["
    assert bar.strip()[-1] == (">" if end is None else ")")


@pytest.mark.parametrize(("run", "who"), [(run_shuffle, "Spark batch"), (run_map_side, "Spark batch")])
def test_tasks_of_a_batch_tell_of_their_steps(
    run: Any, who: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SITU_TRACE", "1")
    table = events("a ####...", "b ..#####", k="p")
    with caplog.at_level(logging.INFO, "situ.carry.trace"):
        assert run([table], TEXT, {}).num_rows == 1
    (line,) = [record.message for record in caplog.records]
    assert line.startswith(f"{who}: rows=")
    assert figures(line)["results"] == "1"
    assert "kept" not in figures(line)


def test_a_slice_tells_of_its_step(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("SITU_TRACE", "1")
    with caplog.at_level(logging.INFO, "situ.carry.trace"):
        run_slices([events("a ####...", "b ..#####")], TEXT.replace("PARTITION BY k ", ""), {}, 1)
    (line,) = [record.message for record in caplog.records]
    assert line.startswith("Spark batch, slice: touched=1")
    assert figures(line)["results"] == "1"
