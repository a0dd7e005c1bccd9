"""The public calls: each finds the carrier of the table it is given, and imports no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from situ.extras import need_spark
from situ.language.situations.ast import Query


def match(events: Any, query: Query | Mapping[str, Query], **options: Any) -> Any:
    """Every match in a table or stream, once (SEM 5.1); the answer is a table of the same kind.

    Several queries by name are answered in one pass: in process by a dict of tables, on Spark by one
    DataFrame with the column `query` and a struct for each.

    >>> import pyarrow as pa, situ
    >>> q = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1 RETURN A.ts AS since")
    >>> situ.match(pa.table({"ts": [1, 2, 3], "x": [0, 5, 5]}), q).to_pylist()
    [{'since': 2, 'match_time': 2}]
    """
    from situ.operators.questions import matching

    return _run(events, matching(query), options)


def situations(events: Any, query: Query | Mapping[str, Query], **options: Any) -> Any:
    """The derived situations themselves, one row each (SEM 5.5)."""
    from situ.operators.questions import deriving

    return _run(events, deriving(query), options)


def explain(events: Any, query: Query, **options: Any) -> Any:
    """What was understood of a query, how it is run, and what the run does to this table."""
    from situ.operators.questions import checked

    checked(query)
    if _is_spark(events):
        from situ.spark.batch.explained import explain as explain_on_spark

        return explain_on_spark(events, query, **options)
    from situ.operators.situations import explained

    return explained.explain(events, query, **options)


def why(events: Any, query: Query, **options: Any) -> Any:
    """Why a query matches what it matches, or nothing: where its candidates are lost, in words and counts.

    >>> import pyarrow as pa, situ
    >>> q = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1 AT LEAST 5")
    >>> print(situ.why(pa.table({"ts": [1, 2, 3], "x": [0, 5, 0]}), q).verdict)
    No match. A held once, for 1 tick: shorter than 5 ticks.
    """
    from situ.operators.questions import checked, matching

    question = matching(checked(query))
    if _is_spark(events):
        from situ.spark.batch.why import why as why_on_spark

        return why_on_spark(events, question, options)
    from situ.carry.in_process import why as why_in_process

    return why_in_process(events, question, options)


def match_parquet(spark: Any, paths: Any, query: Query | Mapping[str, Query], **options: Any) -> Any:
    """Every match in Parquet files as a Spark DataFrame; tasks read the files themselves, the fastest way."""
    need_spark("situ.match_parquet")
    from situ.operators.questions import matching
    from situ.spark import run_parquet

    return run_parquet(spark, paths, matching(query), options)


def situations_parquet(spark: Any, paths: Any, query: Query | Mapping[str, Query], **options: Any) -> Any:
    """The derived situations of Parquet files as a Spark DataFrame, one row each (SEM 5.5)."""
    need_spark("situ.situations_parquet")
    from situ.operators.questions import deriving
    from situ.spark import run_parquet

    return run_parquet(spark, paths, deriving(query), options)


def tune(spark: Any) -> Any:
    """Set in a Spark session what situ wants, and return what that changed; printing it says why.

    Spark's default limit of bytes for an Arrow batch makes it measure the batch after every row that goes to
    Python, which can take longer than all of the rest. `tune` lifts it, for all Python functions of this
    session (batches are still bounded by rows), and chooses RocksDB for the state of streams. situ itself
    never changes a session's settings otherwise.
    """
    from situ.spark.session.tuned import tune as tune_session

    return tune_session(spark)


def plot(events: Any, query: Query, *, top: int = 3, by: str | None = None, **options: Any) -> Any:
    """Timelines of the first `top` matches, or of those with the largest RETURN column `by`, and an overview.

    They show themselves in a notebook; `.save(folder)` writes an interactive page and PNG or SVG files.
    """
    from situ import plotting

    draw = plotting.plot_on_spark if _is_spark(events) else plotting.plot
    return draw(events, query, top=top, by=by, **options)


def _run(events: Any, question: Any, options: dict[str, Any]) -> Any:
    """Take the question to the carrier of these events."""
    if _is_spark(events):
        from situ import spark

        return spark.run(events, question, options)
    from situ.carry import in_process

    return in_process.run(events, question, options)


def _is_spark(events: Any) -> bool:
    """Is this a Spark DataFrame, classic or Connect? Told by its module, so that pyspark is not imported."""
    return type(events).__module__.partition(".")[0] == "pyspark"
