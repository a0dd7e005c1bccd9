"""Draw the timelines of docs/concepts: `python tools/timelines.py` writes them to docs/images as SVG.

They are narrow, to be read on a phone too, and have a light ground of their own, as the diagrams do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagrams import ROOT, drawing, text

_LEFT, _RIGHT, _WIDTH = 92, 424, 440  # where time begins and ends, and the whole picture
_TOP, _ROW, _BAR = 30, 28, 16  # the first row, from one row to the next, the height of a bar
_LAST = 40.0  # time runs from 0 to this
_INK, _QUIET, _ALERT = "#1f2a30", "#5b6a72", "#b3261e"
_THERE, _ABSENT, _OTHER = "#8fcfc3", "#f3b98a", "#dfe4e2"


def _x(time: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * time / _LAST, 1)


@dataclass(frozen=True)
class Bar:
    """A situation; what is open has no right border."""

    begin: float
    end: float
    fill: str = _THERE
    words: str = ""
    is_open: bool = False

    def svg(self, y: float) -> Iterator[str]:
        left, right = _x(self.begin), _x(self.end)
        line = f'stroke="{_INK}" stroke-width="1"'
        yield f'<rect x="{left}" y="{y}" width="{right - left:g}" height="{_BAR}" fill="{self.fill}"/>'
        over, under = y, y + _BAR
        path = f"M{right},{over} L{left},{over} L{left},{under} L{right},{under}"
        yield f'<path d="{path}{"" if self.is_open else " Z"}" fill="none" {line}/>'
        if self.words:
            yield text((left + right) / 2, y + 12, self.words, anchor="middle", size=12)


@dataclass(frozen=True)
class Dots:
    """Events."""

    times: tuple[float, ...]
    fill: str = _INK

    def svg(self, y: float) -> Iterator[str]:
        for time in self.times:
            yield f'<circle cx="{_x(time)}" cy="{y + _BAR / 2:g}" r="3.5" fill="{self.fill}"/>'


@dataclass(frozen=True)
class Span:
    """A length, with what it is."""

    begin: float
    end: float
    words: str

    def svg(self, y: float) -> Iterator[str]:
        left, right, middle = _x(self.begin), _x(self.end), y + _BAR - 1
        for at in (left, right):
            yield f'<path d="M{at},{middle - 4:g} V{middle + 4:g}" stroke="{_QUIET}" stroke-width="1.2"/>'
        yield f'<path d="M{left},{middle:g} H{right}" stroke="{_QUIET}" stroke-width="1.2"/>'
        yield text((left + right) / 2, y + 8, self.words, anchor="middle", more=f' fill="{_QUIET}"', size=12)


@dataclass(frozen=True)
class Row:
    """One line of a timeline."""

    label: str
    parts: tuple[Bar | Dots | Span, ...]


@dataclass(frozen=True)
class Mark:
    """An instant through all rows; the reported match unless it is quiet."""

    time: float
    words: str
    anchor: str = "middle"
    is_quiet: bool = False


def timeline(title: str, rows: Sequence[Row], marks: Sequence[Mark] = ()) -> str:
    """A picture of some rows, with marks named above them."""
    parts: list[str] = []
    bottom = _TOP + _ROW * len(rows)
    for mark in marks:
        colour = _QUIET if mark.is_quiet else _ALERT
        line = f'stroke="{colour}" stroke-width="1.3" stroke-dasharray="4 3"'
        parts.append(f'<path d="M{_x(mark.time)},24 V{bottom}" fill="none" {line}/>')
        parts.append(
            text(_x(mark.time), 18, mark.words, anchor=mark.anchor, more=f' fill="{colour}"', size=12)
        )
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number + 4
        parts.append(text(_LEFT - 10, y + 12, row.label, anchor="end", size=13))
        for part in row.parts:
            parts.extend(part.svg(y))
    return drawing(_WIDTH, bottom + 10, title, parts)


def no_while() -> str:
    return timeline(
        "hot twice: while the first cooling comes, while the second none; reported at its end",
        [
            Row("hot", (Bar(3, 15, words="no match"), Bar(22, 35, words="match"))),
            Row("cooling", (Bar(8, 18, _ABSENT), Bar(37, 40, _ABSENT, is_open=True))),
        ],
        [Mark(35, "reported")],
    )


def no_early() -> str:
    return timeline(
        "hot, and no cooling has begun five minutes later; reported then, though hot goes on",
        [
            Row("hot", (Bar(4, 40, words="match", is_open=True),)),
            Row("", (Span(4, 20, "5 minutes"),)),
            Row("cooling", (Bar(28, 40, _ABSENT, words="too late", is_open=True),)),
        ],
        [Mark(20, "reported")],
    )


def no_between() -> str:
    return timeline(
        "open before alarm, twice; the guard comes between the first two, and not between the others",
        [
            Row("open", (Bar(1, 6), Bar(22, 28))),
            Row("alarm", (Bar(14, 18, words="no"), Bar(34, 40, words="match", is_open=True))),
            Row("guard", (Bar(8, 12, _ABSENT),)),
        ],
        [Mark(34, "reported")],
    )


def deadline() -> str:
    return timeline(
        "hot ends, an hour passes, and no inspection has begun: reported when the hour is over",
        [
            Row("hot", (Bar(2, 10, words="match"),)),
            Row("", (Span(10, 28, "1 hour"),)),
            Row("inspected", (Bar(33, 38, _ABSENT, words="late"),)),
            Row("events", (Dots((2, 4, 6, 8, 10, 33, 35, 38)),)),
        ],
        [Mark(28, "reported")],
    )


def silence() -> str:
    return timeline(
        "events, then none: the silence begins at the last event, and is reported when it is long enough",
        [
            Row("events", (Dots((2, 5, 8, 11, 34, 37)),)),
            Row("silence", (Bar(11, 34, words=""),)),
            Row("", (Span(11, 26, "10 minutes"),)),
        ],
        [Mark(26, "reported")],
    )


def clock() -> str:
    return timeline(
        "sensor a falls silent; events of b move the watermark past the instant, and the alert comes",
        [
            Row("a", (Bar(8, 38, words="silence", is_open=True), Dots((2, 5, 8)))),
            Row("b", (Dots((3, 7, 11, 15, 19, 23, 27, 31, 35)),)),
            Row("", (Span(8, 22, "10 minutes"), Span(22, 31, "delay"))),
        ],
        [Mark(22, "match_time"), Mark(31, "sent", is_quiet=True)],
    )


def gaps() -> str:
    return timeline(
        "three runs; the gap between the first two is short, the one behind the second is not",
        [
            Row("events", (Dots((2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38)),)),
            Row("condition", (Bar(2, 8), Bar(11, 20), Bar(35, 40, is_open=True))),
            Row("situations", (Bar(2, 20), Bar(35, 40, is_open=True))),
            Row("", (Span(8, 11, "short"), Span(20, 26, "5 seconds"))),
        ],
        [Mark(29, "the end is known", "middle", is_quiet=True)],
    )


def distances() -> str:
    return timeline(
        "the gap between A and a later B; what A and B share where they overlap",
        [
            Row("A", (Bar(2, 8), Bar(21, 32))),
            Row("", (Span(8, 15, "gap"), Span(27, 32, "shared"))),
            Row("B", (Bar(15, 19), Bar(27, 39))),
        ],
    )


_THIRTEEN = (
    ("before", 2, 9),
    ("meets", 4, 14),
    ("overlaps", 7, 20),
    ("finished-by", 8, 26),
    ("contains", 9, 31),
    ("starts", 14, 20),
    ("equals", 14, 26),
    ("started-by", 14, 32),
    ("during", 17, 23),
    ("finishes", 20, 26),
    ("overlapped-by", 20, 33),
    ("met-by", 26, 36),
    ("after", 31, 38),
)


def word(name: str, members: Sequence[str]) -> str:
    """A word of the language: B, and the A's that stand to it as the word says."""
    parts = [
        f'<rect x="{_x(14)}" y="8" width="{_x(26) - _x(14):g}" height="{26 + 16 * 13}" fill="#eef3f1"/>',
        text(_LEFT + 6, 21, "B", anchor="end", size=13),
        *Bar(14, 26, _OTHER).svg(9),
    ]
    for number, (relation, begin, end) in enumerate(_THIRTEEN):
        y, is_in = 32 + 16 * number, relation in members
        colour = _INK if is_in else "#8b979d"
        weight = ' font-weight="600"' if is_in else ""
        parts.append(
            text(_LEFT + 6, y + 9, relation, anchor="end", more=f' fill="{colour}"{weight}', size=12)
        )
        left, width = _x(begin), _x(end) - _x(begin)
        fill, edge = (_THERE, _INK) if is_in else ("none", "#b3bdc1")
        parts.append(
            f'<rect x="{left}" y="{y}" width="{width:g}" height="9" fill="{fill}" stroke="{edge}" '
            f'stroke-width="{1 if is_in else 0.8}"/>'
        )
    return drawing(_WIDTH, 32 + 16 * 13 + 6, f"A {name} B: {', '.join(members)}", parts)


_INSIDE = ("during", "starts", "finishes", "equals")
_APART = ("before", "meets", "met-by", "after")


def pictures() -> dict[str, str]:
    """Every picture by its name."""
    return {
        "no-while": no_while(),
        "no-early": no_early(),
        "no-between": no_between(),
        "no-deadline": deadline(),
        "silence": silence(),
        "silence-clock": clock(),
        "gaps": gaps(),
        "distances": distances(),
        "word-while": word("while", [name for name, *_ in _THIRTEEN if name not in _APART]),
        "word-inside": word("inside", _INSIDE),
        "word-covers": word("covers", ("contains", "started-by", "finished-by", "equals")),
        "word-apart-from": word("apart from", _APART),
    }


def main(folder: Path) -> int:
    """Write every timeline."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures().items():
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"))
