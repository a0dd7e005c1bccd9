"""Completion: the scripts come from the parser, and shells that read them offer what it takes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from situ import cli
from situ.cli.completion import Level, levels_of


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["completion", shell]) == 0
    return capsys.readouterr().out


def ran(shell: str, code: str, folder: Path) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} on this machine")
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run([shell, *quiet, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    assert done.stderr == ""
    return sorted(line.partition("\t")[0].strip() for line in done.stdout.splitlines())


# zsh calls what was written for bash in its own mode for such scripts
AS_BASH_ASKS = """
asked() {
  [ -z "$ZSH_VERSION" ] || emulate -L sh
  COMP_WORDS=(LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _situ; printf "%s\\n" "${COMPREPLY[@]}"
}
asked"""
CASES = [
    ("situ ex", ["explain"]),
    ("situ ge", ["generate"]),
    ("situ generate tr", ["traffic"]),
    ("situ run q.situ --lim", ["--limit"]),
    ("situ run q.situ --output-format pa", ["parquet"]),
    ("situ generate synthetic x --ev", ["--events"]),
    ("situ completion z", ["zsh"]),
    ("situ why dri", ["drivers of today.situ"]),
    ("situ --vers", ["--version"]),
]


@pytest.mark.parametrize(("line", "offered"), CASES)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_is_offered(
    shell: str, line: str, offered: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "script").write_text(script(shell, capsys))
    (tmp_path / "drivers of today.situ").touch()
    ask = f"complete -C '{line}'" if shell == "fish" else AS_BASH_ASKS.replace("LINE", line)
    answer = ran(shell, f"source ./script; {ask}", tmp_path)
    if shell == "zsh":  # which itself leaves out what does not begin as the word does
        answer = [one for one in answer if one.startswith(line.split()[-1])]
    assert answer == offered


def test_every_command_and_option_is_in_the_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    levels = list(levels_of(cli.build_parser()))
    assert {level.words[0] for level in levels if level.words} == set(levels[0].commands)
    assert all(isinstance(level, Level) and level.flags for level in levels)
    bash, fish = script("bash", capsys), script("fish", capsys)
    for level in levels:
        for flag in level.flags:
            for name in flag.names:
                assert name in bash
                assert f"{'-l' if name.startswith('--') else '-s'} {name.lstrip('-')} " in fish
