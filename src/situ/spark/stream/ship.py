"""How the stateful operator reaches Spark.

For every micro-batch Spark starts a Python process on the driver that asks the operator which state it keeps,
and ends again. A class made inside a function travels by value, so that this process imports nothing of situ;
workers, which stay, import it with their first rows.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from situ.carry.stream.program import Program


def shipped_processor(program: Program) -> StatefulProcessor:
    """The stateful operator of a query, as `situ.spark.stream.processor.StatefulOperator` does it."""
    payload = pickle.dumps(program)

    class Shipped(StatefulProcessor):
        def init(self, handle: Any) -> None:
            number, value = "number int", "data binary"
            self._states = {
                "made_for": handle.getValueState("made_for", value),
                "head": handle.getValueState("head", value),
                "cells": handle.getMapState("cells", number, value),
                "pieces": handle.getMapState("pieces", number, value),
            }
            self._handle = handle
            self._operator: Any = None

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
            yield from self._own().take(key[0], rows, timerValues)

        def handleExpiredTimer(
            self, key: Any, timerValues: Any, expiredTimerInfo: Any
        ) -> Iterator[pd.DataFrame]:
            yield from self._own().wake(timerValues)

        def close(self) -> None:
            pass

        def _own(self) -> Any:
            if self._operator is None:
                from situ.spark.stream.processor import StatefulOperator

                self._operator = StatefulOperator(payload, self._handle, self._states)
            return self._operator

    return Shipped()
