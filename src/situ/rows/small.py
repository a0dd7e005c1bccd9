"""Small batches: time and boolean columns read at once, for an object of each costs more than a step."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.expressions import Compiled
from situ.language.text.types import Column
from situ.rows.kernels.memory import read_batch
from situ.rows.schema import Ticks, are_ticks

Mask = npt.NDArray[np.unsignedinteger]
Predicate = tuple[Compiled, int]

_MOST_ROWS = 1 << 14

_address_in = ctypes.pythonapi.PyCapsule_GetPointer
_address_in.restype, _address_in.argtypes = ctypes.c_size_t, [ctypes.py_object, ctypes.c_char_p]


class BatchReader:
    """Reads batches of one schema through Arrow's C data interface."""

    def __init__(
        self,
        schema: pa.Schema,
        time: Column,
        conditions: Sequence[Predicate],
        mask_type: np.dtype[np.unsignedinteger],
    ) -> None:
        position = {name: at for at, name in enumerate(schema.names)}
        read = [one for one in conditions if one[0].is_bare and one[0].type == pa.bool_()]
        self.others = [one for one in conditions if one not in read]
        self._is_able = are_ticks(schema.field(time.name).type, time.unit)
        self._time_at = position[time.name]
        self._columns_at = np.array([position[compiled.columns[0]] for compiled, _ in read], np.int64)
        self._bits = np.array([bits for _, bits in read], mask_type)

    def __call__(self, batch: pa.Table | pa.RecordBatch) -> tuple[Ticks, Mask] | None:
        """Instants, and the mask without the bits of `others`; None: columns have to be looked at singly."""
        if not isinstance(batch, pa.RecordBatch) or not self._is_able:
            return None
        if not 0 < batch.num_rows <= _MOST_ROWS:
            return None
        _, exported = batch.__arrow_c_array__()  # alive, and with it the memory, until this returns
        address = _address_in(exported, b"arrow_array")
        time, mask, is_whole = read_batch(address, self._time_at, self._columns_at, self._bits)
        return (time, mask) if is_whole else None
