"""What is said of text files that cannot be read: which line it is, and why."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from situ.cli.files import shown
from situ.cli.time_format import TimePattern
from situ.errors import DataError, OptionError

_DROP = "mend the line, or leave such rows out with --on-bad-rows drop, which counts them."
_JSON_LINES = "JSON is read as one object a line; --on-bad-rows drop leaves out the others, and counts them."

NO_TIME = "the time column {} holds text that is not a time{}, for example "
NO_TIME_HINT = (
    "write times as 2024-01-31 06:00:00 or 2024-01-31T06:00:00Z (ISO 8601) or as whole numbers, or say how "
    "they are written: --time-format '%d.%m.%Y %H:%M'; --on-bad-rows drop leaves out rows with others, and "
    "counts them."
)


def no_time_said(name: str, pattern: TimePattern | None) -> str:
    """What is said of a time column with text that is not a time, up to the example."""
    return NO_TIME.format(name, f" written as {pattern.name}" if pattern else "")


def no_time(name: str, example: str, pattern: TimePattern | None = None) -> DataError:
    """The error to raise for a time column with text that is not a time."""
    return DataError(f"{no_time_said(name, pattern)}{example}", hint=NO_TIME_HINT)


def no_text(name: str, kind: str) -> OptionError:
    """The error to raise where --time-format is given for a column that is no text."""
    return OptionError(
        f"--time-format says how times are written in text, and the time column {name} has the type {kind}.",
        hint="leave out --time-format.",
    )


def no_rows(inputs: Sequence[str]) -> DataError:
    """The error to raise where text files have no rows: their columns then have no types."""
    return DataError(f"there are no rows in {', '.join(map(shown, inputs))}.", hint="give a file with rows.")


def not_utf8(path: Path, column: str) -> DataError:
    """The error to raise for a file of text in another encoding."""
    return DataError(
        f"{shown(path)} is not text in UTF-8: column {column} has other bytes.",
        hint="convert the file, say with: iconv -f latin1 -t utf-8",
    )


def unreadable_row(path: str | Path, kind: str, said: str = "") -> DataError:
    """The error to raise for the first row of a file that cannot be read; `said` is what is known of it.

    The line is looked for only here, once it is known that there is one.
    """
    try:
        found = _ragged(Path(path)) if kind == "csv" else _no_object(Path(path))
    except (OSError, UnicodeDecodeError, csv.Error):
        found = None  # not here, or not text: what is known has to do
    if found is not None:
        line, said = found
        said = f"line {line}: {said}"
    return DataError(
        f"{shown(path)} cannot be read as {kind}{f', {said}' if said else ''}.",
        hint=_DROP if kind == "csv" else _JSON_LINES,
    )


def _ragged(path: Path) -> tuple[int, str] | None:
    """The first line with more or fewer values than the header."""
    with _text(path) as lines:
        rows = csv.reader(lines)
        width = len(next(rows, []))
        for row in rows:
            if row and len(row) != width:
                return rows.line_num, f"{_values(len(row))} where the header names {width}"
    return None


def _no_object(path: Path) -> tuple[int, str] | None:
    """The first line that is no JSON object."""
    with _text(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                is_object = not line.strip() or isinstance(json.loads(line), dict)
            except ValueError:
                is_object = False
            if not is_object:
                return number, f"{line.strip()[:40]!r} is no JSON object"
    return None


def _text(path: Path) -> io.TextIOWrapper:
    """The text of a file, also of one that is packed, with its line ends as they are."""
    import pyarrow as pa

    return io.TextIOWrapper(pa.input_stream(str(path)), encoding="utf-8", newline="")


def _values(n: int) -> str:
    return "1 value" if n == 1 else f"{n} values"
