"""The kernel cache in processes of its own: compiled once, found again, safe from neighbours and damage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Three kernels, one of which calls another: a second to compile.
WORK = """
import numpy as np
from situ.rows.kernels.numbers import first_above, plus
print(plus(np.int64(1), np.int64(2)), first_above(np.array([[1, 2, 3]]), 0, 0, 3, 2, 0))
"""
ANSWER = "3 2"
COMPILING = "situ: compiling its kernels"
# What two queries need of the kernels: each compiles some that the other has no use for.
ONE_QUERY = "import numpy as np; from situ.rows.kernels.numbers import plus; plus(np.int64(1), np.int64(2))"
ANOTHER = """
import numpy as np
from situ.rows.kernels.numbers import first_above
first_above(np.array([[1, 2, 3]]), 0, 0, 3, 2, 0)
"""


def environment(cache: Path, **more: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("SITU_", "NUMBA_", "XDG_"))
    }
    ours = {"PYTHONPATH": str(ROOT / "src"), "SITU_CACHE_DIR": str(cache), "SITU_COMPILE_FIRST": "1"}
    return {**kept, **ours, **more}


def start(cache: Path, **more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORK],
        env=environment(cache, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(cache: Path, **more: str) -> str:
    """What a process that uses the kernels says on stderr; its answer must be right."""
    return said(start(cache, **more))


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.strip() == ANSWER
    return err


def compiled(cache: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(cache.rglob("*.nbc"))}


def test_the_first_process_compiles_and_says_so_and_the_second_finds_it(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert COMPILING in first
    assert str(tmp_path) in first
    files = compiled(tmp_path)
    assert len(files) >= 3
    assert run(tmp_path) == ""
    assert compiled(tmp_path) == files


def test_it_is_said_once_on_a_machine_though_other_queries_need_other_kernels(tmp_path: Path) -> None:
    def asked(script: str) -> str:
        command, env = [sys.executable, "-c", script], environment(tmp_path)
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=True)
        return done.stderr

    first = asked(ONE_QUERY)
    assert "each once on this machine, when it is first needed" in first
    (said,) = tmp_path.rglob("announced*")
    os.utime(said, (0, 0))  # long ago
    before = len(compiled(tmp_path))
    assert asked(ANOTHER) == ""
    assert len(compiled(tmp_path)) > before
    said.rename(said.with_name("announced-0.0.1"))  # another version was here
    for kernel in compiled(tmp_path):
        kernel.unlink()
    assert COMPILING in asked(ONE_QUERY)
    assert asked(ANOTHER) == ""


def test_where_nothing_lasts_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    (tmp_path / "tmp" / f"situ-{os.geteuid()}").symlink_to(tmp_path)
    said = run(blocked, XDG_CACHE_HOME=str(blocked), TMPDIR=str(tmp_path / "tmp"))
    assert "lasts for this process only" in said
    assert f"{COMPILING}, for this process only" in said
    assert "once" not in said


def test_quiet_means_quiet(tmp_path: Path) -> None:
    assert run(tmp_path, SITU_QUIET="1") == ""
    assert compiled(tmp_path)


def test_processes_started_together_compile_once(tmp_path: Path) -> None:
    several = [start(tmp_path) for _ in range(3)]
    messages = [said(process) for process in several]
    assert sum(COMPILING in message for message in messages) == 1
    assert len(compiled(tmp_path)) == len({path.name.split("-")[0] for path in compiled(tmp_path)})
    assert run(tmp_path) == ""


def test_a_read_only_installation_works(tmp_path: Path) -> None:
    """The sources are copied to a folder that takes no files; nothing is written beside them."""
    import shutil

    package = tmp_path / "site" / "situ"
    shutil.copytree(
        ROOT / "src" / "situ", package, ignore=shutil.ignore_patterns("__pycache__", "spark", "cli")
    )
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    cache = tmp_path / "cache"
    more = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    assert COMPILING in run(cache, **more)
    assert run(cache, **more) == ""
    assert not list(package.rglob("*.nb?"))
    for path in [package, *package.rglob("*")]:
        path.chmod(0o755)


def test_where_the_first_choice_takes_no_files_the_next_is_taken(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    elsewhere = tmp_path / "home-cache"
    assert str(elsewhere / "situ") in run(blocked, XDG_CACHE_HOME=str(elsewhere))
    assert compiled(elsewhere)
    assert run(blocked, XDG_CACHE_HOME=str(elsewhere)) == ""


def test_where_nothing_can_be_written_the_temporary_folder_is_taken(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    assert str(temporary) in run(blocked, XDG_CACHE_HOME=str(blocked), TMPDIR=str(temporary))


def test_damaged_files_are_compiled_anew(tmp_path: Path) -> None:
    """A process killed while writing, a full disk, a bad copy: never an error, never a wrong answer."""
    run(tmp_path, SITU_QUIET="1")
    files = compiled(tmp_path)
    for i, (path, content) in enumerate(files.items()):
        half = len(content) // 2
        damages = [content[:half], os.urandom(len(content)), content[:half] + bytes(len(content) - half), b""]
        path.write_bytes(damages[i % len(damages)])
    assert len(files) >= 3
    assert COMPILING in run(tmp_path)
    assert run(tmp_path) == ""  # and it is whole again


def test_code_of_another_signature_or_source_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    """As after a crash or a careless copy: whole files under each other's names."""
    run(tmp_path, SITU_QUIET="1")
    files = list(compiled(tmp_path).items())
    for (path, _), (_, content) in zip(files, files[1:] + files[:1], strict=True):
        path.write_bytes(content)
    assert COMPILING in run(tmp_path)
    assert run(tmp_path) == ""


def test_a_change_of_a_source_is_noticed_by_the_kernels_that_import_it() -> None:
    from situ.compiled import jit
    from situ.operators.situations.kernels import match
    from situ.rows.kernels import bits, numbers

    jit.source_stamp.cache_clear()
    before = {module.__name__: jit.source_stamp(module.__file__) for module in (match, numbers, bits)}
    path = Path(numbers.__file__)
    original = Path.read_text
    try:
        jit.source_stamp.cache_clear()
        Path.read_text = lambda self, **options: original(self, **options) + ("#" if self == path else "")  # type: ignore[method-assign]
        after = {module.__name__: jit.source_stamp(module.__file__) for module in (match, numbers, bits)}
    finally:
        Path.read_text = original  # type: ignore[method-assign]
        jit.source_stamp.cache_clear()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {match.__name__, numbers.__name__}
