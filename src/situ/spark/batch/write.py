"""Results written so that nobody takes half of one for the whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from situ.errors import OptionError, OutputError
from situ.spark.text import flat_for, options_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FULL = ("No space left on device", "Disk quota exceeded", "File too large")


def save_folder(rows: DataFrame, path: str, kind: str, *, overwrite: bool = False) -> None:
    """Write files to a folder that has its name only once it is complete."""
    files, target = _hadoop(rows, path)
    if files.exists(target) and not overwrite:
        raise OptionError(f"{path} exists already.", hint="give another name, or --overwrite to replace it.")
    name, parent = target.getName(), target.getParent()
    draft = _beside(rows, parent, f".{name}.{os.getpid()}.partial")
    old = _beside(rows, parent, f".{name}.{os.getpid()}.old")
    try:
        _make(files, draft, path)
        writer = flat_for(rows, kind).write.format(kind).options(**options_of(kind)).mode("overwrite")
        with _room_for(path):
            (writer.option("header", "true") if kind == "csv" else writer).save(draft.toString())
        if files.exists(target):
            files.rename(target, old)
        if not files.rename(draft, target):
            files.rename(old, target)
            raise _unwritable(path)
    finally:
        with contextlib.suppress(Py4JJavaError):
            for leftover in (draft, old):
                if files.exists(leftover):
                    files.delete(leftover, True)


def _make(files: Any, folder: Any, path: str) -> None:
    """Make the folder to write to: what is wrong with a path is known before any work is done."""
    try:
        made = files.mkdirs(folder)
    except Py4JJavaError as error:
        raise _unwritable(path) from error
    if not made:
        raise _unwritable(path)


def _unwritable(path: str) -> OutputError:
    return OutputError(f"{path} cannot be written.", hint="name a folder that you may write to.")


@contextlib.contextmanager
def _room_for(path: str) -> Iterator[None]:
    """Say which output found no room; the tasks say only that a disk is full."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        full = next((said for said in _FULL if said in str(error)), None)
        if full is None:
            raise
        raise OutputError(
            f"{path} cannot be written: {full}.",
            hint="make room, or write to another disk (Spark also needs room in spark.local.dir); nothing "
            "half-written is left under that name.",
        ) from error


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
