"""The set-up script: when it installs again, and what it says on a machine that cannot do it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dev.py, in a checkout of its own that holds only what it reads."""
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for file in ("pyproject.toml", "tools/constraints.txt"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "PYTHON", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv" / "stamp")
    monkeypatch.setattr(module, "CONSTRAINTS", tmp_path / "tools" / "constraints.txt")
    return module


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_only_what_is_installed_changes_the_fingerprint(dev: ModuleType, tmp_path: Path) -> None:
    before = dev.fingerprint()
    replace(tmp_path / "pyproject.toml", "line-length = 110", "line-length = 100")
    assert dev.fingerprint() == before
    replace(tmp_path / "pyproject.toml", '"rich>=13.7"', '"rich>=13.8"')
    after = dev.fingerprint()
    assert after != before
    replace(tmp_path / "tools" / "constraints.txt", "rich==", "rich>=")
    assert dev.fingerprint() != after


def test_packages_are_installed_once_and_again_when_they_change(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs: list[tuple[str, ...]] = []
    monkeypatch.setattr(dev, "pip", lambda *what: installs.append(what))
    assert dev.set_up_packages()
    assert not dev.set_up_packages()
    assert installs == [("--editable", f"{tmp_path}[dev]")]
    replace(tmp_path / "pyproject.toml", '"rich>=13.7"', '"rich>=13.8"')
    assert dev.set_up_packages()
    assert len(installs) == 2


def test_a_failed_install_is_tried_again(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*what: str) -> None:
        sys.exit("no network")

    monkeypatch.setattr(dev, "pip", fail)
    for _ in range(2):
        with pytest.raises(SystemExit, match="no network"):
            dev.set_up_packages()


def test_python_without_ensurepip_says_what_to_install(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="apt-get install python3-venv"):
        dev.make_environment()


def test_an_old_python_says_so(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or newer; this is 3\."):
        dev.use_newer_python()


@pytest.mark.parametrize(("argument", "code"), [("help", 0), ("--help", 0), ("tset", 2)])
def test_help_and_typos_set_nothing_up(argument: str, code: int) -> None:
    done = subprocess.run([sys.executable, ROOT / "dev.py", argument], capture_output=True, text=True)
    assert done.returncode == code
    assert "python3 dev.py demo" in done.stdout
