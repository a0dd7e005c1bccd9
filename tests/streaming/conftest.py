"""What streams are tested with: chances, a real Kafka broker, and a client for it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from streaming import faults
from streaming.commands import SHORT_LIVED
from streaming.kafka_client import Client

ROOT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Cases and random tables have rows of equal time on purpose: test_tied.py tests what is said of them."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::situ.TiesWarning"))


def _tool(name: str) -> Any:
    """A script of tools/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def chance() -> Random:
    """Where and when a test kills."""
    return faults.chance()


@pytest.fixture(scope="session")
def broker() -> Iterator[Any]:
    """One broker for all tests of a run."""
    with _tool("kafka").broker() as running:
        yield running


@pytest.fixture(scope="session")
def kafka(broker: Any) -> Iterator[Client]:
    """Produces and consumes."""
    client = Client(broker.address, SHORT_LIVED)
    yield client
    client.close()
