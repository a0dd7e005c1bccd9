"""Batch DataFrames of several sources (SEM 13): every case, and what explain, why and plot make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import situ
from conformance.cases import Case, load_all
from conformance.checking import check
from conformance.runners import result_rows
from situ.errors import BindError, OptionError, SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore::situ.TiesWarning")
WEATHER = pa.table({"at": ["MUC"] * 4, "t": [0, 2, 4, 7], "gust": [3, 9, 9, 2]})
FLIGHTS = pa.table({"at": ["MUC"] * 5, "t": [1, 3, 5, 6, 9], "delay": [0, 20, 30, 20, 0]})
TEXT = """
FROM weather AS w, flights AS f WHERE gust >= 0 PARTITION BY at ORDER BY t
DEFINE G AS gust > 5, L AS delay > 15 PATTERN G overlaps L
RETURN max(G.gust) AS gust, max(L.delay) AS delay
"""


def frames(spark: SparkSession, tables: dict[str, pa.Table]) -> dict[str, DataFrame]:
    return {name: spark.createDataFrame(table) for name, table in tables.items()}


@pytest.fixture
def both(spark: SparkSession) -> dict[str, DataFrame]:
    return frames(spark, {"weather": WEATHER, "flights": FLIGHTS})


@pytest.mark.parametrize("case", load_all(several_sources=True), ids=lambda case: case.name)
def test_case(spark: SparkSession, case: Case) -> None:
    def run(tables: Any, text: str, options: dict[str, Any]) -> Any:
        return result_rows(situ.match(frames(spark, tables), situ.query(text), **options).toArrow(), text)

    check(case, run)


def test_the_same_as_in_process(both: dict[str, DataFrame]) -> None:
    tables = {"weather": WEATHER, "flights": FLIGHTS}
    found = situ.match(both, TEXT, match_id=True).toArrow().to_pylist()
    assert found == situ.match(tables, TEXT, match_id=True).to_pylist()
    assert len(found) == 1
    on_spark = situ.situations(both, TEXT).toArrow().sort_by("symbol").to_pylist()
    assert on_spark == situ.situations(tables, TEXT).sort_by("symbol").to_pylist()


def test_what_is_told(both: dict[str, DataFrame]) -> None:
    told = str(situ.explain(both, TEXT))
    assert "Strategy shuffle: rows of several sources are brought together by partition." in told
    assert situ.why(both, TEXT).matches == 1
    (scene,) = situ.plot(both, TEXT).scenes
    assert {curve.name for curve in scene.curves} == {"w.gust", "f.delay"}
    assert [(bar.ts, bar.te) for lane in scene.lanes for bar in lane.bars] == [(2, 7), (3, 9)]


def test_what_is_refused(spark: SparkSession, both: dict[str, DataFrame]) -> None:
    for strategy in ("direct", "map-side"):
        with pytest.raises(OptionError, match=strategy):
            situ.match(both, TEXT, strategy=strategy)
    with pytest.raises(SourceError, match="flights is a Table in memory"):
        situ.match({**both, "flights": FLIGHTS}, TEXT)
    with pytest.raises(SourceError, match="one table was given"):
        situ.match(both["weather"], TEXT)
    with pytest.raises(SourceError, match="several queries in one pass"):
        situ.match(both, {"a": TEXT})
    with pytest.raises(BindError, match="Spark cannot evaluate the condition of L"):
        situ.match(both, TEXT.replace("delay > 15", "no_such_function(delay)"))
