"""Conditions that look back, evaluated over rows in order, and what is kept for the rows to come (SEM 15)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.errors import BindError, UnsupportedExpressionError
from situ.expressions import Compiled, compile_condition
from situ.language.text.nodes import Expression
from situ.operators.situations.earlier import Earlier
from situ.operators.situations.kernels.back import histories, last_places, places_back
from situ.operators.situations.kernels.layout import Rows
from situ.operators.situations.look_back import LookBack
from situ.rows.columns import truths
from situ.rows.prepared import Flags, Positions
from situ.saved.checks import require
from situ.saved.codec import Reader, Writer


class Looking:
    """The looks back of a query, compiled for columns of these types."""

    def __init__(
        self, look_back: LookBack, schema: pa.Schema, forget_after: int, *, ansi: bool, time_zone: str
    ) -> None:
        self.look_back = look_back
        self.most = look_back.most
        self.types = {name: schema.field(name).type for name in look_back.carried_names}
        self._kept_types = [_kept_type(self.types[name]) for name in look_back.looked_at]
        self._forget_after = forget_after
        self._looked_at = look_back.looked_at
        own = {column.name: self.types[column.name] for column in look_back.plain}
        backs = {back.name: _kept_type(self.types[back.column]) for back in look_back.backs}
        seen = pa.schema([*own.items(), *backs.items()])
        conditions: dict[str, Compiled] = {}
        bits: dict[str, int] = {}
        for symbol, what, condition in look_back.conditions:
            if condition.sql not in conditions:
                conditions[condition.sql] = _compiled(condition, seen, what, ansi=ansi, time_zone=time_zone)
            bits[condition.sql] = bits.get(condition.sql, 0) | 1 << symbol
        self._conditions = [(compiled, bits[sql]) for sql, compiled in conditions.items()]
        self.bits = sum(bits.values())

    def nothing(self, n_slots: int) -> Earlier:
        """Of slots never seen before."""
        columns = tuple(pa.array([], kind) for kind in self._kept_types)
        return Earlier(np.zeros(n_slots + 1, np.int64), columns)

    def decided(
        self,
        rows: Rows,
        columns: Mapping[str, pa.Array],
        kept: Earlier,
        horizon: Positions,
        *,
        wanted: Flags | None = None,
        has_values: Flags | None = None,
    ) -> tuple[Rows, Earlier]:
        """The rows with the bits of conditions that look back, and what is kept for those to come.

        Only the rows `wanted` are judged, all where it is None. `columns` are those of the rows that
        `has_values` says, of all where it is None: the others are never looked at.
        """
        n_kept, n_rows = int(kept.offset[-1]), len(rows.time)
        history, latest = histories(rows.time, rows.offset, horizon, self._forget_after)
        place = None  # of each row among those with values
        if has_values is not None:
            place = np.concatenate([np.arange(n_kept), n_kept - 1 + np.cumsum(has_values)])
        judged = None if wanted is None else np.flatnonzero(wanted)
        values = {
            name: pa.concat_arrays([before, _kept_column(columns[name])])
            if n_kept
            else _kept_column(columns[name])
            for name, before in zip(self._looked_at, kept.columns, strict=True)
        }
        mask = rows.mask.copy()
        if judged is None or len(judged):
            seen = self._seen(rows, columns, values, kept.offset, history, judged, place)
            self._set_bits(mask, seen, judged, n_rows)
        places, offset = last_places(history, latest, rows.offset, kept.offset, self.most)
        taken = pa.array(places if place is None else place[places])
        earlier = Earlier(offset, tuple(values[name].take(taken) for name in self._looked_at))
        return rows._replace(mask=mask), earlier

    def _seen(
        self,
        rows: Rows,
        columns: Mapping[str, pa.Array],
        values: Mapping[str, pa.Array],
        kept_offset: Positions,
        history: Positions,
        judged: Positions | None,
        place: Positions | None,
    ) -> dict[str, pa.Array]:
        """What conditions read of the rows to be judged."""
        own = {column.name: columns[column.name] for column in self.look_back.plain}
        if judged is not None:
            n_kept = int(kept_offset[-1])
            at = pa.array(judged if place is None else place[n_kept + judged] - n_kept)
            own = {name: column.take(at) for name, column in own.items()}
        for name, column, n in self.look_back.backs:
            places = places_back(history, rows.offset, kept_offset, n)
            places = places if judged is None else places[judged]
            is_none = places < 0
            if place is not None:
                places = place[places]
            own[name] = values[column].take(pa.array(places, mask=is_none))
        return own

    def _set_bits(
        self,
        mask: npt.NDArray[np.unsignedinteger],
        seen: Mapping[str, pa.Array],
        judged: Positions | None,
        n_rows: int,
    ) -> None:
        n_judged = n_rows if judged is None else len(judged)
        found = np.zeros(n_judged, mask.dtype)
        for condition, bits in self._conditions:
            found |= truths(condition(seen, n_judged)).astype(mask.dtype) * mask.dtype.type(bits)
        others = ~mask.dtype.type(self.bits)
        if judged is None:
            mask &= others
            mask |= found
        else:
            mask[judged] = mask[judged] & others | found

    def write(self, writer: Writer, earlier: Earlier) -> None:
        """Add what is kept to saved state."""
        writer.array(earlier.offset)
        writer.columns(list(earlier.columns))

    def read(self, reader: Reader, n_slots: int) -> Earlier:
        """What `write` wrote of so many slots, checked."""
        offset = reader.array(np.int64, (n_slots + 1,))
        counts = np.diff(offset)
        is_sound = offset[0] == 0 and bool((counts >= 0).all() and (counts <= self.most).all())
        require(is_sound, "values of earlier instants begin or end where there are none")
        return Earlier(offset, tuple(reader.columns(self._kept_types, int(offset[-1]))))


def _compiled(condition: Expression, schema: pa.Schema, what: str, *, ansi: bool, time_zone: str) -> Compiled:
    try:
        return compile_condition(condition, schema, what, ansi=ansi, time_zone=time_zone)
    except UnsupportedExpressionError as error:
        raise BindError(
            f"{error.message}, and what stands around prev in {what} is evaluated by situ itself, "
            "also on Spark",
            hint="put it inside of prev, where Spark evaluates everything, or compute it as a column first",
        ) from None


def _kept_type(kind: pa.DataType) -> pa.DataType:
    """The type in which values are kept: a dictionary would be kept with all it has ever held."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _kept_column(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
