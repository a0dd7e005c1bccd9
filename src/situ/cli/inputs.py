"""What the commands that read data share: where it is, how it is read and where, and the options of a run."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from situ.cli.common import add_query_argument, counted, note, time_value
from situ.cli.files import FORMATS, STDIN, check_exists, format_of, from_stdin
from situ.cli.way import Way, way_of
from situ.errors import OptionError, SourceError, UnsupportedExpressionError
from situ.extras import has_spark

if TYPE_CHECKING:
    from situ.cli.local_files import Wanted
    from situ.language.situations.ast import Query

_RUN_OPTIONS = (
    "time",
    "time_unit",
    "ties",
    "on_bad_rows",
    "join",
    "strategy",
    "forget_after",
    "until",
    "points",
    "ansi",
    "time_zone",
)
_OF_THE_SESSION = ("ansi", "time_zone")  # on Spark
_TIME_UNITS = ("days", "hours", "minutes", "seconds", "milliseconds", "microseconds")
Answer = TypeVar("Answer")


def add_query_and_input(parser: argparse.ArgumentParser) -> None:
    """Add QUERY, INPUT and the options of a run, the same for every command."""
    add_query_argument(parser)
    parser.add_argument(
        "inputs",
        metavar="INPUT",
        nargs="*",
        default=[],
        help="parquet, CSV, JSON or Arrow files, folders of them, - for stdin, or the name of a Spark table; "
        "of several sources each as NAME=INPUT",
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
        "--time-format",
        metavar="FORMAT",
        help="how times are written in text, as in '%%d.%%m.%%Y %%H:%%M' (default: ISO 8601)",
    )
    where = parser.add_argument_group(
        "where it runs (default: in process, if INPUT is files that fit in memory)"
    )
    where.add_argument("--in-process", action="store_true", help="read and run without Spark")
    where.add_argument("--spark", action="store_true", help="read and run on Spark")
    where.add_argument(
        "--master", help="where Spark runs: local[N], spark://host:7077, yarn (default: local[*])"
    )
    where.add_argument(
        "--quiet", action="store_true", help="do not say where it runs and how times were read"
    )
    meaning = parser.add_argument_group("options of the run, as in situ.match")
    meaning.add_argument("--time", metavar="COLUMN", help="the time column, where ORDER BY names none")
    meaning.add_argument("--time-unit", choices=_TIME_UNITS, help="what a time column of numbers counts")
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
        "--strategy",
        choices=("auto", "direct", "map-side", "shuffle"),
        help="where Spark derives (default: auto)",
    )
    meaning.add_argument("--forget-after", metavar="DURATION", help="a longer silence begins a new history")
    meaning.add_argument(
        "--until",
        type=time_value,
        metavar="TIME",
        help="report what falls between events up to this time (default: the last row's)",
    )
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
    given = [name.rpartition("=")[2] if name.endswith(f"={STDIN}") else name for name in args.inputs]
    if STDIN in given and args.query == STDIN:
        raise OptionError(
            "QUERY and INPUT are both -, and standard input can be only one of them.",
            hint="write the query in quotes, or to a file.",
        )
    if given.count(STDIN) > 1:
        raise OptionError("INPUT names standard input twice.", hint="give - once.")


def ask_input(
    args: argparse.Namespace, query: Query, what: str, ask: Callable[[Any, dict[str, Any]], Answer]
) -> Answer:
    """What `ask` answers to the rows of INPUT and the options of the run; `what` it does is shown meanwhile.

    The rows are an Arrow table, or a Spark DataFrame: where `way_of` says so, and where an expression is
    one that only Spark evaluates.
    """
    inputs = _by_source(args, query)
    way = _way(args, inputs)
    if not way.on_spark:
        try:
            return _asked(_read(inputs, _read_in_process), _options(args), what, ask)
        except UnsupportedExpressionError as error:
            _check_spark_can(args, error)
            _say(args, Way(True, error.message.rstrip(".")))
            for one in inputs.values():
                one.args.quiet = True  # how times are read was said
    options = {name: value for name, value in _options(args).items() if name not in _OF_THE_SESSION}
    return _asked(_read(inputs, _read_on_spark), options, what, ask)


class Input(NamedTuple):
    """What is read for one source: the arguments with its own paths, and the columns that hold times."""

    args: argparse.Namespace
    times: list[str]


def _by_source(args: argparse.Namespace, query: Query) -> dict[str, Input]:
    """INPUT by the names of FROM (SEM 13.6); of one source under no name."""
    if not query.sources:
        return {"": Input(args, [name for name in query.times or (args.time,) if name is not None])}
    shape = " ".join(f"{table.key}=FILE" for table in query.sources)
    found: dict[str, Input] = {}
    for given in args.inputs:
        name, sign, path = given.partition("=")
        tables = [table for table in query.sources if table.key == name]
        if not sign or not tables:
            raise SourceError(
                f"INPUT {given!r} does not say which source of FROM it is for.", hint=f"write {shape}"
            )
        times = [time for table in tables for time in table.order_by[:1] or (args.time,) if time is not None]
        own = found.setdefault(name, Input(argparse.Namespace(**{**vars(args), "inputs": []}), times))
        own.args.inputs.append(path)
    for table in query.sources:
        if table.key not in found:
            raise SourceError(f"there is no INPUT for {table.key}, which FROM names.", hint=f"write {shape}")
    return found


def _read(inputs: dict[str, Input], read: Callable[[Input], Any]) -> Any:
    """The rows of the input, of several sources by name."""
    if "" in inputs:
        return read(inputs[""])
    return {name: read(one) for name, one in inputs.items()}


def _asked(
    rows: Any, options: dict[str, Any], what: str, ask: Callable[[Any, dict[str, Any]], Answer]
) -> Answer:
    from situ.cli.progress import watching

    with watching(next(iter(rows.values())) if isinstance(rows, dict) else rows, what):
        return ask(rows, options)


def is_on_spark(rows: Any) -> bool:
    """Tell Spark DataFrames from Arrow tables."""
    one = next(iter(rows.values())) if isinstance(rows, dict) else rows
    return hasattr(one, "sparkSession")


def _way(args: argparse.Namespace, inputs: dict[str, Input]) -> Way:
    """Where to run, which is said: on Spark if one of several sources has to be."""
    ways = [_way_of(one.args) for one in inputs.values()]
    way = next((way for way in ways if way.on_spark), ways[0])
    _say(args, way)
    return way


def _way_of(args: argparse.Namespace) -> Way:
    """Where to run on INPUT, whose kind is told by its name unless it was said."""
    if STDIN in args.inputs:
        path, args.format = from_stdin(args.format)
        args.inputs[args.inputs.index(STDIN)] = path
    kind = args.format or format_of(args.inputs)
    if kind != "table":
        check_exists(args.inputs)
    elif len(args.inputs) > 1:
        raise OptionError(
            f"INPUT {' '.join(args.inputs)!r} is no file, and of Spark tables one can be read.",
            hint="check the paths if files were meant.",
        )
    args.format = kind
    return way_of(args, kind)


def _say(args: argparse.Namespace, way: Way) -> None:
    if way.why is not None and not args.quiet:
        note(f"{'on Spark' if way.on_spark else 'in process'}: {way.why}.")


def _check_spark_can(args: argparse.Namespace, error: UnsupportedExpressionError) -> None:
    """Refuse what cannot be evaluated in process where Spark may not, or cannot, do it."""
    if args.in_process:
        raise OptionError(error.message, hint="leave out --in-process: Spark evaluates it.") from error
    if not has_spark():
        raise OptionError(
            error.message, hint='Spark evaluates it; to install it run: pip install "situ[spark]"'
        ) from error


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the run that were given."""
    return {name: getattr(args, name) for name in _RUN_OPTIONS if getattr(args, name) is not None}


