"""One state per key, the usual way, in both of PySpark's stateful APIs, with the same engine inside."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

import situ

COLUMNS = "car_id int, speed double, started timestamp, braked timestamp, match_time timestamp"
_ARROW = pa.schema(
    [
        ("car_id", pa.int32()),
        ("ts", pa.timestamp("us", "UTC")),
        ("speed", pa.float64()),
        ("accel", pa.float64()),
    ]
)


@lru_cache
def _query(text: str) -> Any:
    return situ.query(text)


def step(text: str, frames: Iterator[pd.DataFrame], state: bytes | None) -> tuple[pd.DataFrame, bytes]:
    """One key's rows through a push operator that lives for this call."""
    frame = pd.concat(list(frames))
    frame["ts"] = frame["ts"].dt.tz_localize("UTC") if frame["ts"].dt.tz is None else frame["ts"]
    operator = _query(text).operator(_ARROW, state=state)
    found = operator.push(pa.Table.from_pandas(frame, schema=_ARROW, preserve_index=False)).to_pandas()
    for name in ("started", "braked", "match_time"):
        found[name] = found[name].dt.tz_localize(None)
    return found, operator.state()


class PerKey(StatefulProcessor):
    """transformWithStateInPandas with a value state for each key."""

    def __init__(self, text: str) -> None:
        self._text = text

    def init(self, handle: Any) -> None:
        self._state = handle.getValueState("state", "data binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        kept = self._state.get()
        found, state = step(self._text, rows, None if kept is None else bytes(kept[0]))
        self._state.update((state,))
        yield found

    def close(self) -> None:
        pass


def transform_with_state(rows: DataFrame, text: str) -> DataFrame:
    return rows.groupBy("car_id").transformWithStateInPandas(PerKey(text), COLUMNS, "append", "none")


def apply_with_state(rows: DataFrame, text: str) -> DataFrame:
    def one(key: Any, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        found, kept = step(text, frames, bytes(state.get[0]) if state.exists else None)
        state.update((kept,))
        yield found

    return rows.groupBy("car_id").applyInPandasWithState(
        one, COLUMNS, "data binary", "append", GroupStateTimeout.NoTimeout
    )
