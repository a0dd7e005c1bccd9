"""The `situ` command. One file per command; to add one, write the file and name it in COMMANDS."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

from situ._version import __version__
from situ.cli import (
    bench,
    completion,
    demo,
    explain,
    generate,
    plot,
    run,
    situations,
    state,
    stream,
    why,
)
from situ.cli.arguments import Parser
from situ.cli.common import OK, exit_code, print_error, print_warning
from situ.cli.files import forget_stdin
from situ.cli.spark_errors import from_spark, is_from_spark
from situ.errors import SituError, TiesWarning


class Command(Protocol):
    """What a command's module provides; its name is the module's name, its first doc line the summary."""

    __name__: str
    __doc__: str | None
    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int: ...


COMMANDS = (
    demo,
    run,
    stream,
    state,
    explain,
    situations,
    why,
    plot,
    generate,
    completion,
    bench,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command `argv` names; return 0, or 2 for a wrong call or query, or 1 for a failure."""
    parser = build_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        return OK
    args = parser.parse_args(argv)
    command = cast(Command, args.command)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _shown(warnings.showwarning)
            return command.run(args)
    except BrokenPipeError:  # the reader, say `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if args.traceback or not (isinstance(error, SituError) or is_from_spark(error)):
            raise
        error = (from_spark(error) if is_from_spark(error) else None) or error
        print_error(error)
        return exit_code(error)
    finally:
        forget_stdin(getattr(args, "inputs", ()))


def _shown(show: Callable[..., None]) -> Callable[..., None]:
    """Our own warnings as the commands print errors, the others as they are shown otherwise."""

    def shown(message: Warning | str, category: type[Warning], *where: object) -> None:
        if issubclass(category, TiesWarning):
            print_warning(message)
        else:
            show(message, category, *where)

    return shown


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `situ` with one sub-parser per command."""
    parser = Parser(
        prog="situ",
        description="Find what happened while something else was happening, in event tables and streams.",
        epilog="`situ COMMAND --help` shows the options of a command, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"situ {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where in the code an error came from")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in COMMANDS:
        command = cast(Command, module)
        summary = (command.__doc__ or "").splitlines()[0].rstrip(".")
        # a parser without help is not listed: bench runs from a checkout only, and says so elsewhere
        is_listed = module is not bench or bench.works()
        listed: dict[str, Any] = {"help": summary[0].lower() + summary[1:]} if is_listed else {}
        subparser = subparsers.add_parser(
            command.__name__.rpartition(".")[2],
            **listed,
            description=command.__doc__,
            epilog=f"examples:\n{command.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(subparser)
        subparser.set_defaults(command=command)
    return parser
