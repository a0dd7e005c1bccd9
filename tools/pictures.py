"""Draw the pictures that README and docs show: `python tools/pictures.py` writes them to docs/images."""

from __future__ import annotations

import math
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

import situ
from situ.sources import traffic_block
from situ.sources.queries import AGGRESSIVE_DRIVERS

ROOT = Path(__file__).resolve().parents[1]
DIPS = """
    FROM trades MATCH_RECOGNIZE (
        ORDER BY ts
        MEASURES STRT.price - LAST(DOWN.price) AS depth, LAST(UP.price) AS back, count(*) AS n
        PATTERN (STRT DOWN{2,} UP{2,})
        DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
    )
"""


def main(folder: Path) -> int:
    """Write every picture; the same data, so the same pictures, every time."""
    cars = traffic_block(seed=7, cars=400, seconds=3600)
    drivers = situ.plot(cars, situ.query(AGGRESSIVE_DRIVERS), top=1, by="speed")
    drivers[0].save(folder / "aggressive-driver.png")
    drivers.overview.save(folder / "aggressive-drivers.png")
    example = runpy.run_path(str(ROOT / "examples" / "rain_and_delays.py"))
    query = situ.query(example["QUERY"])
    rain = situ.plot(example["load"](), query, top=1, by="worst", time_zone="America/New_York")
    rain[0].save(folder / "rain-and-delays.png")
    dips = situ.plot(trades(), DIPS, top=1, by="depth")
    dips[0].save(folder / "price-dip.png")
    return 0


def trades() -> pa.Table:
    """Those of docs/how-to/plot.md."""
    opened = datetime(2024, 5, 6, 9, 30, tzinfo=UTC)
    price = [round(100 + 6 * math.sin(i / 4) + math.sin(i * 0.9), 2) for i in range(90)]
    return pa.table({"ts": [opened + timedelta(minutes=i) for i in range(90)], "price": price})


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"))
