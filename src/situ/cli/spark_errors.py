"""What Spark raises, as a message that a person can act on."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from situ.cli.unreadable import unreadable_row
from situ.errors import DataError, ExpressionError, OptionError, SituError

_ROW = re.compile(r"^a row of (\S+) cannot be read: (.*)", re.S)
_NOT_PARQUET = re.compile(
    r"CANNOT_READ_FILE_FOOTER\].*?reading file (\S+?)\. |(file:\S+?) is not a Parquet file"
)
_NO_TABLE = re.compile(r"TABLE_OR_VIEW_NOT_FOUND\] The table or view (\S+) cannot be found")
_NO_COLUMNS = "UNABLE_TO_INFER_SCHEMA"
_BROKEN_VALUE = re.compile(r"\[[A-Z_.0-9]+\] ([^\n]*?) SQLSTATE: 22\w{3}")  # class 22 of SQL: data exceptions
_SQLSTATE = re.compile(r" SQLSTATE: \w{5}$")
# Everything from the first of these on is about Spark's own code.
_STACK = re.compile(
    r"\n\s*(?:JVM stacktrace:|Driver stacktrace:|at [\w$.]+\.[\w$<>]+\()|\n=== Streaming Query ==="
)
_CALL = re.compile(r"^An error occurred while calling \S+\n: (?:[\w.$]+(?:Exception|Error): )?")


def is_from_spark(error: BaseException) -> bool:
    """Tell whether Spark raised `error`, without importing Spark."""
    return type(error).__module__.partition(".")[0] in ("pyspark", "py4j")


def from_spark(error: BaseException) -> SituError | None:
    """The error of ours that Spark reports as `error`; None if it is Spark's own."""
    from situ.spark.errors import situ_error

    if (found := situ_error(error)) is not None:
        return _raised_in_a_column(found)
    text = str(error)
    if (file := _NOT_PARQUET.search(text)) is not None:
        return DataError(
            f"{_local(file[1] or file[2])} cannot be read as parquet.",
            hint="name the format it has with --format, or mend the file.",
        )
    if (table := _NO_TABLE.search(text)) is not None:
        return _no_table(table[1].replace("`", ""))
    if _NO_COLUMNS in text:
        return DataError("there is nothing in the input.", hint="give files with rows.")
    if (value := _BROKEN_VALUE.search(text)) is not None:
        return ExpressionError(
            f"a row broke an expression: {value[1]}", hint="guard the expression, or give --no-ansi for null."
        )
    return None


def _no_table(name: str) -> SituError:
    """The name may have been meant for a file of the current folder."""
    here = sorted(path.name for path in Path().iterdir())
    close = [file for file in here if file.startswith(f"{name}.")] or difflib.get_close_matches(name, here)
    meant = f"did you mean the file {close[0]}?" if close else "check the path, or the name of the table."
    return OptionError(f"there is no file and no Spark table {name}.", hint=meant)


def _raised_in_a_column(found: SituError) -> SituError:
    """What `situ.cli.text_on_spark` lets Spark raise has no line yet, and Spark's ending."""
    if (row := _ROW.match(found.message)) is not None:
        record = _SQLSTATE.sub("", row[2])
        return unreadable_row(_local(row[1]), "json" if record.lstrip().startswith("{") else "csv", record)
    if found.hint is None or not _SQLSTATE.search(found.hint):
        return found
    return DataError(found.message, hint=_SQLSTATE.sub("", found.hint))


def text_of(error: BaseException) -> str:
    """What Spark said, without its stack."""
    return _CALL.sub("", _STACK.split(str(error))[0].strip())


def _local(uri: str) -> str:
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri
