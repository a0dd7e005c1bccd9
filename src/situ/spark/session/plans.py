"""What a classic session tells of a DataFrame's plan. Everything here may be unknown, and then is None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TRANSPARENT = ("Project", "Filter", "SubqueryAlias", "View")
_UNKNOWN_SIZE = 1 << 62  # Spark's "no idea" is the largest long


@dataclass(frozen=True)
class Scan:
    """A plan that reads Parquet files and then only filters and projects."""

    time: str  # the files' name of the time column
    hive_columns: tuple[str, ...]  # columns that are folders, not columns of files
    max_split_bytes: int  # larger files are cut


@dataclass(frozen=True)
class Unknown:
    """Why nothing is known of the order of a plan's rows."""

    why: str


def scan_of(df: DataFrame, time: str) -> Scan | Unknown:
    """The scan under a DataFrame, if that is all there is to it."""
    plan = optimized(df)
    if plan is None:
        return Unknown("a Connect session does not show the plan")
    wanted = next((a for a in items(plan.output()) if a.name() == time), None)
    if not plan.deterministic():
        return Unknown("the plan is not deterministic")
    node = _source(plan)
    kind = node.getClass().getSimpleName()
    if kind != "LogicalRelation":
        return Unknown(
            f"the plan is more than a scan with filters and projections (it has {_described(kind)})"
        )
    relation = node.relation()
    if (
        relation.getClass().getSimpleName() != "HadoopFsRelation"
        or str(relation.fileFormat()).lower() != "parquet"
    ):
        return Unknown("the input is not plain Parquet files")
    source = next((a for a in items(node.output()) if wanted and a.exprId().equals(wanted.exprId())), None)
    if source is None:
        return Unknown(f"the time column {time} is computed, so statistics of the files say nothing of it")
    hive = tuple(field.name() for field in items(relation.partitionSchema()))
    return Scan(source.name(), hive, _max_split_bytes(df, relation.sizeInBytes()))


def is_plain_scan(plan: Any) -> bool:
    """Is this plan files that are filtered and projected, and nothing else?"""
    return bool(plan.deterministic()) and _source(plan).getClass().getSimpleName() == "LogicalRelation"


def _source(plan: Any) -> Any:
    """What filters and projections are of."""
    while plan.getClass().getSimpleName() in _TRANSPARENT:
        plan = plan.children().head()
    return plan


def hive_columns(df: DataFrame) -> tuple[str, ...] | None:
    """The columns of files just read that are folders; None where the session does not tell."""
    plan = analyzed(df)
    if plan is None:
        return None
    plan = _source(plan)
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return None
    return tuple(field.name() for field in items(plan.relation().partitionSchema()))


def calls_python(df: DataFrame) -> bool:
    """Does Spark hand rows to Python functions before they reach the end of the plan?"""
    plan = optimized(df)
    return plan is not None and any(kind.endswith("EvalPython") for kind in _kinds(plan))


def _kinds(plan: Any) -> list[str]:
    children = [kind for child in items(plan.children()) for kind in _kinds(child)]
    return [plan.getClass().getSimpleName(), *children]


def size_in_bytes(df: DataFrame) -> int | None:
    """Spark's own estimate of a DataFrame's size."""
    plan = optimized(df)
    if plan is None:
        return None
    size = int(str(plan.stats().sizeInBytes()))
    return size if size < _UNKNOWN_SIZE else None


def analyzed(df: DataFrame) -> Any:
    """The plan as it was written, with names resolved; None on Connect."""
    jdf = _classic(df)
    return None if jdf is None else jdf.queryExecution().analyzed()


def optimized(df: DataFrame) -> Any:
    """The plan as Spark will run it; None on Connect."""
    jdf = _classic(df)
    return None if jdf is None else jdf.queryExecution().optimizedPlan()


def _classic(df: DataFrame) -> Any:
    """The JVM's own DataFrame, which a Connect session does not have."""
    return getattr(df, "_jdf", None) if type(df).__module__.startswith("pyspark.sql.classic") else None


def items(sequence: Any) -> list[Any]:
    """A Scala sequence as a list."""
    return [sequence.apply(i) for i in range(sequence.size())]


def _described(kind: str) -> str:
    names = {
        "Join": "a join",
        "Aggregate": "an aggregation",
        "Union": "a union",
        "Sort": "a sort",
        "Window": "a window",
    }
    return names.get(kind, kind)


def _max_split_bytes(df: DataFrame, total: int) -> int:
    """As Spark's FilePartition computes it."""
    session = df.sparkSession
    settings = session._jsparkSession.sessionState().conf()
    open_cost, most = settings.filesOpenCostInBytes(), settings.filesMaxPartitionBytes()
    cores = session.sparkContext.defaultParallelism
    return int(min(most, max(open_cost, int(total) // max(1, cores))))
