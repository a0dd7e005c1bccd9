"""Files wherever Arrow reaches them, else wherever Spark does; paths and URIs as Spark writes them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from pyarrow import fs

from situ.carry.batch.opening import file_system, open_file, plain
from situ.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from pyspark.sql import DataFrame

    T = TypeVar("T")

_READERS = 16
_END_BYTES = 1 << 16  # of a file, which hold the footer of most
_LENGTH_BYTES = 8  # of a Parquet file's end: the footer's length, and a mark
_UNREACHABLE = (OSError, pa.ArrowException, ValueError)


class Files(Protocol):
    """What the driver asks of files."""

    def size(self, path: str) -> int:
        """How many bytes a file has."""

    def open_end(self, path: str) -> tuple[Any, int]:
        """A source with (at least) the footer of a Parquet file at its end, and the file's size."""


class ArrowFiles:
    """Files that Arrow opens; workers open them too."""

    def size(self, path: str) -> int:
        """How many bytes a file has."""
        system, inner = file_system(path)
        info = system.get_file_info(inner)
        if info.type != fs.FileType.File:
            raise FileNotFoundError(f"{path} is not a file")
        return int(info.size)

    def open_end(self, path: str) -> tuple[Any, int]:
        """The whole file, which costs no more than its end."""
        source = open_file(path)
        return source, int(source.size())


class HadoopFiles:
    """Files that Spark's own libraries open, with the session's settings: HDFS, object stores, viewfs."""

    def __init__(self, session: Any) -> None:
        self._jvm = session._jvm
        self._settings = session._jsparkSession.sessionState().newHadoopConf()

    def size(self, path: str) -> int:
        """How many bytes a file has."""
        with _plain_errors():
            return int(self._system(path).getFileStatus(self._path(path)).getLen())

    def open_end(self, path: str) -> tuple[Any, int]:
        """The last bytes, as many as the footer has."""
        size = self.size(path)
        end = self._read(path, max(0, size - _END_BYTES), size)
        length = int.from_bytes(end[-_LENGTH_BYTES : -_LENGTH_BYTES // 2], "little") + _LENGTH_BYTES
        if length > len(end):
            end = self._read(path, max(0, size - length), size)
        return pa.BufferReader(end), size

    def _read(self, path: str, begin: int, end: int) -> bytes:
        with _plain_errors(), closing(self._system(path).open(self._path(path))) as stream:
            stream.seek(begin)
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream, end - begin))

    def _system(self, path: str) -> Any:
        return self._path(path).getFileSystem(self._settings)

    def _path(self, path: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(plain(path))


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What the JVM has to say of a file, as Python says it."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        raise OSError(str(error.java_exception.toString())) from None


def files_of(df: DataFrame, path: str) -> Files:
    """How to reach a file that Spark has listed, and others beside it: by Arrow if possible."""
    try:
        ArrowFiles().size(path)
    except _UNREACHABLE as error:
        if type(df).__module__.startswith("pyspark.sql.classic"):
            return HadoopFiles(df.sparkSession)
        raise DataError(
            f"the files cannot be reached with Arrow: {error}",
            hint="use situ.match or situ.situations on spark.read.parquet(...); a Connect session cannot "
            "have Spark open them for situ",
        ) from error
    return ArrowFiles()


def of_each(look: Callable[[str], T], paths: Iterable[str]) -> list[T]:
    """What `look` says of every file, several at a time."""
    try:
        with ThreadPoolExecutor(_READERS) as pool:
            return list(pool.map(look, paths))
    except _UNREACHABLE as error:
        raise DataError(f"a file cannot be read: {error}") from error
