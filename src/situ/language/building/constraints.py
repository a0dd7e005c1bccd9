"""What PATTERN asks: `A.before(B).by(at_most="5 minutes")`, `A.te + "5s" < B.te`, `no(C.during(B))`."""

from __future__ import annotations

from typing import Any

from situ.errors import QueryError
from situ.language.building.lengths import Length, is_length, length, signed, signed_text
from situ.language.building.values import Value
from situ.language.text.durations import duration_text


class Constraint:
    """What PATTERN asks of two symbols; `|` adds an alternative."""

    __slots__ = ("_alternatives", "_pair", "text")

    def __init__(
        self, text: str, *, alternatives: bool = False, pair: tuple[str, str, str] | None = None
    ) -> None:
        self.text = text
        self._alternatives = alternatives
        self._pair = pair  # of relations by name: the symbols and the names between them

    @classmethod
    def between(cls, left: str, names: str, right: str, *, alternatives: bool = False) -> Constraint:
        """Two symbols, as text, and names of relations with ; between them."""
        return cls(f"{left} {names} {right}", alternatives=alternatives, pair=(left, names, right))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Constraint {self.text}>"

    def __or__(self, other: Constraint) -> Constraint:
        if self._pair and other._pair and self._pair[::2] == other._pair[::2]:
            (left, names, right), (_, others, _) = self._pair, other._pair
            return Constraint.between(left, f"{names};{others}", right, alternatives=True)
        return Constraint(f"{self.text}; {other.text}", alternatives=True)

    def __and__(self, other: Constraint) -> Constraint:
        if self._alternatives or other._alternatives:
            raise QueryError("alternatives cannot be joined with &", hint="pass them to pattern() one by one")
        return Constraint(f"{self.text} AND {other.text}")

    def by(self, *, at_least: Length | None = None, at_most: Length | None = None) -> Constraint:
        """How far apart the two are, or how long they go on together (SEM 9.2)."""
        if self._pair is None:
            raise QueryError(
                f"by() belongs to relations between two symbols, not to {self.text}",
                hint='write A.before(B).by(at_most="5 minutes")',
            )
        low = None if at_least is None else duration_text(length(at_least))
        high = None if at_most is None else duration_text(length(at_most))
        if low is not None and high is not None:
            return Constraint(f"{self.text} BY BETWEEN {low} AND {high}")
        if low is None and high is None:
            raise QueryError("by() needs at_least, at_most or both")
        return Constraint(f"{self.text} BY AT {f'LEAST {low}' if high is None else f'MOST {high}'}")

    def __bool__(self) -> bool:
        raise QueryError(
            "a constraint has no truth value in Python",
            hint="pass several to pattern(), separate alternatives with |, and write A.ts < B.ts < A.te as "
            "(A.ts < B.ts) & (B.ts < A.te)",
        )


def no(*constraints: Constraint) -> Constraint:
    """No situation of one symbol is like all of these: `no(C.after(A), C.before(B))` (SEM 11.1)."""
    if not constraints:
        raise QueryError("no() needs to be told what is absent", hint="write no(C.during(B))")
    return Constraint(f"NO ({' AND '.join(one.text for one in constraints)})")


class Moment(Value):
    """A sum of endpoints and durations: compared it is a constraint, as it stands a value for RETURN."""

    __slots__ = ("text",)

    def __init__(self, made: Value, text: str) -> None:
        super().__init__(made.sql, made._binds)
        self.text = text

    def __add__(self, other: Any) -> Value:
        return self._moved("+", other) if is_length(other) else super().__add__(other)

    def __sub__(self, other: Any) -> Value:
        if isinstance(other, Endpoint):
            return Distance(super().__sub__(other), f"{self.text} - {other.text}")
        return self._moved("-", other) if is_length(other) else super().__sub__(other)

    def _moved(self, sign: str, by: Length) -> Moment:
        is_negative, duration = signed(by)
        if is_negative:
            sign = "-" if sign == "+" else "+"
        text = duration_text(duration)
        step = Value(f"INTERVAL '{text}'" if duration.has_unit else text)
        made = super().__add__(step) if sign == "+" else super().__sub__(step)
        return type(self)._like(made, f"{self.text} {sign} {text}")

    @classmethod
    def _like(cls, made: Value, text: str) -> Moment:
        return Moment(made, text)

    def _compared(self, sign: str, other: Any) -> Constraint | None:
        """The constraint, or None where this is not compared with a moment."""
        return Constraint(f"{self.text} {sign} {other.text}") if isinstance(other, Moment) else None

    def __lt__(self, other: Any) -> Any:
        made = self._compared("<", other)
        return super().__lt__(other) if made is None else made

    def __le__(self, other: Any) -> Any:
        made = self._compared("<=", other)
        return super().__le__(other) if made is None else made

    def __gt__(self, other: Any) -> Any:
        made = self._compared(">", other)
        return super().__gt__(other) if made is None else made

    def __ge__(self, other: Any) -> Any:
        made = self._compared(">=", other)
        return super().__ge__(other) if made is None else made

    def __eq__(self, other: object) -> Any:
        made = self._compared("=", other)
        return super().__eq__(other) if made is None else made

    __hash__ = None

    def between(self, low: Any, high: Any) -> Any:
        """From one moment to another, both included."""
        if isinstance(low, Moment) and isinstance(high, Moment):
            return Constraint(f"{self.text} BETWEEN {low.text} AND {high.text}")
        return super().between(low, high)


class Distance(Moment):
    """`B.ts - A.te`: compared with a duration it is a constraint."""

    __slots__ = ()

    def _compared(self, sign: str, other: Any) -> Constraint | None:
        if is_length(other):
            return Constraint(f"{self.text} {sign} {signed_text(other)}")
        return super()._compared(sign, other)

    @classmethod
    def _like(cls, made: Value, text: str) -> Moment:
        return Distance(made, text)

    def between(self, low: Any, high: Any) -> Any:
        """From one duration to another, both included."""
        if is_length(low) and is_length(high):
            bounds = f"{signed_text(low)} AND {signed_text(high)}"
            return Constraint(f"{self.text} BETWEEN {bounds}")
        return super().between(low, high)


class Endpoint(Moment):
    """`A.ts` or `A.te`."""

    __slots__ = ()

    def __init__(self, text: str) -> None:
        super().__init__(Value(text), text)
