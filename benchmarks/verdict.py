"""Sentences made from results: the only words on the pages that depend on figures."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator
from typing import Any

Results = dict[str, Any]


def done(results: Results, contender: str | None = None) -> list[dict[str, Any]]:
    """The points that ended well, of one contender or of all."""
    return [
        point
        for point in results["points"]
        if point["status"] == "done" and contender in (None, point["contender"])
    ]


def ratio_sentence(results: Results, target: float) -> Iterator[str]:
    """How the measured ratio compares with its target."""
    for point in done(results, "situ"):
        ratio = point["details"]["ratio"]
        verdict = "within" if ratio <= target else "beyond"
        rate = point["events"] / point["cpu_seconds"] / 1e6
        yield (
            f"{ratio:.1f} times the processor time of the sums, {verdict} the target of {target:g}; "
            f"{rate:,.0f} million events a second."
        )


def against(ratio: float, target: float | None) -> str:
    """The verdict on a ratio, for the end of a sentence; nothing where there is no target."""
    if target is None:
        return ""
    return f", {'within' if ratio <= target else 'beyond'} the target of {target:g}"


def speedups(results: Results, against: str = "situ", by: str = "cpu_seconds") -> Iterator[str]:
    """For every other contender: how many times the time of `against` it took, where both finished.

    Processor times, because others on the machine disturb them less; `seconds` where a system is a process
    of its own or uses several cores.
    """
    time = "processor time" if by == "cpu_seconds" else "time"
    own = {_key(point): point for point in done(results, against)}
    for contender in sorted({point["contender"] for point in results["points"]} - {against}):
        both = [
            point[by] / own[_key(point)][by]
            for point in done(results, contender)
            if _key(point) in own and own[_key(point)][by] > 0
        ]
        if both:
            yield f"{contender}: {_range(both)} the {time} of {against}."
        stopped = [p for p in results["points"] if p["contender"] == contender and p["status"] != "done"]
        for reason, count in _counted(f"{p['status']} ({p['reason']})" for p in stopped):
            yield f"{contender}: {count} of its settings without a result: {reason}."


def disagreements(results: Results) -> Iterator[str]:
    """Settings at which contenders found different numbers of matches in the same events."""
    groups: dict[str, dict[str, tuple[int, int]]] = {}
    for point in done(results):
        groups.setdefault(_key(point), {})[point["contender"]] = (point["events"], point["matches"])
    for key, found in groups.items():
        counts = {matches for events, matches in found.values() if matches >= 0}
        if len(counts) > 1 and len({events for events, _ in found.values()}) == 1:
            listed = ", ".join(f"{name} {matches:,}" for name, (_, matches) in sorted(found.items()))
            yield f"Different numbers of matches at {key}: {listed}."


def _range(ratios: list[float]) -> str:
    if len(ratios) == 1:
        return f"{_rounded(ratios[0])} times"
    median = _rounded(statistics.median(ratios))
    return f"{_rounded(min(ratios))} to {_rounded(max(ratios))} times (median {median})"


def _rounded(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def _key(point: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(point["parameters"].items()))


def _counted(texts: Iterable[str]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    return list(counts.items())
