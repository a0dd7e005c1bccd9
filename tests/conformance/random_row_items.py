"""Random conditions and measures of row patterns: each made from the names that a pattern has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hypothesis import strategies as st

from conformance.row_pieces import (
    ALL,
    NUMBERED,
    Of,
    Piece,
    aggregate,
    binary,
    both,
    classifier,
    col,
    either,
    is_null,
    literal,
    logical,
    no,
    physical,
)


class Names(NamedTuple):
    """What an expression may speak of: its own variable (of a condition), another one, a union."""

    own: Of
    other: Of
    union: Of


Make = Callable[[Names], Piece]

ROW: list[Make] = [
    lambda _: col("a"),
    lambda _: col("b"),
    lambda _: col("c"),
    lambda _: col("d"),
    lambda _: no(col("a")),
    lambda _: either(col("b"), col("c")),
    lambda _: binary(col("x"), ">", 1),
    lambda _: is_null(col("n")),
    lambda of: binary(col("n", of.own), ">=", 0),
    lambda of: binary(logical("x", of.own), "<", 3),
    lambda _: binary(col("s"), "=", "v1"),
    lambda _: literal("TRUE", True),
]
NEIGHBOURS: list[Make] = [
    lambda _: binary(col("x"), "<", physical(col("x"), -1)),
    lambda _: binary(col("n"), ">", physical(col("n"), -2)),
    lambda of: binary(col("x"), ">=", physical(col("x", of.own), -1)),
    lambda _: physical(col("a"), -1),
    lambda _: no(physical(col("b"), -1)),
    lambda _: is_null(physical(col("seq"), -3)),
    lambda _: binary(col("t"), "=", physical(col("t"), -1)),
]
AHEAD: list[Make] = [
    lambda _: physical(col("a"), 1),
    lambda _: binary(col("x"), ">", physical(col("x"), 1)),
    lambda _: is_null(physical(col("n"), 2)),
    lambda of: binary(physical(col("n", of.other), 1), ">", 0),
]
FIRST: list[Make] = [
    lambda _: binary(col("x"), ">", logical("x", first=True)),
    lambda _: binary(binary(col("t"), "-", logical("t", first=True)), "<=", 3),
    lambda of: binary(col("n"), ">=", col("n", of.other)),
    lambda of: binary(col("s"), "=", logical("s", of.other, first=True)),
    lambda _: binary(col("n"), "<>", logical("n", first=True, n=1)),
    lambda of: binary(col("n"), "<=", physical(logical("n", of.other, first=True), -1)),
    lambda _: either(binary(NUMBERED, "=", 1), col("a")),
    lambda _: binary(NUMBERED, "<", 3),
]
PATH: list[Make] = [
    lambda of: binary(logical("x", of.own, n=1), "<", col("x")),
    lambda of: either(is_null(logical("n", of.own, n=1)), binary(col("n", of.own), ">", logical("n", n=1))),
    lambda of: binary(logical("x", of.other), "<=", col("x")),
    lambda of: is_null(col("seq", of.other)),
    lambda of: binary(logical("n", of.union), "<>", 2),
    lambda of: binary(logical("n", of.union, first=True, n=1), "<", 3),
    lambda of: binary(aggregate("count", None, of.own), "<=", 2),
    lambda of: binary(aggregate("count", None, of.other), ">=", 1),
    lambda _: binary(aggregate("count"), "<", 4),
    lambda of: binary(aggregate("count", "x", of.union), "<", 3),
    lambda of: binary(aggregate("sum", "n", of.own), "<", 5),
    lambda _: binary(aggregate("sum", "y"), ">", 0.3),
    lambda of: binary(aggregate("avg", "y", of.union), "<=", 0.2),
    lambda _: binary(aggregate("avg", "n"), ">", 1),
    lambda of: binary(col("x"), ">=", aggregate("max", "x", of.own)),
    lambda of: binary(aggregate("min", "n", of.other), "<=", col("n")),
    lambda _: binary(aggregate("max", "s"), "<>", "v2"),
    lambda of: binary(classifier(first=False, n=1), "=", of.own.name or "A"),
    lambda of: binary(classifier(of.union), "=", of.own.name or "A"),
    lambda _: binary(classifier(first=True), "<>", "B"),
    lambda of: binary(physical(logical("n", of.other), -1), ">", 0),
]
CLASSES = [ROW] * 5 + [NEIGHBOURS] * 2 + [FIRST] * 2 + [PATH] * 3
AHEAD_CLASSES = [*CLASSES, AHEAD]


class Chosen(NamedTuple):
    """A condition or measure before the names are known."""

    make: Make
    other: int  # which variable
    joined: str  # "", AND, OR
    second: Make

    def about(self, own: Of, variables: list[Of], union: Of) -> Piece:
        names = Names(own, variables[self.other % len(variables)], union)
        piece = self.make(names)
        if not self.joined:
            return piece
        return {"AND": both, "OR": either}[self.joined](piece, self.second(names))


@cache
def conditions(ahead: bool) -> st.SearchStrategy[Chosen | None]:
    """None: the variable has no DEFINE entry."""
    made = st.sampled_from([make for pool in (AHEAD_CLASSES if ahead else CLASSES) for make in pool * 3])
    by_class = st.sampled_from(AHEAD_CLASSES if ahead else CLASSES).flatmap(st.sampled_from)
    some = st.builds(
        Chosen, by_class, st.sampled_from(range(4)), st.sampled_from(["", "", "", "OR", "OR", "AND"]), made
    )
    return st.sampled_from([some] * 9 + [st.none()]).flatmap(lambda chosen: chosen)


MODES = ["", "", "RUNNING", "FINAL"]
COLUMNS = ["x", "n", "seq", "s", "t"]
OF = ["all", "other", "other", "union"]


def chosen_of(of: Names, kind: str) -> Of:
    return {"all": ALL, "other": of.other, "union": of.union}[kind]


MEASURES: list[Make] = [
    *(
        lambda of, column=column, kind=kind, first=first, n=n, mode=mode: logical(
            column, chosen_of(of, kind), first, n, mode
        )
        for column, kind, first, n, mode in zip(
            COLUMNS * 4, OF * 5, [False, True] * 10, [0, 0, 1, 0, 2] * 4, MODES * 5, strict=True
        )
    ),
    lambda _: col("x"),
    lambda of: col("n", of.other),
    lambda of: col("s", of.union),
    lambda _: physical(col("x"), -1),
    lambda of: physical(col("n", of.other), -2),
    lambda of: physical(logical("seq", of.other, first=True), -1),
    lambda of: physical(logical("x", of.union, first=True, n=1), -3),
    lambda _: physical(logical("n", mode="FINAL"), -1),
    lambda _: classifier(),
    lambda of: classifier(of.union),
    lambda _: classifier(first=True),
    lambda _: classifier(first=False, n=1),
    lambda _: classifier(first=False, mode="FINAL"),
    lambda _: physical(classifier(), -1),
    lambda _: NUMBERED,
    lambda _: aggregate("count"),
    lambda of: aggregate("count", None, of.other),
    lambda of: aggregate("count", "x", of.other, "FINAL"),
    lambda of: aggregate("count", "n", of.union, distinct=True),
    lambda of: aggregate("sum", "n", of.other),
    lambda _: aggregate("sum", "x", mode="FINAL"),
    lambda of: aggregate("sum", "n", of.other, distinct=True),
    lambda _: aggregate("avg", "n"),
    lambda of: aggregate("avg", "x", of.union, "RUNNING"),
    lambda of: aggregate("min", "x", of.other),
    lambda _: aggregate("max", "s", mode="FINAL"),
    lambda of: aggregate("min", "n", of.union, "FINAL"),
    lambda _: aggregate("stddev", "x"),
    lambda of: aggregate("variance", "n", of.other, "FINAL"),
    lambda _: aggregate("array_agg", "n"),
    lambda of: aggregate("array_agg", "seq", of.other, "FINAL"),
    lambda _: aggregate("array_agg", "CLASSIFIER"),
    lambda _: aggregate("count", "CLASSIFIER"),
    lambda of: aggregate(
        "sum", "n", of.other, where=("x > 1", lambda row, _: row["x"] is not None and row["x"] > 1)
    ),
    lambda _: aggregate("count", None, where=("a", lambda row, _: row["a"])),
    lambda of: binary(col("n"), "+", col("n", of.other)),
    lambda _: binary(logical("t", mode="FINAL"), "-", logical("t", first=True)),
    lambda of: binary(aggregate("count", None, of.other), "-", NUMBERED),
]
AHEAD_MEASURES: list[Make] = [
    lambda _: physical(col("x"), 1),
    lambda of: physical(logical("seq", of.other, first=True), 2),
    lambda _: physical(classifier(), 1),
    lambda _: physical(logical("n", mode="FINAL"), 1),
]


@cache
def measures(ahead: bool) -> st.SearchStrategy[list[Chosen]]:
    pool = MEASURES + AHEAD_MEASURES if ahead else MEASURES
    one = st.builds(Chosen, st.sampled_from(pool), st.sampled_from(range(4)), st.just(""), st.just(ROW[0]))
    return st.lists(one, max_size=4)
