"""Files that INPUT stands for: of folders, from standard input, and what they hold."""

from __future__ import annotations

import re
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from situ.errors import DataError, OptionError

FORMATS = ("parquet", "csv", "json", "arrow", "table")
SUFFIXES = {
    "parquet": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
}
STDIN = "-"
_STDIN_FOLDER = "situ-stdin-"
_TABLE_NAME = re.compile(r"\w+(\.\w+){0,2}")
_MOST_TO_SNIFF = 4096


def is_remote(name: str) -> bool:
    """Is this the address of something that only Spark can reach?"""
    return "://" in name


def files_in(inputs: Iterable[str]) -> Iterator[Path]:
    """The files, and those in folders that are neither hidden nor Spark's own."""
    for name in inputs:
        path = Path(name)
        if not path.is_dir():
            yield path
            continue
        for one in sorted(path.rglob("*")):
            is_hidden = any(part.startswith(("_", ".")) for part in one.relative_to(path).parts)
            if not is_hidden and one.is_file():
                yield one


def check_exists(inputs: Iterable[str]) -> None:
    """Say which path is wrong, and which folder has nothing in it."""
    for name in inputs:
        if is_remote(name):
            continue
        if not Path(name).exists():
            raise OptionError(f"there is no file or folder {name}.", hint="check the path.")
        if Path(name).is_dir() and next(files_in([name]), None) is None:
            raise OptionError(f"there are no files in the folder {name}.", hint="check the path.")


def format_of(inputs: Iterable[str]) -> str:
    """What all the inputs are, told by their names."""
    kinds = {_format_of_one(name) for name in inputs}
    if len(kinds) == 1:
        return kinds.pop()
    raise OptionError(
        f"the inputs are of several formats: {', '.join(sorted(kinds))}.",
        hint="read inputs of one format, or say which with --format.",
    )


def _format_of_one(name: str) -> str:
    path = Path(name)
    for candidate in files_in([name]):
        for suffix in reversed(candidate.suffixes):
            if suffix[1:].lower() in SUFFIXES:
                return SUFFIXES[suffix[1:].lower()]
    if is_remote(name):  # nobody has looked there yet; most of what lies there is
        return "parquet"
    if path.exists():
        check_exists([name])
        raise OptionError(
            f"{name} does not say what it holds.", hint=f"name its --format: {', '.join(FORMATS[:-1])}."
        )
    if _TABLE_NAME.fullmatch(name):
        return "table"
    raise OptionError(f"there is no file or folder {name}.", hint="check the path.")


def from_stdin(kind: str | None) -> tuple[str, str]:
    """Standard input as a file of its own, and what it holds: as told, or seen from its first bytes.

    A file, because Spark reads nothing else, and because an error is told with the line it is in.
    """
    if kind == "table":
        raise OptionError("standard input is no Spark table.", hint="leave out --format, or name the table.")
    if sys.stdin is None:
        raise DataError("standard input is closed.", hint="send rows to it, or name a file.")
    stream = sys.stdin.buffer
    if stream.isatty():
        raise OptionError(
            "standard input is a terminal, which has no rows.",
            hint="send a file to it: situ run QUERY - < data.csv",
        )
    try:
        first = stream.read(_MOST_TO_SNIFF)
        if not first:
            raise DataError("standard input is empty.", hint="send rows to it, or name a file.")
        kind = kind or _sniffed(first)
        folder = Path(tempfile.mkdtemp(prefix=_STDIN_FOLDER))
        path = folder / f"stdin.{kind}{'.gz' if _is_gzip(first) else ''}"
        with path.open("wb") as file:
            file.write(first)
            while block := stream.read(1 << 20):
                file.write(block)
    except OSError as error:
        raise DataError(
            f"standard input cannot be read: {error.strerror}.", hint="name a file instead."
        ) from error
    return str(path), kind


def forget_stdin(inputs: Iterable[str]) -> None:
    """Remove what `from_stdin` wrote."""
    for name in inputs:
        if is_stdin(name):
            Path(name).unlink(missing_ok=True)
            Path(name).parent.rmdir()


def is_stdin(path: str | Path) -> bool:
    """Is this the file that standard input was written to?"""
    return Path(path).parent.name.startswith(_STDIN_FOLDER)


def shown(path: str | Path) -> str:
    """A path as messages name it."""
    return "standard input" if is_stdin(path) else str(path)


def _sniffed(first: bytes) -> str:
    """What begins so: Parquet and Arrow have marks, JSON its brace, and the rest is taken for CSV."""
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    if _is_gzip(first):
        with suppress(zlib.error):  # then reading it says what is wrong
            first = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(first, 64)
    return "json" if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "csv"


def _is_gzip(first: bytes) -> bool:
    return first.startswith(b"\x1f\x8b")
