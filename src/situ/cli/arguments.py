"""The parser of the commands: argparse, with messages of our own for wrong calls."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from situ.cli.common import USAGE, print_error
from situ.errors import OptionError

_FLAG = re.compile("--?[A-Za-z]")  # not a negative number


class Parser(argparse.ArgumentParser):
    """An argument parser that names the word that is wrong, and the one that was probably meant."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Unknown flags are told first: a misspelt one is also why a required one is missing."""
        args = sys.argv[1:] if args is None else args
        for flag in self._flags_in(args):
            if not any(name == flag or name.startswith(flag) for name in self._option_string_actions):
                self._fail(f"`{self.prog}` has no option {flag}.", _meant(flag, self._option_string_actions))
        return self._with_the_rest(*super().parse_known_args(args, namespace))

    def _with_the_rest(self, namespace: Any, rest: list[str]) -> Any:
        """Words after an option are arguments too: argparse fills a list of them only up to the first."""
        lists = [action for action in self._actions if not action.option_strings and action.nargs == "*"]
        if lists and rest:
            words = [word for word in rest if word != "--"]
            setattr(namespace, lists[0].dest, [*getattr(namespace, lists[0].dest), *words])
            return namespace, []
        return namespace, rest

    def _flags_in(self, args: Sequence[str]) -> Iterable[str]:
        """What argparse takes for flags of this parser, not of the command after it."""
        has_commands = self._subparsers is not None
        for arg in args:
            if arg == "--" or (has_commands and not arg.startswith("-")):
                return
            if _FLAG.match(arg) and " " not in arg:
                yield arg.partition("=")[0]

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):
            choices = [listed.dest for listed in action._choices_actions]
        else:
            self._fail(
                f"{_name(action)} {value!r} is not one of {', '.join(choices)}.", _meant(value, choices)
            )
        what = str(action.metavar).lower()
        if what == "command" and (len(value.split()) > 1 or Path(value).exists()):
            self._fail(
                f"{value!r} is no command.", f"a command comes first, as in `situ run {_quoted(value)}`."
            )
        hint = _meant(value, choices)
        listed = f"The {what}s are {', '.join(choices)}."
        self._fail(f"`{self.prog}` has no {what} {value}.", f"{hint} {listed}" if hint else listed)

    def error(self, message: str) -> NoReturn:
        """Everything else argparse finds wrong, in its words."""
        self._fail(f"`{self.prog}`: {message}.", None)

    def _fail(self, message: str, hint: str | None) -> NoReturn:
        more = f"`{self.prog} --help` shows how to call it."
        print_error(OptionError(message, hint=f"{hint} {more}" if hint else more))
        self.exit(USAGE)


def _name(action: argparse.Action) -> str:
    return "/".join(action.option_strings) or str(action.metavar or action.dest)


def _meant(word: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else None


def _quoted(text: str) -> str:
    return f'"{text}"' if len(text.split()) > 1 else text
