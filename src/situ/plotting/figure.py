"""Scenes and overviews as matplotlib figures: PNG and SVG."""

from __future__ import annotations

import io
import itertools
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from situ.errors import OptionError
from situ.plotting.clock import clock_text, time_marks
from situ.plotting.scene import Bar, Clock, Curve, Lane, Overview, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 9.0  # inches
_CURVE_HEIGHT, _ROWS_HEIGHT, _LEVEL_HEIGHT, _ROW_HEIGHT = 1.15, 1.9, 0.34, 0.2
_GREY, _LIGHT = "#595959", "#D9D9D9"
_PICTURED, _UNPICTURED = "#D55E00", "#009E73"
_NUMBER: dict[str, Any] = {
    "ha": "center", "va": "center_baseline", "fontsize": 6.5, "color": "white", "zorder": 5
}  # fmt: skip
_FACTS_WIDTH = 105  # characters
_BAR = 0.62  # of a level's height
_ROLES: dict[str, dict[str, Any]] = {
    "match": {},
    "other": {"alpha": 0.35},
    "refused": {"facecolor": "none", "linestyle": ":"},
}
# A condition holds from an event until the next one: so does the value it was true of. Rows are just rows.
_STEPS: dict[str, Any] = {"drawstyle": "steps-post"}
_JOINED: dict[str, Any] = {"marker": "o", "markersize": 2}
_POINT: dict[str, Any] = {"linestyle": "", "marker": "o", "markeredgecolor": "white", "markeredgewidth": 0.8}


def is_available() -> bool:
    """Is matplotlib installed?"""
    return find_spec("matplotlib") is not None


def _matplotlib() -> Any:
    try:
        import matplotlib
        import matplotlib.ticker
    except ImportError:
        raise OptionError(
            "pictures as PNG or SVG need matplotlib", hint='pip install "situ[plot]"; HTML works without it'
        ) from None
    return matplotlib


# Names and values are not ours: nothing in them is mathematics, TeX or a font's business.
_PLAIN_TEXT = {"text.parse_math": False, "text.usetex": False}
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@contextmanager
def _plain_text() -> Iterator[None]:
    with _matplotlib().rc_context(_PLAIN_TEXT), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # it shows as a box
        yield


def _shown(text: str, most: int) -> str:
    """Text on one line, with its end cut off where it is too long to be drawn."""
    text = _CONTROLS.sub(" ", text)
    return text if len(text) <= most else text[: most - 1] + "…"


@_plain_text()
def scene_figure(scene: Scene) -> Figure:
    """One match: curves above, a lane for each symbol below."""
    n_levels = sum(lane.n_levels for lane in scene.lanes)
    heights = [_CURVE_HEIGHT if curve.is_stepped else _ROWS_HEIGHT for curve in scene.curves]
    heights += [max(0.8, _LEVEL_HEIGHT * n_levels + 0.15)]
    figure, axes = _panels(heights)
    for axis, curve in zip(axes, scene.curves, strict=False):
        _draw_curve(axis, scene, curve)
    _draw_lanes(axes[-1], scene)
    for axis in axes:
        if scene.instant is not None:
            axis.axvline(_x(scene.instant, scene.clock), color="black", linewidth=1.2, zorder=5)
        axis.set_xlim(_x(scene.begin, scene.clock), _x(scene.end, scene.clock))
    _draw_heading(figure, axes[0], scene)
    _time_axis(axes[-1], scene.clock)
    return figure


