"""Draw the pictures that README and docs show: `python tools/pictures.py` writes them to docs/images."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import situ
from situ.sources import traffic_block
from situ.sources.queries import AGGRESSIVE_DRIVERS

ROOT = Path(__file__).resolve().parents[1]


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
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"))
