"""Values that are never printed: passwords and the like are hidden in everything the commands say.

Messages of our own and of Spark's go through `redacted`. Spark's log is written by the JVM itself, which
finds the same values in its environment (`log4j2.properties`); only this user can see that.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterable
from typing import Any

HIDDEN = "***"
_FOR_THE_JVM = "SITU_HIDDEN"
_LONG = 8  # shorter ones are hidden where they stand as words, lest every "ssl" of a message is lost
REDACTED_NAMES = (
    "(?i)password|passwd|passphrase|secret|token|jaas|credential|private|keystore.key|user.info|api.?key"
)
_LOOKS_SECRET = re.compile(REDACTED_NAMES)
_SAYS_HOW = re.compile(
    r"(protocol|mechanism|location|type|algorithm|url|class|ms|seconds|bytes|records|servers|id|name|offsets)$",
    re.IGNORECASE,
)
_INNER = re.compile(r'([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s";]+))')

_hidden: set[str] = set()


def looks_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret.

    >>> [looks_secret(name) for name in ("kafka.ssl.key.password", "kafka.ssl.keystore.type")]
    [True, False]
    """
    return _LOOKS_SECRET.search(name) is not None and not says_how(name)


def says_how(name: str) -> bool:
    """Whether a setting names a way or a place, such as a protocol or a file, and holds no secret itself."""
    return _SAYS_HOW.search(name) is not None


def hide(values: Iterable[str]) -> None:
    """From now on print none of these values, nor the passwords inside them; call it before Spark starts."""
    for value in values:
        inner = [match[2] or match[3] for match in _INNER.finditer(value) if looks_secret(match[1])]
        lines = [line.strip() for line in value.splitlines() if len(line.strip()) >= _LONG]
        for part in filter(None, (value, value.strip(), *inner, *lines)):
            _hidden.update((part, json.dumps(part)[1:-1]))  # as it is, and inside JSON
    if _hidden:
        os.environ[_FOR_THE_JVM] = _pattern_without_escapes()
        sys.excepthook = _print_traceback
        threading.excepthook = lambda found: _print_traceback(
            found.exc_type, found.exc_value, found.exc_traceback
        )


def redacted(text: str) -> str:
    """The text without any hidden value."""
    for part in sorted(_hidden, key=len, reverse=True):
        exact = re.escape(part)
        text = re.sub(exact if len(part) >= _LONG else rf"(?<!\w){exact}(?!\w)", HIDDEN, text)
    return text


def _pattern_without_escapes() -> str:
    """The hidden values as a Java expression without braces and backslashes: those mean something to log4j.

    A dot stands for all but letters and digits: rather too much is hidden than too little.
    """
    parts = []
    for part in sorted(_hidden, key=len, reverse=True):
        loose = re.sub("[^A-Za-z0-9]", ".", part)
        parts.append(loose if len(part) >= _LONG else f"(?<![A-Za-z0-9_]){loose}(?![A-Za-z0-9_])")
    return f"(?s)({'|'.join(parts)})"


def _print_traceback(kind: Any, error: Any, trace: Any) -> None:
    sys.stderr.write(redacted("".join(traceback.format_exception(kind, error, trace))))
