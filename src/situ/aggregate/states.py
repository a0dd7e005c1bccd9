"""States: what aggregates remember of situations, in columns, one entry for each situation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from situ.aggregate.arrays import AnyArray, Numbers, joined, taken

if TYPE_CHECKING:
    from situ.aggregate.components import Component


class Part:
    """What one component holds for each entry.

    `raw` says that each entry is one event and `arrays` are the event's own columns, not yet a summary.
    """

    __slots__ = ("arrays", "raw")

    def __init__(self, raw: bool, arrays: tuple[AnyArray, ...]) -> None:
        self.raw = raw
        self.arrays = arrays


class States:
    """One state for each entry, immutable; combined by `AggregateSpec.fold`."""

    __slots__ = ("components", "length", "parts")

    def __init__(self, components: tuple[Component, ...], parts: tuple[Part, ...], length: int) -> None:
        self.components = components
        self.parts = parts
        self.length = length

    def __len__(self) -> int:
        return self.length

    def take(self, idx: Numbers) -> States:
        """The entries `idx` (int64, none negative), in that order."""
        parts = tuple(
            Part(part.raw, tuple(taken(array, idx) for array in part.arrays)) for part in self.parts
        )
        return States(self.components, parts, idx.size)

    @staticmethod
    def concat(several: Sequence[States]) -> States:
        """One after the other; at least one, all of the same specification."""
        first = several[0]
        if len(several) == 1:
            return first
        lengths = [states.length for states in several]
        parts = tuple(
            _joined_part(component, [states.parts[position] for states in several], lengths)
            for position, component in enumerate(first.components)
        )
        return States(first.components, parts, sum(lengths))

    def condensed(self) -> States:
        """The same states with no part raw."""
        if not any(part.raw for part in self.parts):
            return self
        parts = tuple(
            component.condense(part, self.length)
            for component, part in zip(self.components, self.parts, strict=True)
        )
        return States(self.components, parts, self.length)

    @property
    def nbytes(self) -> int:
        """Memory the arrays refer to."""
        return sum(array.nbytes for part in self.parts for array in part.arrays)


def _joined_part(component: Component, parts: list[Part], lengths: list[int]) -> Part:
    if not all(part.raw for part in parts):
        parts = [component.condense(part, length) for part, length in zip(parts, lengths, strict=True)]
    columns = zip(*(part.arrays for part in parts), strict=True)
    return Part(parts[0].raw, tuple(joined(column, lengths) for column in columns))