def _wanted(one: Input) -> Wanted:
    from situ.cli.local_files import Wanted
    from situ.cli.time_format import time_pattern
    from situ.expressions.zones import zone_of

    args, times = one
    zone = args.time_zone or "UTC"
    zone_of(zone)  # a wrong one is refused before anything is read
    return Wanted(
        times=times,
        time_zone=zone,
        time_format=None if args.time_format is None else time_pattern(args.time_format),
        drop=args.on_bad_rows == "drop",
    )


def for_spark(path: str | Path) -> str:
    """A path as Spark takes it: it reads some characters of a name as a pattern of names."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path))


def _read_on_spark(one: Input) -> Any:
    from situ.cli.local_files import read_files
    from situ.cli.session import local_spark
    from situ.cli.text_on_spark import read_text, with_times

    args, wanted, kind = one.args, _wanted(one), one.args.format
    settings: dict[str, Any] = {"spark__sql__ansi__enabled": "false"} if args.ansi is False else {}
    if args.time_zone is not None:
        settings["spark__sql__session__timeZone"] = args.time_zone
    spark = local_spark(f"situ {args.command.__name__.rpartition('.')[2]}", master=args.master, **settings)
    paths = [for_spark(name) for name in args.inputs]
    if kind == "arrow":  # Spark reads no such files: they are read here and handed over
        return spark.createDataFrame(read_files(kind, args.inputs, wanted).table)
    if kind in ("csv", "json"):
        rows, said = read_text(spark, kind, paths, wanted)
    else:
        plain = spark.table(args.inputs[0]) if kind == "table" else spark.read.parquet(*paths)
        rows, said = with_times(plain, wanted)
    _tell(args, said)
    return rows


def _read_in_process(one: Input) -> Any:
    from situ.cli.local_files import read_files

    args = one.args
    read = read_files(args.format, args.inputs, _wanted(one))
    _tell(args, read.said)
    if read.n_left_out:
        note(f"{counted(read.n_left_out, 'row')} that could not be read left out.")
    return read.table


def _tell(args: argparse.Namespace, said: Iterable[str]) -> None:
    if not args.quiet:
        for line in said:
            note(line)
