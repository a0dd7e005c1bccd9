"""What a type checker tells a program: the kind of table each call gives, and which options it takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

# pandas and pyarrow come without types; who has their stubs must see what holds for Polars and PySpark.
STUBS = {
    "pandas/__init__.pyi": "class DataFrame: ...\n",
    "pyarrow/__init__.pyi": "class Table: ...\nclass RecordBatch: ...\nclass Schema: ...\n",
}
HEAD = """
import pandas as pd
import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
import situ
from situ import Query, RowQuery

def use(
    table: pa.Table, batch: pa.RecordBatch, frame: pd.DataFrame, polars: pl.DataFrame, lazy: pl.LazyFrame,
    df: DataFrame, spark: SparkSession, schema: pa.Schema, query: Query, several: dict[str, Query],
    rows: RowQuery,
) -> None:
"""
TABLES = {
    "table": "pyarrow.Table",
    "batch": "pyarrow.Table",
    "frame": "pandas.DataFrame",
    "polars": "polars.dataframe.frame.DataFrame",
    "lazy": "polars.lazyframe.frame.LazyFrame",
}
ON_SPARK = "pyspark.sql.dataframe.DataFrame"
REVEALED = {
    **{f"situ.{call}({t}, query)": kind for call in ("match", "situations") for t, kind in TABLES.items()},
    **{f"situ.match({t}, several)": f"dict[str, {kind}]" for t, kind in TABLES.items()},
    **{f"situ.situations({t}, several)": f"dict[str, {kind}]" for t, kind in TABLES.items()},
    **{f"situ.{call}(df, query)": ON_SPARK for call in ("match", "situations")},
    **{f"situ.{call}(df, several)": ON_SPARK for call in ("match", "situations")},
    'situ.match_parquet(spark, "events", query)': ON_SPARK,
    'situ.situations_parquet(spark, ["a", "b"], several)': ON_SPARK,
    'situ.match(table, query, ties="last", threads="auto", match_id=True)': "pyarrow.Table",
    'situ.match(df, query, watermark="5 minutes", late_rows=True, buckets=8)': ON_SPARK,
    **{f"situ.why({t}, query)": "situ.operators.situations.why_report.Why" for t in (*TABLES, "df")},
    **{f"situ.explain({t}, query)": "situ.plan.explain.Explanation" for t in (*TABLES, "df")},
    **{f"situ.plot({t}, query, top=1)": "situ.plotting.pictures.Pictures" for t in (*TABLES, "df")},
    "query.explain()": "situ.plan.explain.Explanation",
    "query.operator(schema, watermark=3)": "situ.operators.situations.push.SituationsPush",
    "situ.query('FROM t DEFINE A AS x')": "situ.language.situations.ast.Query | Any",
    "situ.query('FROM t DEFINE A AS x > :x', x=1)": "situ.language.situations.ast.Query | Any",
    **{f"situ.match({t}, rows)": kind for t, kind in TABLES.items()},
    "situ.match(table, situ.query('FROM t DEFINE A AS x'))": "pyarrow.Table",
    "situ.situations(table, situ.query('FROM t DEFINE A AS x'))": "pyarrow.Table",
    **{f"situ.match({t}, 'FROM t DEFINE A AS x')": kind for t, kind in TABLES.items()},
    'situ.match(df, "FROM t DEFINE A AS x")': ON_SPARK,
    "situ.situations(table, {'a': 'FROM t DEFINE A AS x', 'b': query})": "dict[str, pyarrow.Table]",
    "situ.why(df, 'FROM t DEFINE A AS x')": "situ.operators.situations.why_report.Why",
    "situ.explain(table, 'FROM t DEFINE A AS x')": "situ.plan.explain.Explanation",
    "situ.plot(table, 'FROM t DEFINE A AS x')": "situ.plotting.pictures.Pictures",
    "situ.match_parquet(spark, 'events', 'FROM t DEFINE A AS x')": ON_SPARK,
}
REFUSED = (
    'situ.match("events.csv", query)',
    "situ.match(table, ['FROM t DEFINE A AS x'])",
    "situ.query('FROM t DEFINE A AS x > :x', x=[1])",
    "situ.match(table, query, watermark=3)",  # for streams
    "situ.situations(table, rows)",
    "situ.match(polars, query, tie='last')",
    "situ.match(lazy, query, ties='first')",
    "situ.match(df, query, threads=2)",
    "situ.why(df, query, late_rows=True)",
    "situ.match_parquet(spark, 'events', query, ansi=True)",
    "query.operator(schema, strategy='shuffle')",
)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """What mypy says of each line of a program that makes all these calls."""
    folder = tmp_path_factory.mktemp("typed")
    for name, text in STUBS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    lines = [*(f"    reveal_type({call})" for call in REVEALED), *(f"    {call}" for call in REFUSED)]
    (folder / "program.py").write_text(HEAD + "\n".join(lines) + "\n")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            "--no-error-summary",
            "program.py",
        ],
        cwd=folder,
        env={**os.environ, "MYPYPATH": f"{SOURCE}{os.pathsep}{folder}", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert not done.stderr, done.stderr
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
        number, text = re.fullmatch(r"program\.py:(\d+): (.*)", line).groups()  # type: ignore[union-attr]
        found[int(number)] = f"{found.get(int(number), '')}{text}\n"
    return found


FIRST = HEAD.count("\n") + 1


@pytest.mark.parametrize(("line", "call"), list(enumerate(REVEALED, FIRST)))
def test_a_call_gives_the_kind_of_table_it_takes(said: dict[int, str], line: int, call: str) -> None:
    assert said[line] == f'note: Revealed type is "{REVEALED[call]}"\n'


@pytest.mark.parametrize(("line", "call"), list(enumerate(REFUSED, FIRST + len(REVEALED))))
def test_what_a_call_does_not_take_is_told_before_it_runs(said: dict[int, str], line: int, call: str) -> None:
    assert said[line].startswith("error: "), said.get(line)
