"""UPPER and LOWER, with Unicode's full mappings: ß becomes SS, and Σ at the end of a word ς."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.evaluate import unary
from situ.expressions.node import Node
from situ.expressions.vectors import Mask, Values, Vector, to_arrow

# What Unicode 15 to 17 changed of older characters: four small letters got capitals; a letter and a sign
# count otherwise when it is decided whether a Σ ends a word.
_CHANGED: Final = frozenset("\u019b\u0264\ua7d3\ua7d5\u0295\U0001171e")
_CASELESS: Final = range(0x1F000, 0x40000)  # pictures and Han: new ones come often, and none has a case


def upper(child: Node) -> Node:
    return _cased(child, "UPPER", pc.ascii_upper, str.upper)


def lower(child: Node) -> Node:
    return _cased(child, "LOWER", pc.ascii_lower, str.lower)


def _cased(child: Node, name: str, quickly: Callable[[Values], Values], fully: Callable[[str], str]) -> Node:
    """ASCII by Arrow. Arrow maps the other characters one to one, which Spark does not, so each distinct
    text that has some goes through Python, whose mapping is the full one."""

    def kernel(values: Values, valid: Mask | None) -> Vector:
        texts = to_arrow((values, valid), t.STRING, len(values))
        result = quickly(texts)
        beyond = pc.invert(pc.fill_null(pc.string_is_ascii(texts), True))
        if pc.any(beyond).as_py():
            encoded = texts.filter(beyond).dictionary_encode()
            distinct = encoded.dictionary.to_pylist()
            _refuse_unsettled(name, distinct)
            mapped = pa.array([fully(text) for text in distinct], t.STRING)
            result = pc.replace_with_mask(result, beyond, mapped.take(encoded.indices))
        return result, valid

    return unary(t.STRING, child, kernel, raises=True)


def _refuse_unsettled(name: str, texts: list[str]) -> None:
    """Characters younger than Python's tables, and changed ones, differ between versions of Spark."""
    for char in sorted(set("".join(texts))):
        unknown = unicodedata.category(char) == "Cn" and ord(char) not in _CASELESS
        if unknown or char in _CHANGED:
            raise UnsupportedExpressionError(
                f"{name} of a text with U+{ord(char):04X}, whose case depends on the version of Unicode,"
            )
