"""The benchmark's events: cars that drive in random swings, as time-ordered Parquet files, made once.

Every car reports once a second. Speed (m/s) wanders about a mean of its own, acceleration (m/s2) is what
makes it wander, so that strong acceleration, high speed and strong braking come as runs of some seconds,
as in the generated traffic of the dissertation (5.7.2).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N_CARS = 1_000
N_FILES = 16
START = np.datetime64("2024-01-01T00:00:00", "us")
SCHEMA = pa.schema(
    [
        ("car_id", pa.int32()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("speed", pa.float64()),
        ("accel", pa.float64()),
    ]
)


def input_folder() -> Path:
    """Where generated input lies, outside the repository."""
    return Path(os.environ.get("SITU_BENCHMARK_DATA", Path.home() / ".cache" / "situ-benchmarks"))


def folder_of(n_events: int, n_cars: int) -> Path:
    """Where the files of a size lie."""
    return input_folder() / f"cars-{n_cars}-{n_events}"


def events(n_events: int, n_cars: int = N_CARS, seed: int = 7) -> Path:
    """The folder with the events, made if it is not there."""
    folder = folder_of(n_events, n_cars)
    if (folder / "_done").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    n_seconds = n_events // n_cars
    per_file = -(-n_seconds // N_FILES)
    mean = random.uniform(22, 34, n_cars)
    speed, accel, push = mean.copy(), np.zeros(n_cars), np.zeros(n_cars)
    for number in range(-(-n_seconds // per_file)):
        size = min(per_file, n_seconds - number * per_file)
        speeds, accels = np.empty((size, n_cars)), np.empty((size, n_cars))
        for second in range(size):
            # drivers hold the pedal for some seconds: the push changes with probability 1/8
            changes = random.random(n_cars) < 1 / 8
            push = np.where(changes, random.normal(0, 1.6, n_cars), push)
            accel = 0.6 * accel + 0.4 * push - 0.05 * (speed - mean)
            speed = np.maximum(speed + accel, 0)
            speeds[second], accels[second] = speed, accel
        seconds = number * per_file + np.arange(size)
        table = pa.table(
            {
                "car_id": np.tile(np.arange(n_cars, dtype=np.int32), size),
                "ts": np.repeat(START + (seconds * 1_000_000).astype("timedelta64[us]"), n_cars),
                "speed": speeds.reshape(-1),
                "accel": accels.reshape(-1),
            }
        ).cast(SCHEMA)
        pq.write_table(table, folder / f"cars-{number:02}.parquet", row_group_size=table.num_rows)
    (folder / "_done").touch()
    return folder


def thresholds(folder: Path) -> dict[str, float]:
    """99th percentile of speed, 90th of positive and of negative acceleration, from the first file."""
    table = pq.read_table(folder / "cars-00.parquet", columns=["speed", "accel"])
    speed, accel = table["speed"].to_numpy(), table["accel"].to_numpy()
    return {
        "speed": float(np.quantile(speed, 0.99)),
        "push": float(np.quantile(accel[accel > 0], 0.9)),
        "brake": float(np.quantile(accel[accel < 0], 0.1)),
    }
