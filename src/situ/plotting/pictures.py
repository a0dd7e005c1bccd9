"""What `situ.plot` returns: pictures that save and show themselves."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from situ.errors import OptionError
from situ.files import write_whole
from situ.plotting import figure, page
from situ.plotting.scene import Overview, Scene

_FRAME_WIDTH = "100%"


@dataclass(frozen=True)
class Picture:
    """One match, or all of them over time. In a notebook it shows itself."""

    content: Scene | Overview
    query: str = ""  # its text

    def png(self) -> bytes:
        """The picture as PNG (needs the extra `plot`)."""
        return figure.to_png(self._figure())

    def svg(self) -> str:
        """The picture as SVG text (needs the extra `plot`)."""
        return figure.to_svg(self._figure())

    def html(self) -> str:
        """A page of its own: interactive, one file, no network."""
        if isinstance(self.content, Scene):
            return page.page_of([self.content], None, self.content.title, self.query)
        return page.page_of([], self.content, self.content.title, self.query)

    def save(self, path: str | Path) -> Path:
        """Write the picture; the suffix says how: .png, .svg or .html."""
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix == ".png":
            write_whole(path, self.png())
        elif suffix == ".svg":
            write_whole(path, self.svg().encode())
        elif suffix == ".html":
            write_whole(path, self.html().encode())
        else:
            raise OptionError(
                f"{path.name} names no format of a picture", hint="end it in .png, .svg or .html"
            )
        return path

    def _figure(self) -> Any:
        if isinstance(self.content, Scene):
            return figure.scene_figure(self.content)
        return figure.overview_figure(self.content)

    def _repr_html_(self) -> str:
        height = page.height_of([self.content] if isinstance(self.content, Scene) else [], self.content)
        return _framed(self.html(), height)

    def _repr_png_(self) -> bytes | None:
        try:
            return self.png()
        except OptionError:  # without matplotlib the notebook has the HTML
            return None


@dataclass(frozen=True)
class Pictures(Sequence[Picture]):
    """The pictures of a query's matches and the overview of all; `n_matches` counts all there are."""

    title: str
    scenes: tuple[Scene, ...]
    all_matches: Overview | None
    n_matches: int
    query: str = ""  # its text

    def __len__(self) -> int:
        return len(self.scenes)

    def __getitem__(self, i: int) -> Picture:  # type: ignore[override]
        return Picture(self.scenes[i], self.query)

    def __iter__(self) -> Iterator[Picture]:
        return (Picture(scene, self.query) for scene in self.scenes)

    @property
    def overview(self) -> Picture:
        """All matches over time."""
        if self.all_matches is None:
            raise OptionError(
                "there is no match to show", hint="situ.why(events, query) tells what is missing"
            )
        return Picture(self.all_matches, self.query)

    def html(self) -> str:
        """The overview and every match on one interactive page: one file, no network."""
        return page.page_of(self.scenes, self.all_matches, self.title, self.query)

    def save(self, folder: str | Path, formats: Sequence[str] | None = None) -> list[Path]:
        """Write a page (`index.html`) and a file for each picture to a folder; the files written.

        `formats` are of html, png and svg; by default html, and png where matplotlib is installed.
        """
        folder = Path(folder)
        formats = formats or (("html", "png") if figure.is_available() else ("html",))
        unknown = set(formats) - {"html", "png", "svg"}
        if unknown:
            raise OptionError(
                f"{', '.join(sorted(unknown))}: no format of a picture", hint="take html, png or svg"
            )
        written = []
        if "html" in formats:
            written.append(folder / "index.html")
            write_whole(written[0], self.html().encode())
        for kind in (kind for kind in formats if kind != "html"):
            if self.all_matches is not None:
                written.append(self.overview.save(folder / f"overview.{kind}"))
            for i, picture in enumerate(self, 1):
                written.append(picture.save(folder / f"match-{i}.{kind}"))
        return written

    def __repr__(self) -> str:
        if not self.n_matches:
            return "no match to show; situ.why(events, query) tells what is missing"
        return f"{len(self):,} of {self.n_matches:,} matches pictured; save(folder) writes them, [i] is one"

    def _repr_html_(self) -> str:
        return _framed(self.html(), page.height_of(self.scenes, self.all_matches))


def _framed(document: str, height: int) -> str:
    """In a frame of its own, so that neither the notebook's style nor the page's leaks into the other."""
    return (
        f'<iframe srcdoc="{html.escape(document, quote=True)}" '
        f'style="width:{_FRAME_WIDTH};height:{min(height, 900)}px;border:0" loading="lazy"></iframe>'
    )
