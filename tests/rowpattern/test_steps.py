"""ROW 4.10: the steps of a search grow with the rows, whatever the pattern; large patterns work."""

from __future__ import annotations

import logging
import re

import numpy as np
import pyarrow as pa
import pytest

import situ

SIZES = (1_000, 10_000, 100_000)


def asked(pattern: str, define: str) -> situ.Query:
    return situ.query(
        f"FROM e MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n PATTERN ({pattern}) DEFINE {define})"
    )


def rows(n: int) -> pa.Table:
    """`a` holds always, `c` never, `most` but for every fortieth row."""
    here = np.arange(n)
    return pa.table({"t": here, "a": here >= 0, "c": here < 0, "most": here % 40 != 0, "x": here % 7 * 1.0})


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("(A*)*B", "A AS a, B AS c"),
        ("(A|A)*C", "A AS a, C AS c"),
        ("(A?){30} A{30}", "A AS most"),
        ("(A?){30} A{30}", "A AS a"),
        ("(A|B)* (B|A)+ C", "A AS x < PREV(x), B AS a, C AS c"),
    ],
)
def test_steps_grow_with_the_rows(
    pattern: str, define: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conditions over the row and its neighbours: linear for every pattern."""
    monkeypatch.setenv("SITU_TRACE", "1")
    per_row = []
    for n in SIZES:
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="situ.carry.trace"):
            situ.match(rows(n), asked(pattern, define))
        counted = re.findall(r"candidates=(\d+)", caplog.text)
        assert counted, caplog.text
        per_row.append(sum(map(int, counted)) / n)
    assert 1 <= max(per_row) <= 1.2 * per_row[0], per_row


@pytest.mark.parametrize("pattern", ["A (B|B)* C", "A (B*)* (B*)* C", "A (B?){30} (B|C)* C"])
def test_starts_take_steps_of_the_rows_that_they_reach(
    pattern: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conditions on the match's first row: each of 40 rows reaches at most 40, forth, back, forth."""
    monkeypatch.setenv("SITU_TRACE", "1")
    here = np.arange(2_000)
    table = pa.table({"t": here, "x": here % 40})
    query = asked(pattern, "B AS x > A.x, C AS x = A.x + 100")
    with caplog.at_level(logging.INFO, logger="situ.carry.trace"):
        situ.match(table, query)
    counted = sum(map(int, re.findall(r"candidates=(\d+)", caplog.text)))
    assert len(here) <= counted <= 3 * 41 * len(here) // 2, counted


def test_sixty_four_positions_are_no_limit() -> None:
    """ROW 4.1: 40 variables at 120 places."""
    names = [f"V{i}" for i in range(40)]
    query = asked(
        " ".join(f"{name}{{3}}" for name in names),
        ", ".join(f"{name} AS x = {i}" for i, name in enumerate(names)),
    )
    here = np.arange(1_000)
    found = situ.match(pa.table({"t": here, "x": here // 3 % 41}), query)
    assert found["n"].to_pylist() == [120] * 8  # every 123 rows


def test_six_may_be_permuted() -> None:
    """ROW 4.2: 720 orders."""
    names = "ABCDEF"
    query = asked(
        f"PERMUTE({', '.join(names)})", ", ".join(f"{name} AS x = {i}" for i, name in enumerate(names))
    )
    orders = [np.random.default_rng(seed).permutation(6) for seed in range(50)]
    table = pa.table({"t": np.arange(300), "x": np.concatenate(orders)})
    assert situ.match(table, query)["n"].to_pylist() == [6] * 50
