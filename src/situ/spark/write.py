"""Results written so that nobody takes half of one for the whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

from situ.errors import OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def save_folder(rows: DataFrame, path: str, kind: str, *, overwrite: bool = False) -> None:
    """Write files to a folder that has its name only once it is complete."""
    files, target = _hadoop(rows, path)
    if files.exists(target) and not overwrite:
        raise OptionError(f"{path} exists already.", hint="give another name, or --overwrite to replace it.")
    name, parent = target.getName(), target.getParent()
    draft = _beside(rows, parent, f".{name}.{os.getpid()}.partial")
    old = _beside(rows, parent, f".{name}.{os.getpid()}.old")
    try:
        writer = rows.write.format(kind).mode("overwrite")
        (writer.option("header", "true") if kind == "csv" else writer).save(draft.toString())
        if files.exists(target):
            files.rename(target, old)
        if not files.rename(draft, target):
            files.rename(old, target)
            raise OptionError(
                f"{path} cannot be written.", hint="check that its folder exists and can be written to."
            )
    finally:
        for leftover in (draft, old):
            if files.exists(leftover):
                files.delete(leftover, True)


def save_table(rows: DataFrame, name: str, *, overwrite: bool = False) -> None:
    """Write a table; Spark itself makes it visible when it is complete."""
    session = rows.sparkSession
    try:
        exists = session.catalog.tableExists(name)
    except PySparkException as error:
        raise OptionError(f"{name} is not the name of a table", hint="write it as schema.table") from error
    if exists and not overwrite:
        raise OptionError(
            f"table {name} exists already.", hint="give another name, or --overwrite to replace it."
        )
    rows.write.mode("overwrite" if overwrite else "errorifexists").saveAsTable(name)


def _hadoop(rows: DataFrame, path: str) -> tuple[Any, Any]:
    """The file system of a path and the path in it: whatever Spark itself can write to."""
    session: Any = rows.sparkSession
    target = session._jvm.org.apache.hadoop.fs.Path(path)
    files = target.getFileSystem(session._jsc.hadoopConfiguration())
    return files, files.makeQualified(target)


def _beside(rows: DataFrame, parent: Any, name: str) -> Any:
    session: Any = rows.sparkSession
    return session._jvm.org.apache.hadoop.fs.Path(parent, name)
