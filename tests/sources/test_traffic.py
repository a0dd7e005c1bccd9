"""The traffic generator: sound physics, the same data however it is cut, and drivers worth finding."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from situ.errors import OptionError
from situ.sources import TRAFFIC_SCHEMA, traffic_block

START = datetime(2024, 1, 1, tzinfo=UTC)
HOURS_S = 2 * 3600


@pytest.fixture(scope="module")
def block() -> pa.Table:
    return traffic_block(seed=5, cars=300, seconds=HOURS_S, start=START)


def by_car(table: pa.Table) -> dict[str, np.ndarray]:
    """Columns ordered by car, then time, with whole seconds and millimetres."""
    table = table.sort_by([("car_id", "ascending"), ("ts", "ascending")])
    return {
        "car": table["car_id"].to_numpy().astype(np.int64),
        "second": table["ts"].cast(pa.int64()).to_numpy() // 1_000_000,
        "accel": np.rint(table["accel"].to_numpy() * 1000).astype(np.int64),
        "speed": np.rint(table["speed"].to_numpy() * 1000).astype(np.int64),
        "half_mm": np.rint(table["position"].to_numpy() * 2000).astype(np.int64),
    }


def test_speed_and_position_follow_exactly_from_acceleration(block: pa.Table) -> None:
    rows = by_car(block)
    same_trip = (np.diff(rows["car"]) == 0) & (np.diff(rows["second"]) == 1)
    assert same_trip.sum() > 0.99 * block.num_rows
    accel, speed = rows["accel"][:-1], rows["speed"][:-1]
    assert (np.diff(rows["speed"]) == accel)[same_trip].all()
    assert (np.diff(rows["half_mm"]) == 2 * speed + accel)[same_trip].all()


def test_traces_are_believable(block: pa.Table) -> None:
    speed, accel = block["speed"].to_numpy(), block["accel"].to_numpy()
    assert speed.min() >= 0
    assert speed.max() < 60
    assert 20 < speed.mean() < 32
    assert accel.min() > -9.81  # tyres cannot do more
    assert accel.max() < 5
    assert set(block["lane"].unique().to_pylist()) == {0, 1, 2, 3, 4}
    segment = np.rint(block["position"].to_numpy() * 2000).astype(np.int64) // (2 * 1_609_344)
    assert (segment == block["segment"].to_numpy()).all()
    assert segment.max() < 100


def test_trips_start_and_end_at_rest_on_the_ramps(block: pa.Table) -> None:
    rows = by_car(block)
    breaks = np.flatnonzero((np.diff(rows["car"]) != 0) | (np.diff(rows["second"]) != 1))
    inner = np.isin(rows["second"][breaks] - rows["second"].min(), range(1, HOURS_S - 1))
    lasts = breaks[inner]
    assert len(lasts) > 300
    assert (rows["speed"][lasts] + rows["accel"][lasts] < 100).all()  # a second later the car would stand
    next_trips = lasts[rows["car"][lasts + 1] == rows["car"][lasts]] + 1
    assert (rows["speed"][next_trips] == 0).all()


def test_every_car_reports_and_the_road_is_never_empty(block: pa.Table) -> None:
    assert len(block["car_id"].unique()) == 300
    per_second = block.group_by("ts").aggregate([("car_id", "count")])["car_id_count"].to_numpy()
    assert len(per_second) == HOURS_S
    assert per_second.min() > 200


def test_rows_are_ordered_by_time_then_car(block: pa.Table) -> None:
    order = pc.sort_indices(block, sort_keys=[("ts", "ascending"), ("car_id", "ascending")])
    assert order.equals(pa.array(np.arange(block.num_rows), pa.uint64()))


def test_a_few_drivers_burst_speed_and_brake(block: pa.Table) -> None:
    hard = block.filter(pc.greater(block["accel"], 3.0))
    aggressive = len(hard["car_id"].unique())
    assert 5 < aggressive < 90
    braking = block.filter(pc.less(block["accel"], -6.0))
    both = set(hard["car_id"].to_pylist()) & set(braking["car_id"].to_pylist())
    assert len(both) > aggressive / 3


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**63),
    cars=st.integers(1, 20),
    offset=st.integers(0, 10_000),
    cuts=st.lists(st.integers(1, 2500), min_size=1, max_size=5),
)
def test_blocks_fit_together_wherever_they_are_cut(
    seed: int, cars: int, offset: int, cuts: list[int]
) -> None:
    whole = traffic_block(seed, cars, sum(cuts), offset=offset)
    starts = offset + np.cumsum([0, *cuts[:-1]])
    pieces = [traffic_block(seed, cars, cut, offset=int(at)) for at, cut in zip(starts, cuts, strict=True)]
    assert pa.concat_tables(pieces).combine_chunks().equals(whole)
    fewer = traffic_block(seed, max(1, cars - 3), sum(cuts), offset=offset)
    assert whole.filter(pc.less(whole["car_id"], max(1, cars - 3))).equals(fewer)


def test_seeds_differ_and_repeat() -> None:
    assert traffic_block(1, 5, 100, offset=900).equals(traffic_block(1, 5, 100, offset=900))
    assert not traffic_block(1, 5, 100, offset=900).equals(traffic_block(2, 5, 100, offset=900))


@pytest.mark.parametrize(("cars", "seconds"), [(0, 100), (5, 0)])
def test_nothing_asked_for_is_an_empty_table(cars: int, seconds: int) -> None:
    table = traffic_block(1, cars, seconds)
    assert table.num_rows == 0
    assert table.schema == TRAFFIC_SCHEMA


def test_wrong_options_are_refused() -> None:
    with pytest.raises(OptionError, match="seed=-1"):
        traffic_block(-1, 5, 5)
