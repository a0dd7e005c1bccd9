"""Random texts of row patterns: every clause, hostile names; all of them valid."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import strategies as st

from language.strategies import comments, names, numbers, strings, written

VARIABLES = (
    "A",
    "b",
    "Up",
    "`up`",
    "`LAST`",
    "`PERMUTE`",
    "`my var`",
    "final",
    "within",
    "t",
    "speedy",
    "`a.b`",
)
SOURCES = ("t", "db.t", "`my table`", "trades AS e", "db.trades e")


class Names(NamedTuple):
    """What the clauses of one query share: variables as they are written."""

    primaries: list[str]
    unions: list[str]
    strategy: str
    clause: str = "MEASURES"

    @property
    def variables(self) -> list[str]:
        return [*self.primaries, *self.unions]


def read(variable: str) -> str:
    """What a variable that is written so is called."""
    return variable[1:-1] if variable.startswith("`") else variable.upper()


def maybe(drawn: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.just(""), drawn)


# -- PATTERN


@st.composite
def patterns(draw: st.DrawFn, of: Names, depth: int = 3) -> str:
    kind = draw(st.integers(0, 8 if depth else 1))
    inner = patterns(of, depth - 1)
    if kind <= 1:
        return draw(st.sampled_from(of.primaries))
    if kind == 2:
        return f"({draw(inner)}){draw(quantifiers(of))}"
    if kind == 3:
        return f"{draw(inner)} {draw(inner)}"
    if kind == 4:
        return f"{draw(inner)}{draw(comments)}|{draw(inner)}"
    if kind == 5:
        listed = draw(st.lists(patterns(of, 0), min_size=1, max_size=4))
        return f"PERMUTE({', '.join(listed)})"
    if kind == 6:
        return f"{{- {draw(inner)} -}}{draw(maybe(quantifiers(of)))}"
    if kind == 7 and of.strategy == "CONTIGUOUS":
        return draw(st.sampled_from(["^ ", "$", "()", "(^)*"]))
    return f"{draw(st.sampled_from(of.primaries))}{draw(quantifiers(of))}"


@st.composite
def quantifiers(draw: st.DrawFn, of: Names) -> str:
    low, high = draw(st.integers(0, 3)), draw(st.integers(3, 5))
    exact = draw(st.integers(1, 4))
    bounds = [
        "*",
        "+",
        "?",
        f"{{{low},{high}}}",
        f"{{{exact}}}",
        f"{{{low},}}",
        f"{{,{high}}}",
        "{,}",
        " { 1 , 2 }",
    ]
    reluctant = "" if of.strategy == "SKIP TILL ANY" else draw(st.sampled_from(["", "", "?"]))
    return draw(st.sampled_from(bounds)) + reluctant


# -- expressions


@st.composite
def columns(draw: st.DrawFn, variable: str | None) -> str:
    column = written(draw(names))
    field = draw(maybe(st.sampled_from([".f", ".`g h`", ".f.a"])))
    before = "" if variable is None else f"{variable}."
    return f"{before}{column}{field}"


@st.composite
def of_one_row(draw: st.DrawFn, variable: str | None, depth: int = 2) -> str:
    """An expression over the columns of one variable."""
    kind = draw(st.integers(0, 5 if depth else 1))
    inner = of_one_row(variable, depth - 1)
    if kind == 0:
        return draw(st.one_of(numbers, strings))
    if kind == 1:
        return draw(columns(variable))
    if kind == 2:
        return f"{draw(inner)} {draw(st.sampled_from(['+', '-', '||', '*']))} {draw(inner)}"
    if kind == 3:
        return f"{draw(st.sampled_from(['abs', 'my_udf', 'Struct']))}({draw(inner)})"
    if kind == 4:
        return draw(st.sampled_from(["CLASSIFIER()", f"classifier({variable or ''})"]))
    return f"exists({draw(columns(variable))}, v -> v > {draw(columns(variable))})"


@st.composite
def navigations(draw: st.DrawFn, of: Names) -> str:
    variable = draw(st.one_of(st.none(), st.sampled_from(of.variables)))
    frames = ["", "RUNNING "] if of.clause == "DEFINE" else ["", "running ", "FINAL "]
    frame, number = draw(st.sampled_from(frames)), draw(maybe(st.sampled_from([", 0", ", 1", ",7"])))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return draw(columns(variable))
    if kind == 1:
        return f"CLASSIFIER({draw(st.sampled_from(['', *of.variables]))})"
    inside = draw(of_one_row(variable))
    if kind <= 3:
        return f"{frame}{draw(st.sampled_from(['First', 'LAST', 'prev', 'NEXT']))}({inside}{number})"
    logical = f"{frame}{draw(st.sampled_from(['FIRST', 'last']))}({inside}{number})"
    return f"{draw(st.sampled_from(['PREV', 'Next']))}({logical}{draw(maybe(st.just(', 2')))})"


@st.composite
def aggregates(draw: st.DrawFn, of: Names) -> str:
    variable = draw(st.one_of(st.none(), st.sampled_from(of.variables)))
    before = "" if variable is None else f"{variable}."
    function = draw(
        st.sampled_from(["count", "SUM", "avg", "mean", "array_agg", "Min", "stddev", "every", "bool_or"])
    )
    distinct, behind, frame = "", "", ""
    if of.clause == "MEASURES":
        distinct, frame = draw(maybe(st.just("DISTINCT "))), draw(maybe(st.just("FINAL ")))
        behind = f" FILTER (WHERE {draw(of_one_row(variable))} > 1)" if draw(st.booleans()) else ""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return f"{frame}count({before}*){behind}"
    if kind == 1:
        return f"{frame}percentile({draw(of_one_row(variable))}, 0.5){behind}"
    return f"{frame}{function}({distinct}{draw(of_one_row(variable))}){behind}"


@st.composite
def scalars(draw: st.DrawFn, of: Names, depth: int = 2) -> str:
    kind = draw(st.integers(0, 7 if depth else 3))
    inner = scalars(of, depth - 1)
    if kind <= 1:
        return draw(navigations(of))
    if kind == 2:
        return draw(aggregates(of))
    if kind == 3:
        may_count = of.clause == "MEASURES" or of.strategy != "SKIP TILL ANY"
        return draw(st.one_of(numbers, st.just("match_number()"))) if may_count else draw(numbers)
    if kind == 4:
        return f"{draw(inner)} {draw(st.sampled_from(['+', '-', '/', '%']))} {draw(comments)}{draw(inner)}"
    if kind == 5:
        return f"coalesce({draw(inner)}, {draw(inner)})"
    if kind == 6:
        return f"cast({draw(inner)} as {draw(st.sampled_from(['int', 'DECIMAL(10, 2)', 'array<int>']))})"
    return f"({draw(inner)})"


@st.composite
def conditions(draw: st.DrawFn, of: Names) -> str:
    sign = draw(st.sampled_from(["<", "<=", "==", "!=", ">", "<=>", " is distinct from "]))
    condition = f"{draw(scalars(of))} {sign} {draw(scalars(of))}"
    if draw(st.booleans()):
        return condition
    return f"{condition} {draw(st.sampled_from(['and', 'OR', 'AND NOT']))} {draw(navigations(of))} IS NULL"


# -- clauses


@st.composite
def row_texts(draw: st.DrawFn) -> str:
    """The text of a row pattern."""
    variables = draw(st.lists(st.sampled_from(VARIABLES), min_size=2, max_size=5, unique_by=read))
    n_unions = draw(st.integers(0, min(2, len(variables) - 1)))
    of = Names(
        variables[n_unions:],
        variables[:n_unions],
        draw(st.sampled_from(["CONTIGUOUS", "SKIP TILL NEXT", "SKIP TILL ANY"])),
    )
    pattern = " ".join([*of.primaries, draw(patterns(of))])  # all are in it
    mode = (
        draw(maybe(st.sampled_from(["MAXIMAL MATCH", "maximal match"])))
        if of.strategy == "CONTIGUOUS"
        else ""
    )
    within = f"WITHIN {draw(st.sampled_from(['5 minutes', '300', '''INTERVAL '1' HOUR''', '1.5h']))}"
    lines = [draw(_partition(of)), draw(_order(of)), draw(_measures(of)), draw(_rows(of, mode, pattern))]
    if not mode and of.strategy != "SKIP TILL ANY":
        to = st.sampled_from(
            ["PAST LAST ROW", "to next row", f"TO LAST {of.primaries[-1]}", f"TO {of.primaries[-1]}"]
        )
        lines.append(
            draw(maybe(to.map(lambda one: f"AFTER MATCH SKIP {one}"))) if len(of.primaries) > 1 else ""
        )
    lines.append(
        draw(maybe(st.just("STRATEGY CONTIGUOUS")))
        if of.strategy == "CONTIGUOUS"
        else f"STRATEGY {of.strategy}"
    )
    lines += [mode, f"PATTERN ({pattern})"]
    unions = ", ".join(f"{name} = ({', '.join(draw(_members(of)))})" for name in of.unions)
    behind = [
        f"SUBSET {unions}" if unions else "",
        within if of.strategy != "CONTIGUOUS" else draw(maybe(st.just(within))),
    ]
    lines += draw(st.permutations(behind))
    lines.append(draw(_define(of._replace(clause="DEFINE"))))
    where = f"(SELECT * FROM {{}} WHERE {draw(of_one_row(None))} > 1)".replace("CLASSIFIER()", "1")
    table = draw(st.sampled_from(SOURCES))
    source = where.replace("{}", table) if draw(st.booleans()) and "classifier" not in where else table
    select, alias = draw(maybe(st.just("SELECT * "))), draw(maybe(st.sampled_from([" AS m", " `my m`", ";"])))
    return f"{select}FROM {source} MATCH_RECOGNIZE ({' '.join(lines)}){alias}"


@st.composite
def _partition(draw: st.DrawFn, of: Names) -> str:
    columns = draw(st.lists(names, max_size=2, unique_by=str.lower))
    return f"PARTITION BY {', '.join(map(written, columns))}" if columns else ""


@st.composite
def _order(draw: st.DrawFn, of: Names) -> str:
    columns = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.lower))
    ways = st.sampled_from(["", " ASC", " desc", " NULLS LAST", " DESC NULLS FIRST", " ASC NULLS FIRST"])
    return f"ORDER BY {', '.join(written(column) + draw(ways) for column in columns)}"


@st.composite
def _measures(draw: st.DrawFn, of: Names) -> str:
    listed = [f"{draw(scalars(of))} AS m{number}" for number in range(draw(st.integers(0, 3)))]
    return f"MEASURES {', '.join(listed)}" if listed else ""


@st.composite
def _rows(draw: st.DrawFn, of: Names, mode: str, pattern: str) -> str:
    ways = ["", "ONE ROW PER MATCH", "all rows per match", "ALL ROWS PER MATCH OMIT EMPTY MATCHES"]
    if not mode and "{-" not in pattern and of.strategy == "CONTIGUOUS":
        ways.append("ALL ROWS PER MATCH WITH UNMATCHED ROWS")
    return draw(st.sampled_from(ways))


@st.composite
def _members(draw: st.DrawFn, of: Names) -> list[str]:
    return draw(st.lists(st.sampled_from(of.primaries), min_size=1, max_size=3))


@st.composite
def _define(draw: st.DrawFn, of: Names) -> str:
    defined = draw(st.lists(st.sampled_from(of.primaries), max_size=2, unique_by=read))
    entries = [f"{variable} AS {draw(conditions(of))}" for variable in defined]
    return f"DEFINE {', '.join(entries)}" if entries else ""
