"""What `pip install situ` does not bring: who needs it says so here, before the import that would fail."""

from __future__ import annotations

from importlib.util import find_spec

from situ.errors import MissingExtraError


def need_spark(what: str) -> None:
    """Refuse `what`, a call or a command, where PySpark is not installed.

    >>> need_spark("situ.match_parquet")  # nothing is said where it is
    """
    if find_spec("pyspark") is None:
        raise MissingExtraError(
            f"{what} needs PySpark, which is not installed",
            hint='pip install "situ[spark]"; on a cluster, run it with the Python that has its PySpark',
        )
