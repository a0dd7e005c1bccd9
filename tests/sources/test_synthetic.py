"""The synthetic generator: lengths in their bounds, uniform, and the same data however it is cut."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from situ.errors import OptionError
from situ.sources import synthetic_chunks, synthetic_table


def run_lengths(flags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lengths of the runs of false and of true, without the last run, which the end may have cut."""
    edges = np.flatnonzero(np.diff(flags)) + 1
    lengths = np.diff(np.concatenate([[0], edges]))
    return lengths[0::2], lengths[1::2]


def test_situations_and_gaps_are_uniform_in_their_bounds() -> None:
    table = synthetic_table(3, 200_000, seed=3)
    assert table.column_names == ["ts", "s0", "s1", "s2"]
    for name in ("s0", "s1", "s2"):
        gaps, situations = run_lengths(table[name].to_numpy())
        assert (gaps.min(), gaps.max()) == (10, 50)
        assert (situations.min(), situations.max()) == (10, 100)
        assert abs(gaps.mean() - 30) < 1.5
        assert abs(situations.mean() - 55) < 3


def test_one_event_per_second_from_the_start_on() -> None:
    table = synthetic_table(["door"], 5, start=datetime(2024, 5, 1, 12, tzinfo=UTC))
    assert table.schema.field("ts").type == pa.timestamp("us", tz="UTC")
    assert [t.second for t in table["ts"].to_pylist()] == [0, 1, 2, 3, 4]
    assert table["ts"][0].as_py() == datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_other_rates_do_not_drift() -> None:
    ts = synthetic_table(1, 3001, rate_hz=3)["ts"].cast(pa.int64()).to_numpy()
    assert ts[3000] - ts[0] == 1000 * 1_000_000
    assert set(np.diff(ts)) == {333_333, 333_334}


@given(chunk=st.integers(1, 400), events=st.integers(0, 300), seed=st.integers(0, 2**64 - 1))
def test_the_chunk_size_does_not_matter(chunk: int, events: int, seed: int) -> None:
    chunks = list(synthetic_chunks(2, events, seed=seed, chunk_events=chunk))
    assert all(table.num_rows <= chunk for table in chunks)
    whole = synthetic_table(2, 300, seed=seed)
    assert sum(table.num_rows for table in chunks) == events
    if chunks:
        assert pa.concat_tables(chunks).equals(whole.slice(0, events))


def test_a_column_does_not_depend_on_the_others() -> None:
    assert synthetic_table(1, 1000, seed=9)["s0"].equals(synthetic_table(5, 1000, seed=9)["s0"])
    assert not synthetic_table(2, 1000, seed=9)["s0"].equals(synthetic_table(2, 1000, seed=9)["s1"])
    assert not synthetic_table(1, 1000, seed=9)["s0"].equals(synthetic_table(1, 1000, seed=10)["s0"])


@pytest.mark.parametrize(
    "options",
    [
        {"symbols": 0},
        {"symbols": ["a", "A"]},
        {"symbols": ["ts"]},
        {"events": -1},
        {"seed": -1},
        {"duration": (5, 4)},
        {"gap": (0, 4)},
        {"rate_hz": 0.0},
        {"chunk_events": 0},
    ],
)
def test_wrong_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        next(synthetic_chunks(**{"symbols": 2, "events": 10, **options}))  # type: ignore[arg-type]


def test_no_events_still_have_columns() -> None:
    assert synthetic_table(2, 0).column_names == ["ts", "s0", "s1"]
