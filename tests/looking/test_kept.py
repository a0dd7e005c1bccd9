"""What is kept for looks back, and how long; what travels between machines."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ import cli
from situ.errors import StateError
from situ.operators.situations.question import Matching
from situ.rows.tied import Tied
from spark.tasks import prepared, rows_of, run_map_side, run_slices, task_for

RISING = "FROM e PARTITION BY k ORDER BY t DEFINE R AS x > prev(x, 2) WITHIN 5 RETURN R.ts AS s"
SCHEMA = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("x", pa.int64())])


def rows(*given: tuple[int, int, int]) -> pa.Table:
    return pa.table({name: [row[i] for row in given] for i, name in enumerate("ktx")}, schema=SCHEMA)


def test_a_partition_is_kept_however_silent() -> None:
    operator = situ.query(RISING).operator(SCHEMA, watermark=0)
    operator.push(rows((1, 0, 3), (1, 1, 1), (2, 1, 1)))
    operator.advance(1_000_000)
    assert operator.n_partitions == 2
    found = operator.push(rows((1, 1_000_001, 4), (2, 1_000_002, 9)))
    found = pa.concat_tables([found, operator.flush()])
    assert found.select(["k", "s"]).to_pylist() == [{"k": 1, "s": 1_000_001}]


def test_forget_after_forgets_it() -> None:
    operator = situ.query(RISING).operator(SCHEMA, watermark=0, forget_after=10)
    operator.push(rows((1, 0, 3), (1, 1, 1)))
    operator.advance(12)
    assert operator.n_partitions == 0
    operator.push(rows((1, 13, 9), (1, 14, 9), (1, 15, 10)))
    assert operator.flush()["s"].to_pylist() == [15]


def test_without_looks_back_it_is_forgotten() -> None:
    operator = situ.query(RISING.replace("prev(x, 2)", "5")).operator(SCHEMA, watermark=0)
    operator.push(rows((1, 0, 3), (1, 1, 1)))
    operator.advance(1_000_000)
    assert operator.n_partitions == 0


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_no_more_is_kept_than_is_looked_back_at(batch: int) -> None:
    operator = situ.query(RISING).operator(SCHEMA)
    text = situ.query(RISING.replace("x > prev(x, 2)", "prev(concat(x, k), 2) = 'a'")).operator(SCHEMA)
    sizes = []
    for begin in range(0, 700, batch):
        table = rows(*((i % 3, i, -i) for i in range(begin, min(700, begin + batch))))
        operator.push(table)
        text.push(table)
        sizes.append((operator.nbytes, len(operator.state()), text.nbytes))
    for one in zip(*sizes[-len(sizes) // 2 :], strict=True):
        assert max(one) - min(one) < 100
    known = operator._store.read(operator._store.known_slots())
    assert known.earlier is not None
    assert [column.to_pylist() for column in known.select(np.array([0])).earlier.columns] == [[-696, -699]]


def test_state_of_another_type_is_not_taken() -> None:
    query = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE R AS prev(x) > 2")
    state = query.operator(SCHEMA).state()
    wider = SCHEMA.set(2, pa.field("x", pa.float64()))
    with pytest.raises(StateError):
        query.operator(wider, state=state)


def condensed(table: pa.Table, text: str) -> tuple[Any, int]:
    task = task_for(table.schema, text, {})
    one = task.operator.condense(prepared(task, table, {}), Tied())
    return one, int(one.n_rows.sum())


def test_map_side_sends_few_rows() -> None:
    """Of a long stretch in which little changes: twice as many whole rows as are looked back at, and few."""
    n, at = 10_000, 5_000
    table = pa.table({"t": range(n), "x": [i == at for i in range(n)]})
    text = "FROM e ORDER BY t DEFINE R AS prev(x, 3) WITHIN 10"
    one, n_rows = condensed(table, text)
    # the first three and the row behind them, where it holds and no longer does, the last three
    assert n_rows == 4 + 2 + 3
    assert one.whole.is_whole.sum() == 6
    assert all(len(column) == 6 for column in one.whole.columns)
    without = condensed(table, text.replace("prev(x, 3)", "x"))[1]
    assert without == 4


@pytest.mark.parametrize("n_splits", [1, 2, 3, 10, 60])
@pytest.mark.parametrize("text", ["x > prev(x, 4)", "x > prev(x, 4) AT LEAST 3", "prev(x) = x"])
def test_splits_of_any_size(text: str, n_splits: int) -> None:
    """Also of fewer rows than are looked back at."""
    rng = np.random.default_rng(4)
    table = pa.table({"t": np.cumsum(rng.integers(1, 3, 60)), "x": rng.integers(0, 5, 60)})
    text = f"FROM e ORDER BY t DEFINE R AS {text} WITHIN 9 EMIT FINAL RETURN R.te AS e, sum(R.x) AS y"
    size = -(-60 // n_splits)
    splits = [table.slice(i, size) for i in range(0, 60, size)]
    wanted = rows_of(situ.match(table, situ.query(text)), text)
    assert wanted
    assert rows_of(run_map_side(splits[::-1], text, {}), text) == wanted
    assert rows_of(run_slices(splits, text, {}, n_slices=4), text) == wanted


def test_a_gap_between_splits_begins_a_new_history() -> None:
    table = pa.table({"t": [0, 1, 2, 20, 21, 22], "x": [1, 2, 3, 4, 5, 6]})
    text = "FROM e ORDER BY t DEFINE R AS x > prev(x) WITHIN 5 RETURN R.ts AS s"
    options = {"forget_after": 9}
    wanted = rows_of(situ.match(table, situ.query(text), **options), text)
    assert [row[0] for row in wanted] == [1, 21]
    for border in range(1, 6):
        splits = [table.slice(0, border), table.slice(border)]
        assert rows_of(run_map_side(splits, text, options), text) == wanted


@pytest.mark.parametrize("cuts", [(2,), (3,), (4,), (3, 4), (1, 2, 3, 4, 5)])
def test_a_gap_between_pushes_begins_a_new_history(cuts: tuple[int, ...]) -> None:
    table = pa.table({"t": [0, 1, 2, 20, 21, 22], "x": [1, 2, 3, 4, 5, 6]})
    query = situ.query("FROM e ORDER BY t DEFINE R AS x > prev(x, 2) WITHIN 5 RETURN R.ts AS s")
    operator = query.operator(table.schema, forget_after=9)
    borders = [0, *cuts, 6]
    found = [operator.push(table.slice(begin, end - begin)) for begin, end in pairwise(borders)]
    assert pa.concat_tables(found)["s"].to_pylist() == [2, 22]


def test_a_split_judges_no_row_that_it_cannot_judge() -> None:
    """What has no value in its split may have one before it: to take it for null would fail here."""
    table = pa.table({"t": range(8), "x": [1] * 8})
    text = (
        "FROM e ORDER BY t DEFINE R AS CASE WHEN t > 1 AND prev(x, 2) IS NULL THEN 1 / 0 = 1 ELSE x = 1 END"
    )
    wanted = rows_of(situ.match(table, situ.query(text)), text)
    assert (
        rows_of(run_map_side([table.slice(0, 3), table.slice(3, 1), table.slice(4)], text, {}), text)
        == wanted
    )


def test_queries_in_one_pass_share_what_they_look_back_at() -> None:
    table = pa.table({"t": [0, 1, 2, 3, 4], "x": [1, 4, 2, 0, 8], "use": [True, True, False, True, True]})
    texts = {
        "rises": "FROM e ORDER BY t DEFINE R AS x > prev(x + 1) RETURN R.ts AS s",
        "chosen": "FROM e WHERE use ORDER BY t DEFINE R AS x > prev(x + 1) RETURN R.ts AS s",
        "far": "FROM e WHERE x > 0 ORDER BY t DEFINE R AS 8 > prev(8 / x, 2) RETURN R.ts AS s",
    }
    together = situ.match(table, texts)
    for name, text in texts.items():
        assert together[name].equals(situ.match(table, situ.query(text)))
    question = situ.operators.questions.matching({name: situ.query(text) for name, text in texts.items()})
    asked = question.bind(situ.rows.schema.spark_schema(table.schema), situ.options.Options())
    assert len(asked.needs.derived) == 2


def test_why_counts_what_looks_back() -> None:
    table = pa.table({"t": [0, 1, 2, 2, 3], "x": [1, 4, 9, 5, 0]})
    counted = situ.why(
        table, situ.query("FROM e ORDER BY t DEFINE R AS x > prev(x), Q AS x < prev(x) PATTERN R meets Q")
    )
    assert dict(counted.situations) == {"R": 1, "Q": 1}
    assert counted.matches == 1


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("t,x\n0,1\n1,4\n2,2\n")
    rising = "FROM e ORDER BY t DEFINE R AS x > prev(x, :n) RETURN R.ts AS s"
    assert cli.main(["run", rising, str(tmp_path / "e.csv"), "--set", "n=2", "--in-process"]) == 0
    assert capsys.readouterr().out.split()[:4] == ["s", "match_time", "2", "2"]
    assert cli.main(["explain", rising, "--set", "n=2"]) == 0
    assert "up to 2 instants back" in capsys.readouterr().out


def test_what_counting_needs_travels() -> None:
    asked = Matching(situ.query("FROM e ORDER BY t DEFINE R AS y > prev(x + 1) RETURN sum(R.z) AS z")).bind(
        situ.rows.schema.spark_schema(pa.schema([(name, pa.int64()) for name in "txyz"])),
        situ.options.Options(),
    )
    assert [column.name for column in asked.needs.attributes] == ["z", "y"]
    assert [column.name for column in asked.counting().needs.attributes] == ["y"]
    assert asked.counting().needs.derived == asked.needs.derived
