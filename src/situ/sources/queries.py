"""The queries that the generated data is made for; the README shows them, the demo runs them."""

from __future__ import annotations

# TPStream's running example (EDBT 2018), in metric units; its `B finishes C` is Allen's `B finished-by C`.
AGGRESSIVE_DRIVERS = """\
FROM cars PARTITION BY car_id ORDER BY ts
DEFINE A AS accel > 3    AT LEAST 5 seconds,
       B AS speed > 31.3 BETWEEN 4 seconds AND 30 seconds,
       C AS accel < -6   AT LEAST 3 seconds
PATTERN A meets;overlaps;starts;during B
    AND B contains;finished-by;overlaps;meets C
    AND A before C
WITHIN 5 minutes
RETURN avg(B.speed) AS speed, C.ts AS braked_at
"""
