"""Files as Arrow opens them, by paths and URIs as Spark writes them."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from pyarrow import fs

_ESCAPE = re.compile("%([0-9a-fA-F]{2})")


def plain(path: str) -> str:
    """A path as Hadoop takes it: Spark lists files as URIs, with what is special in them escaped."""
    return unquote(path)


def folder_texts(path: str) -> dict[str, str]:
    """The hive folders in a path that Spark lists: names of columns, and the text of their values.

    Escaped twice: as Spark writes names of folders, and the whole of it again as a URI.

    >>> folder_texts("file:///t/a%253Ab=x%2520y%252520z/part.parquet")
    {'a:b': 'x y%20z'}
    """
    pairs = (folder.partition("=") for folder in plain(path).split("/")[:-1])
    return {_unescaped(name): _unescaped(text) for name, equals, text in pairs if equals}


def _unescaped(name: str) -> str:
    """What Spark reads in the name of a folder: each escape is one character, not a byte of UTF-8."""
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), name)


def open_file(path: str) -> Any:
    """A file that Arrow reaches, to read from, seekable."""
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
