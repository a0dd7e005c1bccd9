"""Draw the diagrams of docs/internals: `python tools/diagrams.py` writes them to docs/images as SVG.

Each has a light ground of its own, so that it reads the same on a light and on a dark page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

_GROUND, _INK, _QUIET = "#fbfbf7", "#1f2a30", "#5b6a72"
_PLAIN, _SHARED, _JVM, _PYTHON, _STORE = "#ffffff", "#cfe8e3", "#f6e3c5", "#d5e4f7", "#e4dcf3"
_LINE = 16  # pixels from one line of text to the next


@dataclass(frozen=True)
class Box:
    """Lines of text in a rectangle; the first may be bold."""

    x: int
    y: int
    width: int
    height: int
    lines: tuple[str, ...]
    fill: str = _PLAIN
    bold: bool = False

    def svg(self) -> Iterator[str]:
        yield (
            f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="5" '
            f'fill="{self.fill}" stroke="{_QUIET}" stroke-width="0.8"/>'
        )
        top = self.y + (self.height - _LINE * len(self.lines)) / 2 + 12
        for number, line in enumerate(self.lines):
            weight = ' font-weight="600"' if self.bold and number == 0 else ""
            yield text(self.x + self.width / 2, top + _LINE * number, line, anchor="middle", more=weight)


def text(x: float, y: float, words: str, *, anchor: str = "start", more: str = "", size: int = 12) -> str:
    """One line of text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}"{more}>{escape(words)}</text>'


def quiet(x: float, y: float, words: str, anchor: str = "start") -> str:
    """A line of text that explains."""
    return text(x, y, words, anchor=anchor, more=f' fill="{_QUIET}"', size=11)


