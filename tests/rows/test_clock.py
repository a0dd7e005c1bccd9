"""The option until: values such as those of the time column, and nothing else."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from situ.cli.common import time_value
from situ.errors import OptionError
from situ.language.text.types import Column
from situ.options import Options
from situ.rows.clock import complete_at_end, until_of
from situ.rows.kernels.numbers import LONG_AGO
from situ.rows.needs import Needs
from situ.rows.schema import spark_type

MOMENT = 1_704_067_200_000_000  # 2024-01-01


def until(value: Any, kind: pa.DataType, unit: str | None = None) -> int | None:
    needs = Needs(Column("t", spark_type(kind), unit), ticks=True)
    return until_of(Options(until=value), needs, pa.schema([("t", kind)]))


@pytest.mark.parametrize(
    ("value", "kind", "unit", "wanted"),
    [
        (None, pa.int64(), None, None),
        (7, pa.int64(), None, 7),
        (7, pa.int32(), None, 7),
        (7, pa.int32(), "seconds", 7_000_000),
        (1.5, pa.float64(), "seconds", 1_500_000),
        (datetime(2024, 1, 1, tzinfo=UTC), pa.timestamp("us", "UTC"), None, MOMENT),
        (datetime(2024, 1, 1), pa.timestamp("us"), None, MOMENT),
        (datetime(2024, 1, 1, tzinfo=UTC), pa.timestamp("ns"), None, MOMENT),
        (date(2024, 1, 1), pa.date32(), None, MOMENT),
        (time_value("2024-01-01"), pa.timestamp("us", "UTC"), None, MOMENT),
        (time_value("2024-01-01T01:00+01:00"), pa.timestamp("us"), None, MOMENT),
        (time_value("2024-01-01"), pa.date32(), None, MOMENT),
        (time_value("12"), pa.int64(), None, 12),
    ],
)
def test_values_of_the_time_column(value: Any, kind: pa.DataType, unit: str | None, wanted: Any) -> None:
    assert until(value, kind, unit) == wanted


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("soon", pa.int64()),
        (1.5, pa.int64()),
        (2**63 - 1, pa.int64()),
        (2**70, pa.int64()),
        (datetime(2024, 1, 1), pa.int64()),
        ("soon", pa.timestamp("us")),
        (5, pa.timestamp("us")),  # of what
        (5, pa.date32()),
    ],
)
def test_other_values_are_refused(value: Any, kind: pa.DataType) -> None:
    with pytest.raises(OptionError, match="is no time here: the time column is"):
        until(value, kind)


def test_the_end_of_an_input() -> None:
    needs = Needs(Column("t", "timestamp"), ticks=True)
    assert complete_at_end(None, int(LONG_AGO), needs) is None
    assert complete_at_end(None, 5, needs) == 6
    assert complete_at_end(9, 5, needs) == complete_at_end(9, 9, needs) == 10
    with pytest.raises(
        OptionError, match=r"until is .*00:00:00.000009 UTC, but .* row at .*00:00:00.00001 UTC"
    ):
        complete_at_end(9, 10, needs)
