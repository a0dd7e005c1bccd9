"""Print a script that lets a shell complete commands, options and their values.

bash: add to ~/.bashrc:  source <(situ completion bash)
zsh:  add to ~/.zshrc:   source <(situ completion zsh)
fish: write to a file:   situ completion fish > ~/.config/fish/completions/situ.fish"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from situ.cli.common import OK

EXAMPLES = """\
  situ completion bash
  source <(situ completion bash)
  situ completion fish > ~/.config/fish/completions/situ.fish"""

SHELLS = ("bash", "zsh", "fish")


class Flag(NamedTuple):
    """An option of a command; `values` are those it can have, where it has a few only."""

    names: tuple[str, ...]
    summary: str
    takes_value: bool
    values: tuple[str, ...]


class Level(NamedTuple):
    """What can follow the words of a command: `()`, `("run",)`, `("generate", "traffic")`."""

    words: tuple[str, ...]
    commands: dict[str, str]  # with their summaries
    values: tuple[str, ...]  # of its first argument, where it has a few only
    flags: tuple[Flag, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the argument of `situ completion`."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from situ.cli import build_parser

    levels = list(levels_of(build_parser()))
    print(fish_script(levels) if args.shell == "fish" else bash_script(levels, for_zsh=args.shell == "zsh"))
    return OK


def levels_of(parser: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[Level]:
    """What the parser, and the parsers of its commands, take."""
    commands: dict[str, str] = {}
    values: tuple[str, ...] = ()
    flags, below = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands = {one.dest: one.help or "" for one in action._choices_actions}
            below = [(name, action.choices[name]) for name in commands]
        elif action.option_strings:
            flags.append(_flag(action))
        elif action.choices:
            values = tuple(map(str, action.choices))
    yield Level(words, commands, values, tuple(flags))
    for name, subparser in below:
        yield from levels_of(subparser, (*words, name))


def _flag(action: argparse.Action) -> Flag:
    summary = (action.help or "").replace("%%", "%").split(" (default")[0]
    values = tuple(map(str, action.choices or ()))
    return Flag(tuple(action.option_strings), summary, action.nargs != 0, values)


def bash_script(levels: list[Level], *, for_zsh: bool = False) -> str:
    """The script for bash, and for zsh, which has a layer for those of bash.

    The words so far name the level; after an option with few values these are offered, else what follows
    at that level, and files.
    """
    known = " ".join(_quoted("/".join(level.words)) for level in levels if level.words)
    lines = list(_FOR_ZSH) if for_zsh else []
    lines += [
        "_situ() {",
        "  local IFS=$'\\n'  # names of files may have spaces",
        '  local i word next level=""',
        '  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"',
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    word="${COMP_WORDS[i]}"',
        '    next="${level:+$level/}$word"',
        f'    case " {known} " in *" $next "*) level="$next" ;; esac',
        "  done",
        '  case "$level:$previous" in',
    ]
    for level in levels:
        for flag in level.flags:
            if flag.values:
                cases = "|".join(_quoted(f"{'/'.join(level.words)}:{name}") for name in flag.names)
                lines.append(f"    {cases}) {_offer(flag.values)}; return ;;")
    lines += ["  esac", '  case "$level" in']
    for level in levels:
        first = (*level.commands, *level.values)
        flags = tuple(name for flag in level.flags for name in flag.names)
        lines.append(f"    {_quoted('/'.join(level.words))})")
        lines.append(f'      if [[ "$current" == -* ]]; then {_offer(flags)}')
        lines.append(f"      else {_offer(first) if first else _FILES}; fi ;;")
    return "\n".join([*lines, "  esac", "}", "complete -o filenames -F _situ situ"])


_FOR_ZSH = (
    "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }",
    "autoload -Uz +X bashcompinit && bashcompinit",
)
_FILES = 'COMPREPLY=($(compgen -f -- "$current"))'


def _offer(words: tuple[str, ...]) -> str:
    listed = "\\n".join(words)  # none has a character that means something to a shell
    return f"COMPREPLY=($(compgen -W $'{listed}' -- \"$current\"))"


def fish_script(levels: list[Level]) -> str:
    """The script for fish, which shows summaries beside what it offers."""
    lines = ["complete -c situ -f -n '__fish_use_subcommand'"]
    for level in levels:
        seen = " and ".join(f"__fish_seen_subcommand_from {word}" for word in level.words)
        if level.commands and level.words:
            seen += f"; and not __fish_seen_subcommand_from {' '.join(level.commands)}"
        when = _quoted(seen.replace(" and __", "; and __") or "__fish_use_subcommand")
        for name, summary in level.commands.items():
            lines.append(f"complete -c situ -n {when} -f -a {name} -d {_quoted(summary)}")
        if level.values:
            lines.append(f"complete -c situ -n {when} -f -a {_quoted(' '.join(level.values))}")
        for flag in level.flags:
            names = " ".join(_fish_name(name) for name in flag.names)
            takes = f" -x -a {_quoted(' '.join(flag.values))}" if flag.values else " -r" * flag.takes_value
            lines.append(f"complete -c situ -n {when} {names} -d {_quoted(flag.summary)}{takes}")
    return "\n".join(lines)


def _fish_name(flag: str) -> str:
    return f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"


def _quoted(text: str) -> str:
    return shlex.quote(text)
