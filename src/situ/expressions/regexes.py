"""RLIKE: the part of Java's regular expressions that has one meaning in Java and in RE2, written out for RE2.

Spark asks whether Java finds the expression anywhere in the text. That depends only on which texts the
expression matches, not on which of several matches comes first: greedy and reluctant quantifiers are alike.
All is written out as plain characters and sets of them, which leaves RE2 nothing to read its own way:

- `.` is all but Java's line ends, `\\d \\w \\s` are ASCII, `(?i)` is about ASCII letters only.
- `$` also matches before a line end that ends the text, though not between \\r and \\n. It can only be
  written out at the end of a pattern, and differently for texts that end with \\r\\n.
- `\\b` is ASCII in Java 19 and later, Unicode before, so it is taken on ASCII texts and refused on others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t
from situ.expressions.evaluate import unary
from situ.expressions.node import Node, constant
from situ.expressions.vectors import Mask, Values, Vector, read_boolean, to_arrow

Ranges = list[tuple[int, int]]  # of code points, both ends included

_LAST: Final = 0x10FFFF
_LINE_ENDS: Final[Ranges] = [(0x0A, 0x0A), (0x0D, 0x0D), (0x85, 0x85), (0x2028, 0x2029)]
_DIGITS: Final[Ranges] = [(ord("0"), ord("9"))]
_WORD: Final[Ranges] = [*_DIGITS, (ord("A"), ord("Z")), (ord("_"), ord("_")), (ord("a"), ord("z"))]
_SPACES: Final[Ranges] = [(0x09, 0x0D), (0x20, 0x20)]
_CLASSES: Final = {"d": _DIGITS, "w": _WORD, "s": _SPACES}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_COUNT: Final = re.compile(r"\{([0-9]{1,4})(,([0-9]{1,4})?)?\}")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_NAME: Final = re.compile(r"\(\?<([a-zA-Z][a-zA-Z0-9]*)>")
_DEEPEST: Final = 50
_END: Final = "$"  # stands for itself in what is translated, where nothing else is a dollar sign


@dataclass(frozen=True)
class _Translated:
    """The expression for RE2; `plain` and `after_crlf` differ where it has a `$`."""

    plain: str
    after_crlf: str
    has_word_bounds: bool


def rlike(child: Node, pattern: Node) -> Node:
    """`child RLIKE pattern`, the pattern a literal."""
    if child.is_null or pattern.is_null:
        return constant(t.BOOLEAN, None)
    if not pattern.folded:
        raise UnsupportedExpressionError("RLIKE with a pattern that is not a literal")
    translated = _Translation(pattern.value).result()

    def kernel(values: Values, valid: Mask | None) -> Vector:
        if translated.has_word_bounds:
            _refuse_beyond_ascii(to_arrow((values, valid), t.STRING, len(values)), pattern.value)
        found = _find(values, translated.plain)
        if translated.plain != translated.after_crlf:
            crlf = read_boolean(pc.ends_with(values, pattern="\r\n"))[0]
            if crlf.any():
                found = np.where(crlf, _find(values, translated.after_crlf), found)
        return found, valid

    return unary(t.BOOLEAN, child, kernel, raises=translated.has_word_bounds)


def _find(values: Values, regex: str) -> Values:
    return read_boolean(pc.match_substring_regex(values, pattern=regex))[0]


def _refuse_beyond_ascii(values: pa.Array, pattern: str) -> None:
    beyond = values.filter(pc.invert(pc.string_is_ascii(values)))
    if len(beyond):
        raise UnsupportedExpressionError(
            f"RLIKE {pattern!r} on {beyond[0].as_py()!r}, where \\b depends on the version of Java,"
        )


class _Translation:
    """Reads a Java regular expression from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._ignore_case = False
        self._dot_all = False
        self._depth = 0
        self._names: set[str] = set()
        self._has_word_bounds = False

    def result(self) -> _Translated:
        regex, _ = self._alternatives()
        if self._at < len(self._pattern):
            self._refuse("a ) without its (")
        line_end = _set(_LINE_ENDS)
        translated = _Translated(
            regex.replace(_END, rf"(?:{line_end}?\z)"),
            regex.replace(_END, r"(?:(?:\r\n)?\z)"),
            self._has_word_bounds,
        )
        try:
            for expression in (translated.plain, translated.after_crlf):
                pc.match_substring_regex(pa.array([""]), pattern=expression)
        except pa.ArrowInvalid:  # RE2 has limits on what an expression may grow to
            self._refuse("more repetition than can be counted")
        return translated

    def _refuse(self, what: str) -> NoReturn:
        raise UnsupportedExpressionError(f"RLIKE {self._pattern!r}, which has {what},")

    def _peek(self, n: int = 1) -> str:
        return self._pattern[self._at : self._at + n]

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            self._refuse("no end")
        self._at += 1
        return self._pattern[self._at - 1]

    # Each gives the expression for RE2, and whether it may end with a `$`.

    def _alternatives(self) -> tuple[str, bool]:
        regex, has_end = self._sequence()
        while self._peek() == "|":
            self._at += 1
            more, more_end = self._sequence()
            regex, has_end = f"{regex}|{more}", has_end or more_end
        return regex, has_end

    def _sequence(self) -> tuple[str, bool]:
        regex, has_end = "", False
        while self._peek() not in ("", "|", ")"):
            item, item_end, repeatable = self._item()
            if has_end and item:
                self._refuse("a $ before the end")
            count = self._quantifier()
            if count and (item_end or not repeatable):
                self._refuse(f"{count} behind an anchor")
            regex, has_end = regex + item + count, has_end or item_end
        return regex, has_end

    def _item(self) -> tuple[str, bool, bool]:
        """Something to repeat: the expression, whether it may end with a `$`, whether it can be repeated."""
        char = self._next()
        if char == "(":
            return self._group()
        if char == "^":
            return r"\A", False, False
        if char == "$":
            return _END, True, False
        if char == "\\":
            return self._escape()
        if char == ".":
            return _set([(0, _LAST)] if self._dot_all else _others(_LINE_ENDS)), False, True
        if char == "[":
            return _set(self._class()), False, True
        if char in "*+?{":
            self._refuse(f"a {char} with nothing to repeat")
        return self._character(char), False, True

    def _character(self, char: str) -> str:
        return _set(self._either_case([(ord(char), ord(char))]))

    def _group(self) -> tuple[str, bool, bool]:
        self._at -= 1
        if named := _NAME.match(self._pattern, self._at):
            if named[1] in self._names:
                self._refuse(f"two groups called {named[1]}")
            self._names.add(named[1])
            self._at = named.end()
        elif flags := _FLAGS.match(self._pattern, self._at):
            self._at = flags.end()
            if flags[0] == "(?)":
                self._refuse("(?)")
            if flags[3] == ")":
                self._set_flags(flags[1], flags[2] or "")
                return "", False, False
            return self._inside(flags[1], flags[2] or "")
        elif self._peek(2) == "(?":
            self._refuse(f"{self._pattern[self._at : self._at + 4]}, look-around or an atomic group")
        else:
            self._at += 1
        return self._inside("", "")

    def _inside(self, on: str, off: str) -> tuple[str, bool, bool]:
        if self._depth == _DEEPEST:
            self._refuse(f"more than {_DEEPEST} groups in one another")
        before = self._ignore_case, self._dot_all
        self._set_flags(on, off)
        self._depth += 1
        regex, has_end = self._alternatives()
        self._depth -= 1
        self._ignore_case, self._dot_all = before  # flags set in a group end with it
        if self._peek() != ")":
            self._refuse("a ( without its )")
        self._at += 1
        return f"(?:{regex})", has_end, True

    def _set_flags(self, on: str, off: str) -> None:
        for flag in on + off:
            if flag not in "is":
                self._refuse(f"the flag {flag}")
        self._ignore_case = (self._ignore_case or "i" in on) and "i" not in off
        self._dot_all = (self._dot_all or "s" in on) and "s" not in off

    def _escape(self) -> tuple[str, bool, bool]:
        char = self._next()
        if char == "A":
            return r"\A", False, False
        if char == "z":
            return r"\z", False, False
        if char == "Z":
            return _END, True, False
        if char == "b" and self._peek() != "{":
            self._has_word_bounds = True
            return r"\b", False, False
        if char.lower() in _CLASSES:
            return _set(_class_of(char)), False, True
        return self._character(self._escaped(char)), False, True

    def _escaped(self, char: str) -> str:
        """The character an escape stands for, `char` the one behind the backslash."""
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in "xu":
            digits = self._peek(2 if char == "x" else 4)
            if re.fullmatch(r"[0-9a-fA-F]{2}|[0-9a-fA-F]{4}", digits):
                self._at += len(digits)
                code = int(digits, 16)
                if not 0xD800 <= code <= 0xDFFF:
                    return chr(code)
        if char in "123456789" or char == "k":
            self._refuse(f"\\{char}, a back-reference")
        if char.isalnum() or not char.isascii():
            self._refuse(f"\\{char}")
        return char

    def _class(self) -> Ranges:
        """A bracketed set, read up to its `]`."""
        negated = self._peek() == "^"
        self._at += negated
        ranges: Ranges = []
        while (char := self._next()) != "]" or not ranges:
            if char in "[]" or (char == "&" and self._peek() == "&"):
                self._refuse(f"{char} in a bracketed set")
            if char == "-" and ranges and self._peek() != "]":
                self._refuse("a - in the middle of a bracketed set")
            if char == "\\" and self._peek() != "" and self._peek().lower() in _CLASSES:
                ranges += _class_of(self._next())
                continue
            first = self._escaped(self._next()) if char == "\\" else char
            ranges.append((ord(first), ord(self._range_end(first))))
            if ranges[-1][0] > ranges[-1][1]:
                self._refuse("a range whose end comes first")
        ranges = self._either_case(ranges)
        return _others(ranges) if negated else ranges

    def _range_end(self, first: str) -> str:
        if self._peek() != "-" or self._peek(2) in ("-", "-]"):
            return first
        self._at += 1
        char = self._next()
        if char in "[-&" or (char == "\\" and self._peek().lower() in _CLASSES):
            self._refuse(f"a range to {char}")
        return self._escaped(self._next()) if char == "\\" else char

    def _either_case(self, ranges: Ranges) -> Ranges:
        """With (?i) the ASCII letters of the set in both cases."""
        if not self._ignore_case:
            return ranges
        letters = range(ord("a"), ord("z") + 1)
        upper = [code - 32 for code in letters if _holds(ranges, code)]
        lower = [code for code in letters if _holds(ranges, code - 32)]
        return ranges + [(code, code) for code in upper + lower]

    def _quantifier(self) -> str:
        char = self._peek()
        if char == "" or char not in "*+?{":
            return ""
        count = char
        if char == "{":
            found = _COUNT.match(self._pattern, self._at)
            if found is None or (found[3] and int(found[3]) < int(found[1])):
                self._refuse("a { that begins no count")
            count = found[0]
        self._at += len(count)
        if self._peek() == "+":
            self._refuse(f"{count}+, a possessive quantifier")
        if self._peek() == "?":
            self._at += 1
        if self._peek() != "" and self._peek() in "*+?{":
            self._refuse(f"{self._peek()} behind a quantifier")
        return count


def _class_of(char: str) -> Ranges:
    ranges = _CLASSES[char.lower()]
    return _others(ranges) if char.isupper() else ranges


def _holds(ranges: Ranges, code: int) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _others(ranges: Ranges) -> Ranges:
    """All code points that are not in the ranges."""
    others, start = [], 0
    for first, last in sorted(ranges):
        if first > start:
            others.append((start, first - 1))
        start = max(start, last + 1)
    return [*others, (start, _LAST)] if start <= _LAST else others


def _set(ranges: Ranges) -> str:
    """The ranges as RE2 reads them; the empty set as one too."""
    if not ranges:
        return r"[^\x{0}-\x{10FFFF}]"
    return "[" + "".join(rf"\x{{{first:X}}}-\x{{{last:X}}}" for first, last in ranges) + "]"
