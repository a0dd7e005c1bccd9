"""How one trip on the expressway is drawn: which manoeuvres it has, as pieces of constant acceleration.

A car's timeline is cut into slots of SLOT_S seconds; each slot holds one trip, from the entry ramp to the
exit ramp, drawn from (seed, car, slot) alone. Everything is whole millimetres and seconds, so sums are exact:
a trip is the same to the last bit wherever, and in whatever pieces, it is generated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SLOT_S = 1800
N_PHASES = 6  # cars start their slots at six different times, so that the road is never empty
_WINDOWS = 6  # a trip has at most this many manoeuvres, each in a window of its own
_PIECES = 7  # pieces of constant acceleration in a manoeuvre
_KNOT_S = 20  # cruising speed wanders between knots this far apart
_KNOTS = SLOT_S // _KNOT_S
_TRIP_DRAWS, _WINDOW_DRAWS = 6, 10
_DRAWS = -(-(_TRIP_DRAWS + _WINDOWS * _WINDOW_DRAWS + _KNOTS) // 4) * 4  # Philox makes four numbers a step

MM_PER_MILE = 1_609_344
ENTRY_LANE, EXIT_LANE = 0, 4  # Linear Road's numbering: 0 entry ramp, 1 to 3 travel lanes, 4 exit ramp


class Trips(NamedTuple):
    """One trip per car; times are seconds of the slot, shapes (cars,) or, for pieces and lanes, (cars, n)."""

    begin: np.ndarray
    end: np.ndarray
    entry_mm: np.ndarray
    piece_begin: np.ndarray
    piece_end: np.ndarray
    piece_accel: np.ndarray  # mm/s2, holds from piece_begin up to piece_end
    lane_begin: np.ndarray
    lane_end: np.ndarray
    lane_step: np.ndarray  # added to the lane from lane_begin up to lane_end


def draw_trips(seed: int, slot: int, phase: int, first: int, count: int) -> Trips:
    """Draw the trips of the cars `phase + N_PHASES * i` for `first <= i < first + count` in a slot."""
    # Slots before the epoch are negative; the key takes unsigned numbers.
    key = np.array([seed, (slot * N_PHASES + phase) % 2**64], dtype=np.uint64)
    generator = np.random.Philox(key=key).advance(first * _DRAWS // 4)
    uniform = np.random.Generator(generator).random((count, _DRAWS))
    trip, rest = uniform[:, :_TRIP_DRAWS], uniform[:, _TRIP_DRAWS:]
    window, knot = rest[:, : _WINDOWS * _WINDOW_DRAWS], rest[:, _WINDOWS * _WINDOW_DRAWS :][:, :_KNOTS]

    length = _whole(trip[:, 0], 1260, 1740)
    begin = (trip[:, 1] * (SLOT_S - 30 - length)).astype(np.int64)
    end = begin + length
    cruise = _whole(trip[:, 2], 25_000, 30_000)  # 56 to 67 mph
    entry_mm = _whole(trip[:, 3], 0, 60) * MM_PER_MILE
    aggressive = trip[:, 4] < 0.04
    base_lane = 1 + (cruise > 26_500) + (cruise > 28_500)

    entry_s = _ceil_div(cruise, 1_700)  # at most 1.7 m/s2 on the ramp
    exit_s = _whole(trip[:, 5], 16, 24)
    on_road = (begin + entry_s + 10, end - exit_s - 10)
    m_begin, m_end, m_accel, m_lane = _manoeuvres(
        window.reshape(count, _WINDOWS, _WINDOW_DRAWS), *on_road, cruise, aggressive, base_lane
    )
    k_begin, k_end, k_accel = _wander(knot, *on_road)
    entry_accel = cruise // entry_s
    # Braking on the exit ramp takes away whatever speed is left, so that the car comes to rest at its end.
    left = (
        entry_accel * entry_s
        + ((m_end - m_begin) * m_accel).sum(axis=1)
        + ((k_end - k_begin) * k_accel).sum(axis=1)
    )
    columns = np.column_stack
    return Trips(
        begin=begin,
        end=end,
        entry_mm=entry_mm,
        piece_begin=columns([begin, end - exit_s, m_begin, k_begin]),
        piece_end=columns([begin + entry_s, end, m_end, k_end]),
        piece_accel=columns([entry_accel, -(left // exit_s), m_accel, k_accel]),
        lane_begin=columns([begin + entry_s, end - exit_s, m_begin[:, 2::_PIECES]]),
        lane_end=columns([end, end, m_begin[:, 6::_PIECES]]),
        lane_step=columns([base_lane - ENTRY_LANE, EXIT_LANE - base_lane, m_lane]),
    )


def _manoeuvres(
    draws: np.ndarray,
    road_begin: np.ndarray,
    road_end: np.ndarray,
    cruise: np.ndarray,
    aggressive: np.ndarray,
    base_lane: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Begin, end and acceleration of each piece (cars, windows * pieces), and lane step per window.

    Every manoeuvre is made of the same pieces, some of them without effect: ease off, crawl, burst, hold,
    brake, pause, and a gentle return to cruising speed.
    """
    kind, ease, crawl, burst_s, burst, hold, brake_s, brake = (draws[:, :, i] for i in range(8))
    let_run_out, start = draws[:, :, 8], draws[:, :, 9]
    rush = aggressive[:, None] & (kind < 0.45)  # stuck behind a slower car, a burst, then the brakes
    jam = ~rush & (kind < 0.25)
    overtake = ~rush & ~jam & (kind < 0.60)
    obstacle = ~rush & ~jam & ~overtake & (kind < 0.62)
    kinds = [rush, jam, overtake, obstacle]

    def choose(*values: np.ndarray | int, otherwise: int) -> np.ndarray:
        return np.select(kinds, [np.broadcast_to(v, kind.shape) for v in values], otherwise)

    ease_s = choose(8, 16, 1, 1, otherwise=1)
    ease_a = choose(-_whole(ease, 800, 1_200), -_whole(ease, 300, 1_200), 0, 0, otherwise=0)
    crawl_s = choose(_whole(crawl, 3, 12), _whole(crawl, 10, 60), 1, 1, otherwise=1)
    rush_s = choose(_whole(burst_s, 3, 7), 1, _whole(burst_s, 3, 6), 1, otherwise=1)
    rush_a = choose(_whole(burst, 3_200, 4_100), 0, _whole(burst, 600, 1_400), 0, otherwise=0)
    hold_s = choose(_whole(hold, 2, 34), 1, _whole(hold, 8, 25), 1, otherwise=1)
    stop_s = choose(_whole(brake_s, 2, 5), 1, 1, _whole(brake_s, 2, 4), otherwise=1)
    stop_a = choose(-_whole(brake, 6_300, 8_500), 0, 0, -_whole(brake, 4_000, 7_500), otherwise=0)
    stop_a[rush & (let_run_out < 0.2)] = 0
    # Nobody brakes to a standstill here: a fifth of the cruising speed is kept.
    change = ease_s * ease_a + rush_s * rush_a
    stop_a = np.maximum(stop_a, -((change + cruise[:, None] * 4 // 5) // stop_s))
    change += stop_s * stop_a
    return_s = np.maximum(_ceil_div(np.abs(change), 900), 1)

    nothing = np.zeros_like(change)
    lasts = np.stack([ease_s, crawl_s, rush_s, hold_s, stop_s, nothing + 4, return_s], axis=2)
    accels = np.stack([ease_a, nothing, rush_a, nothing, stop_a, nothing, -(change // return_s)], axis=2)
    window_s = ((road_end - road_begin) // _WINDOWS)[:, None]
    spare_s = window_s - lasts.sum(axis=2)
    window_begin = road_begin[:, None] + np.arange(_WINDOWS) * window_s
    ends = (window_begin + (start * spare_s).astype(np.int64))[:, :, None] + lasts.cumsum(axis=2)
    lane = np.where(rush | overtake, np.minimum(base_lane[:, None] + 1, 3) - base_lane[:, None], 0)
    flat = (len(draws), _WINDOWS * _PIECES)
    return (ends - lasts).reshape(flat), ends.reshape(flat), accels.reshape(flat), lane


def _wander(
    draws: np.ndarray, road_begin: np.ndarray, road_end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pieces that let the speed wander by up to 0.8 m/s around what it would be, ending back on it."""
    begin = road_begin[:, None] + np.arange(_KNOTS - 1) * _KNOT_S
    inside = begin + 2 * _KNOT_S <= road_end[:, None]
    # Offsets are multiples of the knot distance, so that the slope between two knots is a whole number.
    offset = _whole(draws, -800 // _KNOT_S, 800 // _KNOT_S) * _KNOT_S
    offset[:, 0] = 0
    offset[:, 1:] *= inside
    return begin, begin + _KNOT_S, np.diff(offset, axis=1) // _KNOT_S


def _whole(uniform: np.ndarray, least: int, greatest: int) -> np.ndarray:
    whole: np.ndarray = np.floor(least + uniform * (greatest - least + 1)).astype(np.int64)
    return whole


def _ceil_div(a: np.ndarray, b: int) -> np.ndarray:
    return -(-a // b)
