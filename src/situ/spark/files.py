"""Files wherever Arrow reaches them: local paths and URIs as Spark writes them."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

from pyarrow import fs


def open_file(path: str) -> Any:
    """A file to read from, seekable."""
    system, inner = file_system(path)
    return system.open_input_file(inner)


def file_system(path: str) -> Any:
    """The file system of a path or URI, and the path within it, as a pair."""
    parts = urlsplit(path)
    if parts.scheme in ("", "file") or len(parts.scheme) == 1:  # one letter is a Windows drive
        inner = unquote(parts.path) if parts.scheme == "file" else path
        return fs.LocalFileSystem(), inner
    if parts.scheme in ("s3a", "s3n"):  # Hadoop's names for what Arrow calls s3
        return fs.FileSystem.from_uri("s3" + path[3:])
    return fs.FileSystem.from_uri(path)


def file_size(path: str) -> int:
    """How many bytes a file has."""
    system, inner = file_system(path)
    info = system.get_file_info(inner)
    if info.type != fs.FileType.File:
        raise FileNotFoundError(f"{path} is not a file")
    return int(info.size)
