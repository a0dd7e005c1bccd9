"""Reports of cars, one a second, as files of one micro-batch each; acceleration is the change of speed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = "car_id int, ts timestamp, speed double, accel double"
START_US = 1_704_067_200_000_000
SEED = 7

# The aggressive driver of TPStream's Listing 1, in m/s and m/s2; its `B finishes C` is our finished-by.
QUERY = """
FROM cars PARTITION BY car_id ORDER BY ts
DEFINE A AS accel > 2 AT LEAST 2 seconds, B AS speed > 31 BETWEEN 4 seconds AND 30 seconds,
       C AS accel < -2 AT LEAST 1 second
PATTERN A meets;overlaps;starts;during B AND B finished-by;contains;overlaps;meets C AND A before C
WITHIN 5 minutes
RETURN avg(B.speed) AS speed, A.ts AS started, C.ts AS braked
"""


class Cars:
    """A source of files; every car goes on where the file before left it."""

    def __init__(self, folder: Path, n_cars: int) -> None:
        self.folder = folder
        self.n_cars = n_cars
        self._random = np.random.default_rng(SEED)
        self._speed = self._random.uniform(22, 34, n_cars)
        self._accel = np.zeros(n_cars)
        self._second = 0
        self._n_files = 0
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, n_seconds: int, cars: np.ndarray | None = None) -> int:
        """One more file: all cars, or some, for some seconds, in time order; returns its rows."""
        own = np.arange(self.n_cars) if cars is None else cars
        speeds, accels = np.empty((n_seconds, len(own))), np.empty((n_seconds, len(own)))
        for i in range(n_seconds):
            push = self._random.normal(0, 3, len(own))
            self._accel[own] = 0.7 * self._accel[own] + 0.5 * push - 0.05 * (self._speed[own] - 28)
            self._speed[own] = np.maximum(self._speed[own] + self._accel[own], 0)
            speeds[i], accels[i] = self._speed[own], self._accel[own]
        seconds = self._second + np.repeat(np.arange(n_seconds), len(own))
        table = pa.table(
            {
                "car_id": pa.array(np.tile(own, n_seconds), pa.int32()),
                "ts": pa.array(START_US + seconds * 1_000_000).cast(pa.timestamp("us", "UTC")),
                "speed": speeds.ravel(),
                "accel": accels.ravel(),
            }
        )
        # two row groups, so that both cores read
        path = self.folder / f"{self._n_files:05}.parquet"
        pq.write_table(table, path, row_group_size=-(-table.num_rows // 2))
        os.utime(path, (1e9 + self._n_files, 1e9 + self._n_files))
        self._second += n_seconds
        self._n_files += 1
        return table.num_rows
