"""What `pip install situ` does not bring: who needs it says so here, before the import that would fail."""

from __future__ import annotations

from importlib.util import find_spec

from situ.errors import MissingExtraError

OLDEST_SPARK = 4


def need_spark(what: str) -> None:
    """Refuse `what`, a call or a command, where PySpark is not installed.

    >>> need_spark("situ.match_parquet")  # nothing is said where it is
    """
    if find_spec("pyspark") is None:
        raise MissingExtraError(
            f"{what} needs PySpark, which is not installed",
            hint='pip install "situ[spark]"; on a cluster, run it with the Python that has its PySpark',
        )


def refuse_old_spark(found: str) -> None:
    """Refuse a PySpark before 4, as a cluster may have one: there pip has not chosen it.

    >>> refuse_old_spark("4.0.0")
    """
    if int(found.partition(".")[0]) < OLDEST_SPARK:
        raise MissingExtraError(
            f"situ needs PySpark {OLDEST_SPARK}.0 or newer, and PySpark {found} is installed",
            hint='on a cluster, use one with Spark 4; elsewhere pip install "situ[spark]"',
        )