@_plain_text()
def overview_figure(overview: Overview) -> Figure:
    """All matches over time: a histogram, and the partitions with most of them."""
    figure, (bars, rows) = _panels([1.2, max(0.8, _ROW_HEIGHT * len(overview.rows) + 0.2)])
    clock = overview.clock
    step = (overview.end - overview.begin) / len(overview.counts)
    lefts = [_x(round(overview.begin + i * step), clock) for i in range(len(overview.counts) + 1)]
    widths = [right - left for left, right in itertools.pairwise(lefts)]
    bars.bar(lefts[:-1], overview.counts, width=widths, align="edge", color="#0072B2")
    bars.set_ylabel("matches", color=_GREY)
    bars.yaxis.set_major_locator(_matplotlib().ticker.MaxNLocator(4, integer=True))
    for mark in overview.marks:
        if mark.picture is not None:
            at = (_x(mark.instant, clock), mark.row)
            rows.plot(*at, "o", markersize=9, color=_PICTURED, zorder=4)
            rows.text(*at, str(mark.picture + 1), **_NUMBER)
    others = [mark for mark in overview.marks if mark.picture is None]
    levels = [mark.row for mark in others]
    rows.vlines(
        [_x(mark.instant, clock) for mark in others],
        [level - 0.32 for level in levels],
        [level + 0.32 for level in levels],
        color=_UNPICTURED,
        linewidth=1.4,
        zorder=3,
    )
    rows.hlines(range(len(overview.rows)), lefts[0], lefts[-1], color=_LIGHT, linewidth=0.8)
    rows.set_yticks(range(len(overview.rows)), [_shown(name, 32) for name in overview.rows], fontsize=8)
    rows.set_ylim(len(overview.rows) - 0.5, -0.5)
    margin = (lefts[-1] - lefts[0]) * 0.015  # dots at the edges stay whole
    for axis in (bars, rows):
        axis.set_xlim(lefts[0] - margin, lefts[-1] + margin)
    figure.suptitle(overview.title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    bars.set_title(_wrapped(overview.notes), loc="left", fontsize=8.5, color=_GREY)
    _time_axis(rows, clock)
    return figure


@_plain_text()
def to_png(figure: Figure) -> bytes:
    """The figure as PNG; the same bytes for the same picture."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130, metadata={"Software": None})
    return buffer.getvalue()


@_plain_text()
def to_svg(figure: Figure) -> str:
    """The figure as SVG text, with text as text."""
    buffer = io.StringIO()
    with _matplotlib().rc_context({"svg.fonttype": "none", "svg.hashsalt": "situ"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _panels(heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    _matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, sum(heights) + 0.25 * len(heights) + 0.75), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False, sharex=True)
    axes = [row[0] for row in grid]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8, colors=_GREY)
    return figure, axes


def _draw_heading(figure: Figure, axis: Axes, scene: Scene) -> None:
    facts = _wrapped([f"{_shown(name, 32)} {_shown(value, 60)}" for name, value in scene.facts])
    figure.suptitle(_shown(scene.title, 90), x=0.01, ha="left", fontsize=12, fontweight="bold")
    axis.set_title(facts, loc="left", fontsize=8.5, color=_GREY, pad=16)
    if scene.instant is None:
        return
    right = _x(scene.instant, scene.clock) > _x((scene.begin + scene.end) // 2, scene.clock)
    axis.annotate(
        f"certain at {clock_text(scene.instant, scene.clock)}",
        (_x(scene.instant, scene.clock), 1),
        xycoords=("data", "axes fraction"),
        xytext=(-3 if right else 3, 3),
        textcoords="offset points",
        ha="right" if right else "left",
        fontsize=8.5,
    )


def _wrapped(parts: Sequence[str]) -> str:
    """Parts side by side, in as many lines as it takes."""
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) > _FACTS_WIDTH:
            lines.append("")
        lines[-1] += part + "    "
    return "\n".join(line.rstrip() for line in lines)


def _draw_curve(axis: Axes, scene: Scene, curve: Curve) -> None:
    from matplotlib.transforms import blended_transform_factory

    values = [float("nan") if value is None else value for value in curve.values]
    style = _STEPS if curve.is_stepped else _JOINED
    axis.plot(
        [_x(t, scene.clock) for t in curve.times], values, color="black", linewidth=1.1, zorder=3, **style
    )
    for lane in scene.lanes:
        own = [point for point in curve.points if point.symbol == lane.symbol]
        at, height = [_x(point.time, scene.clock) for point in own], [point.value for point in own]
        axis.plot(at, height, color=lane.colour, markersize=_dot(scene), zorder=6, **_POINT)
    axis.set_ylabel(_shown(curve.name, 18), fontsize=9, color=_GREY)
    for lane in scene.lanes:
        for bar in lane.bars if lane.symbol in curve.symbols else ():
            if bar.role == "match":
                end = scene.end if bar.te is None else bar.te
                axis.axvspan(
                    _x(bar.ts, scene.clock), _x(end, scene.clock), color=lane.colour, alpha=0.15, lw=0
                )
    beside = blended_transform_factory(axis.transAxes, axis.transData)
    for line in curve.thresholds:
        axis.axhline(line.value, color=line.colour, linestyle=(0, (4, 3)), linewidth=1.2, zorder=2)
        axis.text(
            1.005,
            line.value,
            _shown(line.label, 24),
            transform=beside,
            va="center",
            fontsize=8,
            color=_darker(line.colour),
        )
    axis.margins(y=0.12)


def _draw_lanes(axis: Axes, scene: Scene) -> None:
    level, ticks = 0, []
    for lane in scene.lanes:
        for bar in lane.bars:
            if _is_seen(bar, scene):
                _draw_bar(axis, scene, lane, bar, level + bar.level)
        at = [_x(tick, scene.clock) for tick in lane.rows]
        axis.plot(at, [level + 0.17] * len(at), color=lane.colour, markersize=_dot(scene), zorder=6, **_POINT)
        middle = level + (lane.n_levels - 1) / 2
        ticks.append((middle, _shown(lane.symbol, 24)))
        whole_width = axis.get_yaxis_transform()
        label: dict[str, Any] = {"fontsize": 7.5, "va": "top", "color": _GREY, "zorder": 6}
        axis.text(0.004, level - 0.47, _shown(lane.label, 120), transform=whole_width, **label)
        level += lane.n_levels
        axis.axhline(level - 0.5, color=_LIGHT, linewidth=0.6)
    axis.set_yticks([at for at, _ in ticks], [name for _, name in ticks], fontsize=10, color="black")
    axis.set_ylim(level - 0.5, -0.5)


def _dot(scene: Scene) -> float:
    """How large the rows of a match are drawn: many leave little room."""
    n_rows = sum(len(lane.rows) for lane in scene.lanes)
    return 7 if n_rows <= 60 else 4.5 if n_rows <= 200 else 3


def _is_seen(bar: Bar, scene: Scene) -> bool:
    return bar.ts <= scene.end and (bar.te is None or bar.te >= scene.begin)


def _draw_bar(axis: Axes, scene: Scene, lane: Lane, bar: Bar, level: float) -> None:
    """Filled where it is part of the match; an open end fades into an arrow."""
    clock = scene.clock
    end = scene.end if bar.te is None else bar.te
    left, right = _x(bar.ts, clock), _x(end, clock)
    at = level + 0.17 - _BAR / 2
    style: dict[str, Any] = {"facecolor": lane.colour, "edgecolor": lane.colour, "linewidth": 1}
    style |= _ROLES["other" if lane.rows else bar.role]  # of rows the points count
    instant = scene.end if scene.instant is None else scene.instant
    if bar.role == "match" and bar.te is not None and bar.te > instant > bar.ts:
        # What was known when the match was certain, and what came of it later.
        known = _x(instant, clock)
        axis.broken_barh([(left, known - left)], (at, _BAR), **style)
        later: dict[str, Any] = {
            "facecolor": lane.colour,
            "alpha": 0.35,
            "hatch": "////",
            "edgecolor": "white",
            "linewidth": 0,
        }
        axis.broken_barh([(known, right - known)], (at, _BAR), **later)
    else:
        axis.broken_barh([(left, right - left)], (at, _BAR), **style)
    if bar.te is None:
        axis.annotate(
            "", (right, level + 0.17), xytext=(right - (right - left) * 0.02, level + 0.17),
            arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.4}, annotation_clip=False,
        )  # fmt: skip


def _x(tick: int, clock: Clock) -> float:
    """Days since the epoch, matplotlib's dates, or the integer itself."""
    return tick / 86_400_000_000 if clock.is_time else float(tick)


def _time_axis(axis: Axes, clock: Clock) -> None:
    """Times of day as clocks show them, the day beneath."""
    if not clock.is_time:
        return
    left, right = (round(at * 86_400_000_000) for at in axis.get_xlim())
    marks = time_marks(left, right, clock)
    axis.set_xticks([_x(tick, clock) for tick in marks.ticks], marks.labels)
    axis.set_xlabel(marks.beneath, fontsize=8, color=_GREY, loc="right")


def _darker(colour: str) -> str:
    """A shade dark enough for small text on white."""
    parts = (round(int(colour[i : i + 2], 16) * 0.72) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)
