"""Compare two result files of one experiment: python -m benchmarks.compare BEFORE AFTER [--relative-to NAME]

Prints one line per point and exits with 1 when a point became slower beyond noise, found other matches, or no
longer ends well. A ratio counts as changed when it leaves 1 by more than the threshold plus the spread of the
repeats of both points.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import read

Record = dict[str, Any]


class Change(NamedTuple):
    """One point in both files; `ratio` is after over before."""

    point: str
    ratio: float
    noise: float
    verdict: str  # "same", "faster", "slower", "other matches", "failed", "missing"

    @property
    def is_bad(self) -> bool:
        return self.verdict in ("slower", "other matches", "failed", "missing")


def compare(
    before: Record, after: Record, *, threshold: float = 0.1, relative_to: str | None = None
) -> Iterator[Change]:
    """The change of every point that `before` has and ended well there."""
    old, new = _by_key(before), _by_key(after)
    for key, point in old.items():
        if point["status"] != "done" or point["contender"] == relative_to:
            continue
        now = new.get(key)
        if now is None or now["status"] != "done":
            yield Change(key, float("nan"), 0.0, "missing" if now is None else "failed")
            continue
        ratio = now["cpu_seconds"] / point["cpu_seconds"]
        if relative_to is not None:
            floors = [_floor(results, point, relative_to) for results in (old, new)]
            if None not in floors:
                ratio *= floors[0] / floors[1]  # type: ignore[operator]
        noise = threshold + _spread(point) + _spread(now)
        yield Change(key, ratio, noise, _verdict(point, now, ratio, noise))


def _verdict(point: Record, now: Record, ratio: float, noise: float) -> str:
    if (point["events"], point["matches"]) != (now["events"], now["matches"]):
        return "other matches"
    if ratio > 1 + noise:
        return "slower"
    return "faster" if ratio < 1 / (1 + noise) else "same"


def _by_key(results: Record) -> dict[str, Record]:
    return {_key(point["contender"], point["parameters"]): point for point in results["points"]}


def _key(contender: str, parameters: Record) -> str:
    return f"{contender} {json.dumps(parameters, sort_keys=True)}"


def _floor(points: dict[str, Record], point: Record, contender: str) -> float | None:
    found = points.get(_key(contender, point["parameters"]))
    return found["cpu_seconds"] if found is not None and found["status"] == "done" else None


def _spread(point: Record) -> float:
    """How far the middle of the repeats lies above the best one; a point measured once is taken at 10 %."""
    repeats = sorted(point.get("all_seconds") or [])
    if len(repeats) < 2 or repeats[0] <= 0:
        return 0.1
    return min(repeats[len(repeats) // 2] / repeats[0] - 1, 1.0)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument(
        "--threshold", type=float, default=0.1, help="share that counts as a change (default: 0.1)"
    )
    parser.add_argument(
        "--relative-to", metavar="NAME", help="divide by this contender's time of the same setting"
    )
    args = parser.parse_args(argv)
    files = [read(args.before), read(args.after)]
    if None in files:
        parser.error("both result files must exist")
    before, after = (found for found in files if found is not None)
    if before["experiment"] != after["experiment"]:
        parser.error(f"different experiments: {before['experiment']} and {after['experiment']}")
    changes = list(compare(before, after, threshold=args.threshold, relative_to=args.relative_to))
    for change in changes:
        print(f"{change.verdict:<14} {change.ratio:6.2f}x (noise {change.noise:.2f})  {change.point}")
    return 1 if any(change.is_bad for change in changes) else 0


if __name__ == "__main__":
    sys.exit(main())
