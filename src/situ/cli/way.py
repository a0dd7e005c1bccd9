"""Where a command runs: in process where local files fit in memory, on Spark otherwise, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from situ.cli.files import files_in, is_remote, shown
from situ.errors import OptionError
from situ.extras import has_spark, missing_spark
from situ.machine.memory import free_bytes

# Bytes of memory for a byte of a file: the values, and what is made of them on the way to matches.
_GROWTH = {"csv": 5, "json": 5, "parquet": 3}
_PACKED = {".gz": 6, ".bz2": 8}  # how much text such a file holds for each of its bytes
_SHARE = 0.5  # of the free memory: the rest is for matches and for other programs
_UNKNOWN_FREE = 2 << 30  # what is taken for free where no system tells


class Way(NamedTuple):
    """Where to run; `why` is None where the caller said so and need not be told."""

    on_spark: bool
    why: str | None


def way_of(args: argparse.Namespace, kind: str) -> Way:
    """Where to run on INPUT of this kind, by what was asked for, what it is, and how large."""
    asked = next((f"--{flag}" for flag in ("spark", "master", "strategy") if getattr(args, flag)), None)
    needs = _needs_spark(args, kind)
    if args.in_process:
        if args.spark or args.master:
            raise OptionError(f"--in-process and {asked} exclude each other.", hint="leave out one of them.")
        if needs:
            raise OptionError(f"--in-process is not possible: {needs}.", hint="leave out --in-process.")
        return Way(False, None)
    if asked or needs:
        if not has_spark():
            raise missing_spark(f"{needs or f'{asked} is for Spark'}, and PySpark is not installed.")
        return Way(True, None if asked else needs)
    if kind == "arrow":  # Spark reads no such files
        return Way(False, _small(args.inputs))
    return _by_size(args.inputs, kind)


def _needs_spark(args: argparse.Namespace, kind: str) -> str | None:
    if kind == "table":
        return f"{' '.join(args.inputs)} is no file, so it is taken for a Spark table"
    for name in (*args.inputs, getattr(args, "out", None)):
        if name is not None and is_remote(str(name)):
            return f"{name} is not on this machine"
    if getattr(args, "out", None) is not None and getattr(args, "output_format", None) == "table":
        return f"{args.out}: a table is written on Spark only"
    return None


def _by_size(inputs: Sequence[str], kind: str) -> Way:
    needed = memory_for(inputs, kind)
    free = free_bytes()
    most = int((_UNKNOWN_FREE if free is None else free) * _SHARE)
    if needed <= most:
        return Way(False, _small(inputs))
    names = ", ".join(map(shown, inputs))
    why = f"{names} would take about {size_text(needed)} of memory, more than half of what is free"
    if not has_spark():
        otherwise = "or give --in-process to try without"
        raise missing_spark(f"{why}, and PySpark is not installed.", otherwise)
    return Way(True, why)


def _small(inputs: Sequence[str]) -> str:
    return f"{size_text(_bytes_of(files_in(inputs)))} fit in memory"


def memory_for(inputs: Sequence[str], kind: str) -> int:
    """About how much memory it takes to match in these files."""
    files = list(files_in(inputs))
    if kind == "parquet":
        return _GROWTH[kind] * sum(map(_unpacked_parquet, files))
    return _GROWTH[kind] * sum(path.stat().st_size * _PACKED.get(path.suffix, 1) for path in files)


def _unpacked_parquet(path: Path) -> int:
    """What the footer tells of the values; repeated ones take room in memory that they do not in a file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = pq.read_metadata(path)
    except (pa.ArrowInvalid, OSError):
        return path.stat().st_size  # reading it says what is wrong with it
    in_file: int = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    in_cells: int = 8 * footer.num_rows * footer.num_columns
    return max(in_file, in_cells)


def _bytes_of(files: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def size_text(n_bytes: float) -> str:
    """A number of bytes for people.

    >>> size_text(940), size_text(38_400), size_text(12_345_678_901)
    ('940 bytes', '38.4 kB', '12.3 GB')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"
