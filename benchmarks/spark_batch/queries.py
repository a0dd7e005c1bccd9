"""The aggressive driver (dissertation 5.7.2), as a situ query and as SQL."""

from __future__ import annotations

SITU = """
FROM cars PARTITION BY car_id ORDER BY ts
DEFINE A AS accel > {push}{a}, B AS speed > {speed}{b}, C AS accel < {brake}{c}
PATTERN A meets;overlaps;starts;during B AND B finished-by;contains;overlaps;meets C AND A before C
WITHIN 5 minutes EMIT {emit}
RETURN avg(B.speed) AS speed, A.ts AS started, B.ts AS fast, C.ts AS braked
"""

LASTING = {"a": " AT LEAST 2 seconds", "b": " AT LEAST 4 seconds", "c": " BETWEEN 1 second AND 30 seconds"}


def situ_text(thresholds: dict[str, float], *, emit: str = "EARLY", lasting: bool = False) -> str:
    """The query; `lasting` adds duration constraints, a minimum among them."""
    durations = LASTING if lasting else {"a": "", "b": "", "c": ""}
    return SITU.format(emit=emit, **thresholds, **durations)


N_SEVERAL = 8
_STEPS = {"push": 5, "speed": 6, "brake": 5}  # how many thresholds each condition has: sixteen conditions


def several_texts(thresholds: dict[str, float]) -> dict[str, str]:
    """Eight queries by name over the same columns; the first is the aggressive driver itself."""
    return {f"q{i}": _one_of_several(thresholds, i) for i in range(N_SEVERAL)}


def _one_of_several(thresholds: dict[str, float], i: int) -> str:
    """Every step asks for a little more; every second query has the shorter of two windows."""
    own = {name: value * (1 + i % _STEPS[name] / 50) for name, value in thresholds.items()}
    text = situ_text({name: round(value, 6) for name, value in own.items()})
    return text if i % 2 == 0 else text.replace("5 minutes", "1 minute")


# Gaps and islands: one sort for all three symbols, then one aggregation and the joins for each.
SQL = """
WITH marked AS (
  SELECT car_id, ts, speed, accel > {push} AS a, speed > {speed} AS b, accel < {brake} AS c,
         lead(ts) OVER w AS next_ts,
         lag(accel > {push}) OVER w AS was_a, lag(speed > {speed}) OVER w AS was_b,
         lag(accel < {brake}) OVER w AS was_c
  FROM cars WINDOW w AS (PARTITION BY car_id ORDER BY ts)
), numbered AS (
  SELECT *, sum(CASE WHEN a AND NOT coalesce(was_a, false) THEN 1 ELSE 0 END) OVER w AS n_a,
            sum(CASE WHEN b AND NOT coalesce(was_b, false) THEN 1 ELSE 0 END) OVER w AS n_b,
            sum(CASE WHEN c AND NOT coalesce(was_c, false) THEN 1 ELSE 0 END) OVER w AS n_c
  FROM marked WHERE a OR b OR c
  WINDOW w AS (PARTITION BY car_id ORDER BY ts ROWS UNBOUNDED PRECEDING)
), sa AS (
  SELECT car_id, min(ts) AS ts, max(next_ts) AS te FROM numbered WHERE a
  GROUP BY car_id, n_a HAVING count(next_ts) = count(*)
), sb AS (
  SELECT car_id, min(ts) AS ts, max(next_ts) AS te, avg(speed) AS speed FROM numbered WHERE b
  GROUP BY car_id, n_b HAVING count(next_ts) = count(*)
), sc AS (
  SELECT car_id, min(ts) AS ts, max(next_ts) AS te FROM numbered WHERE c
  GROUP BY car_id, n_c HAVING count(next_ts) = count(*)
)
SELECT sb.car_id, sb.speed, sa.ts AS started, sb.ts AS fast, sc.ts AS braked,
       greatest(sa.te, sb.te, sc.te) AS match_time
FROM sb JOIN sa ON sa.car_id = sb.car_id AND (
       sa.te = sb.ts OR (sa.ts < sb.ts AND sb.ts < sa.te AND sa.te < sb.te)
       OR (sa.ts = sb.ts AND sa.te < sb.te) OR (sa.ts > sb.ts AND sa.te < sb.te))
  JOIN sc ON sc.car_id = sb.car_id AND sa.te < sc.ts AND (
       (sb.ts < sc.ts AND sb.te = sc.te) OR (sb.ts < sc.ts AND sc.te < sb.te)
       OR (sb.ts < sc.ts AND sc.ts < sb.te AND sb.te < sc.te) OR sb.te = sc.ts)
WHERE greatest(sa.te, sb.te, sc.te) - least(sa.ts, sb.ts, sc.ts) <= INTERVAL '5' MINUTE
"""
