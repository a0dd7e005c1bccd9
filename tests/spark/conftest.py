"""What the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[Any]:
    """Session settings that are put back after the test."""
    changed: dict[str, str | None] = {}

    def change(name: str, value: str) -> None:
        changed.setdefault(name, spark.conf.get(name, None))
        spark.conf.set(name, value)

    yield change
    for name, value in changed.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)
