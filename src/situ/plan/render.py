"""Titled sections of lines and tables, as plain text, for a terminal (rich) and as HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group

_CELL_WIDTH = 44
_LINE_WIDTH = 100


@dataclass(frozen=True)
class Table:
    """Column names and rows of text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A title, sentences, and a table under them."""

    title: str
    lines: tuple[str, ...] = ()
    table: Table | None = None

    def __str__(self) -> str:
        return to_text((self,))


class Shown:
    """What consists of sections: print it, or show it in a notebook."""

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts in reading order; empty ones are left out."""
        raise NotImplementedError

    def __str__(self) -> str:
        return to_text(self.sections)

    def __repr__(self) -> str:
        return str(self)  # what a REPL shows

    def __rich__(self) -> Group:
        return to_rich(self.sections)

    def _repr_html_(self) -> str:
        return to_html(self.sections)


def to_text(sections: Iterable[Section]) -> str:
    """Plain text, columns aligned, long cells wrapped."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in sections)


def _section_lines(section: Section) -> list[str]:
    lines = [section.title]
    for line in section.lines:
        lines += textwrap.wrap(
            line, _LINE_WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
    if section.table is not None:
        lines += [f"  {line}" for line in table_lines(section.table)]
    return lines


def table_lines(table: Table) -> list[str]:
    """A table as plain text, a line under its column names."""
    rows = [tuple(_cell_lines(cell) for cell in row) for row in table.rows]
    header = tuple([name] for name in table.columns)
    widths = [max(len(line) for row in (header, *rows) for line in row[i]) for i in range(len(table.columns))]
    lines = [*_row_lines(header, widths), "  ".join("-" * width for width in widths)]
    for row in rows:
        lines += _row_lines(row, widths)
    return lines


def _cell_lines(cell: str) -> list[str]:
    return textwrap.wrap(cell, _CELL_WIDTH, break_on_hyphens=False) or [""]


def _row_lines(row: tuple[list[str], ...], widths: list[int]) -> list[str]:
    height = max(len(cell) for cell in row)
    lines = []
    for i in range(height):
        parts = [
            (cell[i] if i < len(cell) else "").ljust(width) for cell, width in zip(row, widths, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return lines


def to_rich(sections: Iterable[Section]) -> Group:
    """For `rich.print`; cells are plain text, so brackets in a condition are not taken for markup."""
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    parts: list[Text | RichTable] = []
    for section in sections:
        if parts:
            parts.append(Text(""))
        parts.append(Text(section.title, style="bold"))
        parts += [Text(f"  {line}") for line in section.lines]
        if section.table is not None:
            grid = RichTable(box=None, header_style="dim", padding=(0, 2, 0, 2))
            for name in section.table.columns:
                grid.add_column(Text(name), overflow="fold")
            for row in section.table.rows:
                grid.add_row(*(Text(cell) for cell in row))
            parts.append(grid)
    return Group(*parts)


def to_html(sections: Iterable[Section]) -> str:
    """For a notebook; everything is escaped."""
    return '<div class="situ-explain">' + "".join(_section_html(section) for section in sections) + "</div>"


def _section_html(section: Section) -> str:
    html = f"<h4>{escape(section.title)}</h4>"
    html += "".join(f"<p>{escape(line)}</p>" for line in section.lines)
    if section.table is not None:
        head = "".join(f"<th>{escape(name)}</th>" for name in section.table.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in section.table.rows
        )
        html += f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return html
