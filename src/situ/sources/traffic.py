"""Cars on an expressway in the manner of the Linear Road benchmark: each reports once a second while on it.

Most drivers cruise, overtake and slow down in jams. A few are aggressive: stuck behind a slower car they
accelerate hard, speed, and end on the brakes. Units are m, m/s and m/s2; a reported acceleration holds until
the next report, so that speed is exactly the sum of accelerations, and position follows exactly from both.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa

from situ.errors import OptionError
from situ.sources.clock import DEFAULT_START, TIMESTAMP, timestamps, to_microseconds
from situ.sources.trips import MM_PER_MILE, N_PHASES, SLOT_S, Trips, draw_trips

TRAFFIC_SCHEMA = pa.schema(
    [
        ("car_id", pa.int32()),
        ("ts", TIMESTAMP),
        ("speed", pa.float64()),
        ("accel", pa.float64()),
        ("lane", pa.int8()),
        ("segment", pa.int16()),
        ("position", pa.float64()),
    ]
)
_PHASE_S = SLOT_S // N_PHASES


def traffic_block(
    seed: int, cars: int, seconds: int, *, offset: int = 0, start: datetime = DEFAULT_START
) -> pa.Table:
    """Return all reports of cars 0 up to `cars` from `start + offset` seconds on, for `seconds` seconds.

    Rows are ordered by time, then car. A report depends on the seed, the car and its time alone, so blocks
    made anywhere, of any length and for any number of cars, fit together.

    >>> block = traffic_block(seed=1, cars=10, seconds=60)
    >>> block.column_names
    ['car_id', 'ts', 'speed', 'accel', 'lane', 'segment', 'position']
    """
    _check(seed, cars, seconds)
    if seconds == 0:
        return TRAFFIC_SCHEMA.empty_table()
    shape = (seconds, cars)
    accel, speed, lane = (np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, np.int8))
    half_mm, on_road = np.zeros(shape, np.int32), np.zeros(shape, bool)
    for phase in range(min(N_PHASES, cars)):
        shifted = offset + phase * _PHASE_S
        for slot in range(shifted // SLOT_S, (shifted + seconds - 1) // SLOT_S + 1):
            # Seconds of the slot that lie in the block, and the rows of the block they are.
            low = max(shifted - slot * SLOT_S, 0)
            high = min(shifted + seconds - slot * SLOT_S, SLOT_S)
            row = slot * SLOT_S + low - shifted
            trips = draw_trips(seed, slot, phase, 0, len(range(phase, cars, N_PHASES)))
            at = (slice(row, row + high - low), slice(phase, None, N_PHASES))
            accel[at], speed[at], half_mm[at] = _motion(trips, low, high)
            lane[at] = _in_force(trips.lane_begin, trips.lane_end, trips.lane_step, low, high)
            second = np.arange(low, high)[:, None]
            on_road[at] = (second >= trips.begin) & (second < trips.end)
    return _table(start, offset, on_road, accel, speed, lane, half_mm)


def _motion(trips: Trips, low: int, high: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Acceleration (mm/s2), speed (mm/s), position (half mm) for low <= second < high: (seconds, cars)."""
    # How far each piece has come at `low`, and how long it has been over by then, gives the state at `low`
    # without walking through the seconds before it.
    elapsed = np.clip(low - trips.piece_begin, 0, trips.piece_end - trips.piece_begin)
    since = np.maximum(low - trips.piece_end, 0)
    gained = trips.piece_accel * elapsed
    speed_at_low = gained.sum(axis=1)
    half_mm_at_low = 2 * trips.entry_mm + (gained * (elapsed + 2 * since)).sum(axis=1)

    accel = _in_force(trips.piece_begin, trips.piece_end, trips.piece_accel, low, high)
    speed = _running_total(speed_at_low, accel)
    return accel, speed, _running_total(half_mm_at_low, 2 * speed + accel)


def _in_force(begin: np.ndarray, end: np.ndarray, value: np.ndarray, low: int, high: int) -> np.ndarray:
    """Sum of the values in force (from begin up to end) at each second: (seconds, cars)."""
    seconds, cars = high - low, len(begin)
    steps = np.zeros((seconds + 1, cars), np.int32)  # the last row takes what lies beyond the block
    car, piece = np.nonzero((end > low) & (begin < high) & (value != 0))
    step = value[car, piece].astype(np.int32)
    np.add.at(steps, (np.maximum(begin[car, piece] - low, 0), car), step)
    np.subtract.at(steps, (np.minimum(end[car, piece] - low, seconds), car), step)
    return np.cumsum(steps[:-1], axis=0, out=steps[:-1])


def _running_total(first: np.ndarray, change: np.ndarray) -> np.ndarray:
    """`first`, then `first` plus the changes so far: the state at the beginning of each second."""
    total = np.empty_like(change)
    total[0] = first
    total[1:] = change[:-1]
    return np.cumsum(total, axis=0, out=total)


def _table(
    start: datetime,
    offset: int,
    on_road: np.ndarray,
    accel: np.ndarray,
    speed: np.ndarray,
    lane: np.ndarray,
    half_mm: np.ndarray,
) -> pa.Table:
    second, car = np.nonzero(on_road)
    position = half_mm[on_road]
    columns = [
        pa.array(car.astype(np.int32)),
        timestamps(to_microseconds(start) + (offset + second.astype(np.int64)) * 1_000_000),
        pa.array(speed[on_road] / 1000),
        pa.array(accel[on_road] / 1000),
        pa.array(lane[on_road]),
        pa.array((position // (2 * MM_PER_MILE)).astype(np.int16)),
        pa.array(position / 2000),
    ]
    return pa.table(columns, schema=TRAFFIC_SCHEMA)


def _check(seed: int, cars: int, seconds: int) -> None:
    if seed < 0 or not 0 <= cars < 2**31 or seconds < 0:
        raise OptionError(
            f"seed={seed}, cars={cars}, seconds={seconds}: expected a seed and seconds of 0 or more, "
            "and fewer than 2,147,483,648 cars."
        )
