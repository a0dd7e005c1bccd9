"""The columns that programs read, as lines of plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from situ.errors import ExpressionError
from situ.expressions import types as t
from situ.expressions.vectors import loader
from situ.operators.rowpattern.kernels.layout import FAILED, VALID, Bytes, Floats, Ints
from situ.operators.rowpattern.programs import Column

Columns = Mapping[str, pa.Array]


class Lines(NamedTuple):
    """Values and states, a line for each column; and the codes of texts that programs name."""

    ints: Ints
    int_state: Bytes
    floats: Floats
    float_state: Bytes
    texts: Ints


class LineReader:
    """Reads the columns of one query's programs."""

    def __init__(self, ints: Sequence[Column], floats: Sequence[Column], texts: Sequence[str]) -> None:
        self._ints, self._floats = ints, floats
        self._texts = pa.array(texts, t.STRING)
        self._loaders = {id(column): loader(column.compiled.type) for column in (*ints, *floats)}
        has_strings = any(column.type == t.STRING for column in ints)
        self._fixed = None if has_strings else self._coded({}, np.empty((0, 0), np.int64))

    def __call__(self, columns: Columns, n: int) -> Lines:
        """The lines of n rows; kernels only read them."""
        ints, int_state, strings = self._numbers(self._ints, np.int64, columns, n)
        floats, float_state, _ = self._numbers(self._floats, np.float64, columns, n)
        texts = self._fixed if self._fixed is not None else self._coded(strings, ints)
        ints.flags.writeable = floats.flags.writeable = False
        return Lines(ints, int_state, floats, float_state, texts)

    def _numbers(
        self, kept: Sequence[Column], kind: type, columns: Columns, n: int
    ) -> tuple[Any, Bytes, dict[int, pa.Array]]:
        """Values and states of some columns; strings, which have no values yet, by line."""
        state = np.empty((len(kept), n), np.uint8)
        if len(kept) == 1 and kept[0].compiled.is_bare and kept[0].type in (t.BIGINT, t.DOUBLE):
            found, valid = self._loaders[id(kept[0])](columns[kept[0].compiled.columns[0]])
            state[0] = VALID if valid is None else valid
            return found.reshape(1, n), state, {}
        values: npt.NDArray[Any] = np.empty((len(kept), n), kind)
        strings = {}
        for line, column in enumerate(kept):
            is_text = column.type == t.STRING
            found = self._read(column, columns, n, None if is_text else values[line], state[line])
            if is_text:
                strings[line] = found
        return values, state, strings

    def _read(
        self, column: Column, columns: Columns, n: int, values: Ints | Floats | None, state: Bytes
    ) -> pa.Array:
        """Fill a line; strings are given back instead."""
        rows = [(0, n)]
        parts = []
        while rows:  # halved where it raises, until those stand alone that do
            begin, end = rows.pop()
            some = columns
            if end - begin < n:
                some = {name: columns[name].slice(begin, end - begin) for name in column.compiled.columns}
            try:
                array = column.compiled(some, end - begin)
            except ExpressionError:
                if end - begin == 1:
                    state[begin] = FAILED
                    parts.append(pa.nulls(1, t.STRING))
                else:
                    middle = (begin + end) // 2
                    rows += [(middle, end), (begin, middle)]
                continue
            found, valid = self._loaders[id(column)](array)
            state[begin:end] = VALID if valid is None else valid
            if values is None:
                parts.append(found)
            else:
                values[begin:end] = found
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts) if values is None else None

    def _coded(self, strings: Mapping[int, pa.Array], ints: Ints) -> Ints:
        """Texts as numbers of the same order: one dictionary for all lines and all that programs name."""
        every = pa.concat_arrays([self._texts, *(one.cast(t.STRING) for one in strings.values())])
        coded = every.dictionary_encode()
        order = pc.array_sort_indices(coded.dictionary).to_numpy()
        rank = np.empty(len(order) + 1, np.int64)
        rank[order] = np.arange(len(order))
        places = coded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
        codes: Ints = rank[places]
        at = len(self._texts)
        for line, one in strings.items():
            ints[line] = codes[at : at + len(one)]
            at += len(one)
        return codes[: len(self._texts)]
