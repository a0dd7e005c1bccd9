"""Symbols as Python names: `A.overlaps(B) | A.meets(B)`, `A.ts < B.ts`, `A.avg("speed")`."""

from __future__ import annotations

from situ.language.building.constraints import Constraint, Endpoint
from situ.language.building.values import Value, value
from situ.language.situations.printer import symbol_text
from situ.language.text.words import ITEM_ENDPOINTS, quote


class SymbolName:
    """The name of a symbol, with the relations, endpoints and aggregates it can have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<symbol {self.name}>"

    def _relates(self, relation: str, other: SymbolName) -> Constraint:
        return Constraint.between(symbol_text(self.name), relation, symbol_text(str(other)))

    def before(self, other: SymbolName) -> Constraint:
        """This ends before the other starts."""
        return self._relates("before", other)

    def meets(self, other: SymbolName) -> Constraint:
        """This ends when the other starts."""
        return self._relates("meets", other)

    def overlaps(self, other: SymbolName) -> Constraint:
        """This starts first and ends while the other goes on."""
        return self._relates("overlaps", other)

    def finished_by(self, other: SymbolName) -> Constraint:
        """This starts first and both end together."""
        return self._relates("finished-by", other)

    def contains(self, other: SymbolName) -> Constraint:
        """This starts before the other and ends after it."""
        return self._relates("contains", other)

    def starts(self, other: SymbolName) -> Constraint:
        """Both start together and this ends first."""
        return self._relates("starts", other)

    def equals(self, other: SymbolName) -> Constraint:
        """Both start and end together."""
        return self._relates("equals", other)

    def started_by(self, other: SymbolName) -> Constraint:
        """Both start together and this ends last."""
        return self._relates("started-by", other)

    def during(self, other: SymbolName) -> Constraint:
        """This starts after the other and ends before it."""
        return self._relates("during", other)

    def finishes(self, other: SymbolName) -> Constraint:
        """This starts last and both end together."""
        return self._relates("finishes", other)

    def overlapped_by(self, other: SymbolName) -> Constraint:
        """The other starts first and ends while this goes on."""
        return self._relates("overlapped-by", other)

    def met_by(self, other: SymbolName) -> Constraint:
        """This starts when the other ends."""
        return self._relates("met-by", other)

    def after(self, other: SymbolName) -> Constraint:
        """This starts after the other has ended."""
        return self._relates("after", other)

    def followed_by(self, other: SymbolName) -> Constraint:
        """Before the other, with no event of either in between."""
        return self._relates("followed-by", other)

    def follows(self, other: SymbolName) -> Constraint:
        """After the other, with no event of either in between."""
        return self._relates("follows", other)

    def while_(self, other: SymbolName) -> Constraint:
        """They share some time."""
        return self._relates("while", other)

    def intersects(self, other: SymbolName) -> Constraint:
        """They share some time: the same as `while_`."""
        return self._relates("intersects", other)

    def inside(self, other: SymbolName) -> Constraint:
        """The other goes on all the time of this."""
        return self._relates("inside", other)

    def covers(self, other: SymbolName) -> Constraint:
        """This goes on all the time of the other."""
        return self._relates("covers", other)

    def apart_from(self, other: SymbolName) -> Constraint:
        """They share no time."""
        return self._relates("apart from", other)

    @property
    def ts(self) -> Endpoint:
        """The start."""
        return Endpoint(f"{symbol_text(self.name)}.ts")

    @property
    def te(self) -> Endpoint:
        """The end."""
        return Endpoint(f"{symbol_text(self.name)}.te")

    @property
    def duration(self) -> Value:
        """The length, null while the situation is open."""
        return Value(f"{quote(self.name)}.duration")

    def value(self, attribute: str) -> Value:
        """The attribute of a given interval; situations made of events need an aggregate."""
        return Value(self._path(attribute))

    def first(self, attribute: str) -> Value:
        """The value of the first event."""
        return self._aggregate("first", attribute)

    def last(self, attribute: str) -> Value:
        """The value of the last event."""
        return self._aggregate("last", attribute)

    def sum(self, attribute: str) -> Value:
        """The sum over the events."""
        return self._aggregate("sum", attribute)

    def avg(self, attribute: str) -> Value:
        """The average over the events."""
        return self._aggregate("avg", attribute)

    def min(self, attribute: str) -> Value:
        """The smallest value."""
        return self._aggregate("min", attribute)

    def max(self, attribute: str) -> Value:
        """The largest value."""
        return self._aggregate("max", attribute)

    def stddev(self, attribute: str) -> Value:
        """The sample standard deviation."""
        return self._aggregate("stddev", attribute)

    def median(self, attribute: str) -> Value:
        """The value in the middle, or halfway between the two there."""
        return self._aggregate("median", attribute)

    def percentile(self, attribute: str, fraction: float) -> Value:
        """The value below which `fraction` (0 to 1) of the values lie, interpolated."""
        return Value(f"percentile({self._path(attribute)}, {value(fraction).sql})")

    def collect_list(self, attribute: str) -> Value:
        """The values that are not null, in the order of the events."""
        return self._aggregate("collect_list", attribute)

    def count(self, attribute: str | None = None) -> Value:
        """The number of events, or of those where the attribute is not null."""
        return (
            Value(f"count({quote(self.name)})") if attribute is None else self._aggregate("count", attribute)
        )

    def _aggregate(self, function: str, attribute: str) -> Value:
        return Value(f"{function}({self._path(attribute)})")

    def _path(self, attribute: str) -> str:
        bare = quote(attribute)
        # Bare, ts would be the start of the situation and not a column of that name.
        return f"{quote(self.name)}.{f'`{attribute}`' if attribute.lower() in ITEM_ENDPOINTS else bare}"


def symbols(*names: str) -> tuple[SymbolName, ...]:
    """Names for the situations of a query: `A, B = symbols("A", "B")`."""
    return tuple(SymbolName(name) for name in names)