def arrow(*points: tuple[float, float]) -> str:
    """A line along these points, with a head at its end."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{_INK}" stroke-width="1.2" marker-end="url(#head)"/>'
    )


def drawing(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A whole SVG."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif" fill="{_INK}">',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{_INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="8" fill="{_GROUND}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def carriers() -> str:
    """Four carriers side by side; what all share lies across them."""
    left, column, gap = 118, 186, 10
    across = 4 * column + 3 * gap
    names = ("in process", "push", "Spark batch", "Spark stream")
    rows: list[tuple[str, int, tuple[tuple[str, ...], ...]]] = [
        (
            "rows come",
            40,
            (
                ("as one table",),
                ("as batches", "or single events"),
                ("as splits of a table", "or of Parquet files"),
                ("as micro-batches",),
            ),
        ),
        (
            "brought together",
            56,
            (
                ("they are",),
                ("what is kept of their", "partitions is looked up"),
                ("whole or condensed,", "in packed pieces,", "by bucket"),
                ("whole,", "in packed pieces,", "by bucket"),
            ),
        ),
        (
            "waiting",
            56,
            (
                ("none: all is there",),
                ("until complete, where", "there is a watermark;", "advance(t), flush()"),
                ("none: all is there",),
                ("until Spark's watermark", "has passed them,", "in the state store"),
            ),
        ),
        (
            "late rows",
            40,
            (
                ("cannot be",),
                ("counted, and kept", "if asked for"),
                ("cannot be",),
                ("counted, and handed", "out if asked for"),
            ),
        ),
    ]
    below: list[tuple[str, int, tuple[tuple[str, ...], ...]]] = [
        (
            "kept",
            56,
            (
                ("nothing",),
                ("in memory, by segment;", "op.state() as bytes"),
                ("of the partition that", "goes on in the", "next block"),
                ("in cells of a bucket,", "in the state store", "and its checkpoint"),
            ),
        ),
        (
            "the user gets",
            40,
            (
                ("a table of the", "same kind"),
                ("an Arrow table", "from each push"),
                ("a DataFrame",),
                ("a streaming DataFrame,", "append"),
            ),
        ),
    ]
    parts: list[str] = []
    y = 34
    for i, name in enumerate(names):
        x = left + i * (column + gap) + column / 2
        parts.append(text(x, 24, name, anchor="middle", more=' font-weight="600"', size=13))

    def lines(some: list[tuple[str, int, tuple[tuple[str, ...], ...]]], y: int) -> int:
        for label, height, cells in some:
            parts.append(quiet(left - 12, y + height / 2 + 4, label, "end"))
            for i, cell in enumerate(cells):
                parts.extend(Box(left + i * (column + gap), y, column, height, cell).svg())
            y += height + gap
        return y

    def band(y: int, *words: str) -> int:
        parts.extend(Box(left, y, across, 46, words, _SHARED, bold=True).svg())
        parts.append(quiet(left - 12, y + 27, "shared", "end"))
        return y + 46 + gap

    y = lines(rows[:1], y)
    y = band(
        y,
        "read, as needs say: prepared rows",
        "WHERE, conditions to one mask, keys to codes, times to ticks; on Spark the JVM evaluates conditions",
    )
    y = lines(rows[1:], y)
    y = band(
        y,
        "step(kept, rows, complete): emitted, kept",
        "any operator, known by its contract alone; it also says what can be pruned, purged and forgotten",
    )
    y = lines(below[:1], y)
    y = band(
        y,
        "results: keys, and what the operator has emitted",
        "RETURN is evaluated by the operator; on Spark by the JVM, from endpoints and aggregates",
    )
    y = lines(below[1:], y)
    return drawing(left + across + 14, y + 4, "What the four carriers do, and what they share", parts)


def spark() -> str:
    """Batch and a micro-batch of a stream, each through the JVM and Python workers."""
    parts: list[str] = []
    for top, name in ((0, "Batch"), (300, "One micro-batch of a stream")):
        parts.append(text(16, top + 26, name, more=' font-weight="600"', size=13))
        parts.append(quiet(16, top + 74, "JVM"))
        parts.append(quiet(16, top + 204, "Python"))
        parts.append(quiet(16, top + 218, "workers"))
        parts.append(
            f'<line x1="16" y1="{top + 140}" x2="984" y2="{top + 140}" stroke="{_QUIET}" '
            'stroke-width="0.8" stroke-dasharray="4 4"/>'
        )

    def jvm(x: int, y: int, width: int, *lines: str) -> None:
        parts.extend(Box(x, y, width, 64, lines, _JVM, bold=True).svg())

    def python(x: int, y: int, width: int, *lines: str) -> None:
        parts.extend(Box(x, y, width, 64, lines, _PYTHON, bold=True).svg())

    def down(x: int, y: int, *words: str) -> None:
        parts.append(arrow((x, y + 106), (x, y + 174)))
        parts.extend(quiet(x + 8, y + 128 + 26 * i, word) for i, word in enumerate(words))

    def up(x: int, y: int, *words: str) -> None:
        parts.append(arrow((x, y + 176), (x, y + 108)))
        parts.extend(quiet(x + 8, y + 128 + 26 * i, word) for i, word in enumerate(words))

    y = 0
    jvm(84, y + 42, 178, "scan, one select", "WHERE, conditions to a", "mask; few columns")
    python(
        84,
        y + 176,
        240,
        "pack or condense",
        "shuffle: whole rows, packed;",
        "map-side: only what matters of them",
    )
    down(112, y, "Arrow: key, time,", "mask, attributes")
    up(304, y, "bucket int,", "data binary")
    jvm(284, y + 42, 170, "shuffle", "by bucket")
    python(410, y + 176, 190, "merge, sort, step", "by block, within", "a worker's limit")
    down(430, y, "packed", "pieces")
    jvm(540, y + 42, 180, "RETURN", "Spark evaluates the", "expressions of it")
    up(566, y, "keys, endpoints,", "aggregates")
    parts.append(arrow((720, y + 74), (754, y + 74)))
    parts.append(quiet(760, y + 78, "a DataFrame"))
    python(
        740,
        y + 176,
        238,
        "direct: match_parquet",
        "tasks read the files with Arrow;",
        "no row passes through the JVM",
    )
    parts.append(quiet(740, y + 256, "in place of scan and select; then condense,"))
    parts.append(quiet(740, y + 270, "shuffle and merge as on the left"))

    y = 300
    jvm(84, y + 42, 160, "source, one select", "as in batch")
    python(
        84, y + 176, 220, "pack by bucket", "all rows, whole; and a header,", "to be checked with the state"
    )
    down(108, y, "Arrow: key,", "time, mask, ...")
    up(284, y, "bucket int,", "data binary")
    jvm(266, y + 42, 136, "shuffle", "by bucket")
    store = ("state store", "RocksDB: head, cells,", "pieces, one timer")
    parts.extend(Box(432, y + 42, 150, 64, store, _STORE, bold=True).svg())
    python(
        366,
        y + 176,
        254,
        "stateful operator, once per bucket",
        "load the rows' cells, step, prune,",
        "purge, put the cells back",
    )
    down(382, y, "packed", "pieces")
    parts.append(arrow((490, y + 106), (490, y + 174)))
    parts.append(arrow((506, y + 176), (506, y + 108)))
    parts.append(quiet(514, y + 128, "values"))
    parts.append(quiet(514, y + 154, "as bytes"))
    jvm(640, y + 42, 118, "observe", "late, ignored,", "tied, matches")
    parts.append(arrow((606, y + 176), (606, y + 74), (638, y + 74)))
    parts.append(quiet(614, y + 128, "results,"))
    parts.append(quiet(614, y + 154, "packed"))
    python(690, y + 176, 118, "unpack", "results to rows")
    down(736, y, "results,", "packed")
    jvm(830, y + 42, 148, "RETURN, sink", "then the batch", "is committed")
    parts.append(arrow((808, y + 208), (904, y + 208), (904, y + 108)))
    parts.append(quiet(912, y + 154, "rows"))
    return drawing(1000, 580, "What runs in the JVM, what in Python workers, and what travels", parts)


def main(folder: Path) -> int:
    """Write every diagram."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in (("carriers", carriers()), ("spark", spark())):
        (folder / f"{name}.svg").write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images"))
