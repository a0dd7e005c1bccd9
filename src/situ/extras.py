"""What `pip install situ` does not bring: who needs it says so here, before the import that would fail."""

from __future__ import annotations

from importlib.util import find_spec

from situ.errors import MissingExtraError

OLDEST_SPARK = 4


def has_spark() -> bool:
    """Is PySpark installed? It is not imported for that."""
    return find_spec("pyspark") is not None


def need_spark(what: str) -> None:
    """Refuse `what`, a call or a command, where PySpark is not installed.

    >>> need_spark("situ.match_parquet")  # nothing is said where it is
    """
    if not has_spark():
        raise missing_spark(f"{what} needs PySpark, which is not installed")


def missing_spark(
    said: str, otherwise: str = "on a cluster, run it with the Python that has its PySpark"
) -> MissingExtraError:
    """The error to raise where PySpark is missing; `otherwise` ends the advice."""
    return MissingExtraError(said, hint=f'pip install "situ[spark]"; {otherwise}')


def refuse_old_spark(found: str) -> None:
    """Refuse a PySpark before 4, as a cluster may have one: there pip has not chosen it.

    >>> refuse_old_spark("4.0.0")
    """
    if int(found.partition(".")[0]) < OLDEST_SPARK:
        raise MissingExtraError(
            f"situ needs PySpark {OLDEST_SPARK}.0 or newer, and PySpark {found} is installed",
            hint='on a cluster, use one with Spark 4; elsewhere pip install "situ[spark]"',
        )
