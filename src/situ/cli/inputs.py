"""What the commands that read data share: where it is, how it is read, and the options of a run."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situ.cli.common import add_query_argument, read_query
from situ.errors import OptionError

if TYPE_CHECKING:
    from situ.language.situations.ast import Query

FORMATS = ("parquet", "csv", "json", "table")
_SUFFIXES = {
    "parquet": "parquet",
    "pq": "parquet",
    "csv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
}
_RUN_OPTIONS = (
    "time",
    "time_unit",
    "ties",
    "on_bad_rows",
    "join",
    "strategy",
    "forget_after",
    "points",
    "ansi",
    "time_zone",
)
_TABLE_NAME = re.compile(r"\w+(\.\w+){0,2}")


def add_query_and_input(parser: argparse.ArgumentParser) -> None:
    """Add QUERY, INPUT and the options of a run, the same for every command."""
    add_query_argument(parser)
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        default=[],
        help="parquet, CSV or JSON files, folders of them, or the name of one Spark table",
    )
    parser.add_argument(
        "--input",
        dest="named_inputs",
        nargs="+",
        default=[],
        metavar="INPUT",
        help="INPUT, as a named argument",
    )
    reading = parser.add_argument_group("reading")
    reading.add_argument("--format", choices=FORMATS, help="what INPUT is (default: told by its name)")
    reading.add_argument(
        "--in-process",
        action="store_true",
        help="read and run without Spark: quicker for data that fits in memory",
    )
    meaning = parser.add_argument_group("options of the run, as in situ.match")
    meaning.add_argument("--time", metavar="COLUMN", help="the time column, where ORDER BY names none")
    meaning.add_argument(
        "--time-unit",
        choices=("days", "hours", "minutes", "seconds", "milliseconds", "microseconds"),
        help="what a time column of numbers counts",
    )
    meaning.add_argument(
        "--ties", choices=("warn", "last", "error"), help="rows of equal time (default: warn)"
    )
    meaning.add_argument(
        "--on-bad-rows",
        choices=("error", "drop"),
        help="rows that cannot be read or have no time (default: error)",
    )
    meaning.add_argument("--join", choices=("auto", "range", "pair"), help="how to join (default: auto)")
    meaning.add_argument(
        "--strategy", choices=("auto", "shuffle", "map-side"), help="where Spark derives (default: auto)"
    )
    meaning.add_argument("--forget-after", metavar="DURATION", help="a longer silence begins a new history")
    meaning.add_argument("--points", choices=("error", "widen"), help="given intervals with ts = te")
    meaning.add_argument(
        "--time-zone", metavar="ZONE", help="of times in conditions, text and pictures (default: UTC)"
    )
    meaning.add_argument(
        "--no-ansi",
        dest="ansi",
        action="store_false",
        default=None,
        help="null instead of an error for overflow, division by zero and bad casts",
    )


def put_inputs_together(args: argparse.Namespace, *, required: bool = True) -> None:
    """INPUT and --input are one list from here on."""
    args.inputs = [*args.inputs, *args.named_inputs]
    if required and not args.inputs:
        raise OptionError("there is nothing to read.", hint="name files, folders or a table as INPUT.")


def parsed_query(args: argparse.Namespace) -> Query:
    """The query that the QUERY argument stands for."""
    from situ.language import query

    return query(read_query(args))


def run_options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of a run that were given; on Spark the session carries ANSI mode and time zone."""
    given = {name: getattr(args, name) for name in _RUN_OPTIONS if getattr(args, name) is not None}
    if not args.in_process:
        given.pop("ansi", None)
        given.pop("time_zone", None)
    return given


def read_input(args: argparse.Namespace, query: Query) -> Any:
    """The INPUT as a Spark DataFrame, or as an Arrow table with --in-process."""
    kind = args.format or format_of(args.inputs)
    if kind == "table":
        if len(args.inputs) > 1 or args.in_process:
            raise OptionError(
                f"INPUT {' '.join(args.inputs)!r} is no file, and of Spark tables one can be read, on Spark.",
                hint="check the path if a file was meant; leave out --in-process for a table.",
            )
    else:
        _check_exists(args.inputs)
    return _read_in_process(args, kind, query) if args.in_process else _read_on_spark(args, kind, query)


def _times_of(args: argparse.Namespace, query: Query) -> list[str]:
    """The columns that hold times, as far as the query and its options tell."""
    return [name for name in query.times or (args.time,) if name is not None]


def format_of(inputs: list[str]) -> str:
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
    candidates = [path]
    if path.is_dir():
        candidates = sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith(("_", ".")))
    for candidate in candidates:
        for suffix in reversed(candidate.suffixes):
            if suffix[1:].lower() in _SUFFIXES:
                return _SUFFIXES[suffix[1:].lower()]
    if path.exists():
        raise OptionError(f"{name} does not say what it holds.", hint="name its --format, say csv.")
    if _TABLE_NAME.fullmatch(name):
        return "table"
    raise OptionError(f"there is no file or folder {name}.", hint="check the path.")


def _check_exists(inputs: list[str]) -> None:
    for name in inputs:
        is_remote = "://" in name
        if not is_remote and not Path(name).exists():
            raise OptionError(f"there is no file or folder {name}.", hint="check the path.")


def for_spark(path: str | Path) -> str:
    """A path as Spark takes it: it reads some characters of a name as a pattern of names."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path))


def _read_on_spark(args: argparse.Namespace, kind: str, query: Query) -> Any:
    from situ.cli.session import local_spark
    from situ.cli.text_on_spark import read_text

    settings: dict[str, Any] = {"spark__sql__ansi__enabled": "false"} if args.ansi is False else {}
    if args.time_zone is not None:
        settings["spark__sql__session__timeZone"] = args.time_zone
    master = getattr(args, "master", None)
    spark = local_spark(f"situ {args.command.__name__.rpartition('.')[2]}", master=master, **settings)
    if kind == "table":
        return spark.table(args.inputs[0])
    paths = [for_spark(name) for name in args.inputs]
    if kind == "parquet":
        return spark.read.parquet(*paths)
    drop = args.on_bad_rows == "drop"
    return read_text(spark, kind, paths, times=_times_of(args, query), drop=drop)


def _read_in_process(args: argparse.Namespace, kind: str, query: Query) -> Any:
    from situ.cli.common import counted, note
    from situ.cli.local_files import read_files
    from situ.expressions.zones import zone_of

    remote = [name for name in args.inputs if "://" in name]
    if remote:
        raise OptionError(f"{remote[0]} is not on this machine.", hint="leave out --in-process.")
    zone = args.time_zone or "UTC"
    zone_of(zone)  # a wrong one is refused before anything is read
    read = read_files(
        kind,
        args.inputs,
        times=_times_of(args, query),
        time_zone=zone,
        drop=args.on_bad_rows == "drop",
    )
    if read.n_left_out:
        note(f"{counted(read.n_left_out, 'row')} that could not be read left out.")
    return read.table
