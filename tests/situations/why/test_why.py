"""What `situ.why` says in words, in process, on Spark and from a shell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import situ
from situ import cli
from situ.errors import OptionError
from situ.operators.situations.why import Tally

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#   t  0 1 2 3 4 5 6 7 8 9
#   a    [---)   [-)          key 1
#   b        [-----)          key 1
ROWS = pa.table(
    {
        "k": [1] * 10 + [2] * 3,
        "t": [*range(10), 0, 1, 2],
        "a": [False, True, True, False, False, True, False, False, False, False, True, False, False],
        "b": [False, False, False, True, True, True, False, False, False, False, False, False, False],
    }
)


def verdict(text: str, **options: Any) -> str:
    answer = situ.why(ROWS, situ.query(f"FROM e PARTITION BY k ORDER BY t {text}"), **options)
    return str(answer.verdict)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DEFINE A AS a", "3 matches."),
        ("WHERE t > 99 DEFINE A AS a", "No match. There is no event that satisfies WHERE."),
        ("DEFINE A AS a AND t > 99", "No match. A never held: no event satisfies a AND t > 99."),
        (
            "DEFINE A AS a AT LEAST 3",
            "No match. A held 3 times, always shorter than 3 ticks; the longest lasted 2 ticks.",
        ),
        (
            "DEFINE A AS b AT MOST 2",
            "No match. A held once, for 3 ticks: longer than 2 ticks.",
        ),
        (
            "DEFINE A AS k = 2, B AS b PATTERN A before B",
            "No match. Every symbol has situations, but in none of 2 partitions (by k) do all of them: A, B. "
            "Partitions never see each other.",
        ),
        (
            "DEFINE A AS a, B AS b PATTERN A overlaps B",
            "No match. None of 2 pairs stands as asked by A overlaps B: 1 finishes, 1 meets.",
        ),
        (
            "DEFINE A AS a, B AS b PATTERN A finishes B WITHIN 2",
            "No match. 1 pair stands as asked by A finishes B, but the window of 2 ticks is over before it "
            "is certain: the quickest takes 3 ticks.",
        ),
    ],
)
def test_verdicts(text: str, expected: str) -> None:
    assert verdict(text) == expected


def test_pairs_that_never_come_together() -> None:
    # A meets B once, A finishes B once: each constraint holds, but for different situations of A.
    said = verdict("DEFINE A AS a, B AS b, C AS b AND t < 5 PATTERN A finishes B AND A meets C")
    assert said == (
        "No match. Every constraint holds for some pair, but not together: 1 way to fit A, C, and then "
        "1 candidate for B, none of which stands as asked to all of them."
    )


def test_it_prints_everywhere() -> None:
    answer = situ.why(
        ROWS, situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B")
    )
    text, html = str(answer), answer._repr_html_()
    for part in (
        "1 match.",
        "13 events in 2 partitions.",
        "A meets B",
        "1 finishes",
        "Where candidates are lost",
    ):
        assert part in text
        assert part in html


def test_sums_and_extremes_add_up() -> None:
    query = situ.query(
        "FROM e DEFINE A AS a, B AS b, C AS c PATTERN A before B BY AT MOST 5 AND NO C while B"
    )
    nothing = Tally.nothing(query)
    numbers = nothing.to_numbers()
    some = nothing.with_numbers(np.arange(len(numbers)))
    assert (some + nothing).to_numbers().tolist() == some.to_numbers().tolist()
    twice = some + nothing.with_numbers(np.arange(len(numbers)) + 5)
    assert twice.rows.tolist() == [5, 7, 9, 11]
    assert (twice.longest == some.longest + 5).all()
    assert (twice.shortest == some.shortest).all()
    assert (twice.span == some.span).all()


def test_explain_with_data_counts() -> None:
    query = situ.query("FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A meets B")
    said = str(situ.explain(ROWS, query))
    assert "Situations derived: A 3, B 1." in said
    assert "Matches: 1." in said


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    query = "FROM e PARTITION BY k ORDER BY t DEFINE A AS a AT LEAST 3"
    assert cli.main(["why", query, str(tmp_path), "--in-process"]) == 0
    assert "always shorter than 3 ticks" in capsys.readouterr().out


QUERIES = [
    "FROM e PARTITION BY k ORDER BY t DEFINE A AS a AT LEAST 1, B AS b PATTERN A meets;finishes B WITHIN 3",
    "FROM e ORDER BY t DEFINE A AS a, B AS b, C AS k = 2 PATTERN A followed-by B AND B during;after C",
]


@pytest.mark.parametrize("text", QUERIES)
def test_spark_counts_the_same(spark: SparkSession, text: str) -> None:
    query = situ.query(text)
    here, there = situ.why(ROWS, query), situ.why(spark.createDataFrame(ROWS.to_pandas()), query)
    assert there.tally.to_numbers().tolist() == here.tally.to_numbers().tolist()
    assert str(there) == str(here)


def test_spark_counts_given_intervals(spark: SparkSession) -> None:
    rows = pa.table({"kind": ["A", "B", "A", "x"], "ts": [0, 2, 5, 1], "te": [3, 9, 7, 2]})
    query = situ.query(
        "FROM INTERVALS e STARTING ts ENDING te "
        "DEFINE A AS rlike(kind, 'A'), B AS kind = 'B' PATTERN A overlaps B"
    )
    answer = situ.why(spark.createDataFrame(rows.to_pandas()), query)
    assert answer.matches == 1
    assert answer.constraints[0].instead == {"during": 1}


def test_no_rows_on_spark(spark: SparkSession) -> None:
    answer = situ.why(
        spark.createDataFrame([], "k int, t bigint, a boolean, b boolean"), situ.query(QUERIES[0])
    )
    assert answer.verdict == "No match. There is no event."


def test_a_stream_is_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(OptionError, match="streaming"):
        situ.why(stream, situ.query("FROM r ORDER BY timestamp DEFINE A AS value > 3"))
