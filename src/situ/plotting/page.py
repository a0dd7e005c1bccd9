"""Scenes as one interactive HTML file that needs no network: data, style and script are inside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from situ.plotting.scene import Overview, Scene

_CURVE, _ROWS, _LEVEL, _FRAME = 110, 190, 30, 130  # pixels, as in page.js


def page_of(scenes: Sequence[Scene], overview: Overview | None, title: str, query: str = "") -> str:
    """The whole page; `query` is the text of the query."""
    data: dict[str, Any] = {
        "scenes": [scene.to_data() for scene in scenes],
        "overview": None if overview is None else overview.to_data(),
    }
    # `<` could end the script element early; inside a string JSON allows it written as an escape.
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    here = files("situ.plotting")
    style = here.joinpath("page.css").read_text(encoding="utf-8")
    script = here.joinpath("page.js").read_text(encoding="utf-8")
    paragraphs = (
        f"<details open><summary>query</summary><pre>{escape(query)}</pre></details>" if query else ""
    )
    if not scenes and overview is None:
        paragraphs += "<p>No match. situ.why(events, query) tells what is missing.</p>"
    return (
        "<!doctype html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><h1>{escape(title)}</h1>{paragraphs}"
        f'<main></main><script type="application/json" id="data">{text}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def height_of(scenes: Sequence[Scene], overview: object) -> int:
    """About how many pixels the page is high."""
    height = 240 if not isinstance(overview, Overview) else 440 + 18 * len(overview.rows)
    for scene in scenes:
        height += _FRAME + _LEVEL * sum(lane.n_levels for lane in scene.lanes)
        height += sum(_CURVE if curve.is_stepped else _ROWS for curve in scene.curves)
    return height
