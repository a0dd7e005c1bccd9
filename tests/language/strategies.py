"""Random query texts: every clause, both pattern spellings, hostile names; all of them valid."""

from __future__ import annotations

import random
from typing import NamedTuple

from hypothesis import strategies as st

RELATIONS = (
    "before", "meets", "overlaps", "finished-by", "contains", "starts", "equals", "started_by", "during",
    "finishes", "overlapped by", "met_by", "after", "followed-by", "follows",
)  # fmt: skip
WORDS = ("while", "intersects", "inside", "covers", "apart from", "apart-from", "Apart_From")
SHORT_UNITS, LONG_UNITS = ("s", " seconds", " ms", " us"), (" minutes", "h", " days")
UNITS = (*SHORT_UNITS, *LONG_UNITS)
PLAIN_NAMES = ("speed", "accel", "car_id", "x", "Load", "_private", "timestamp", "date", "id", "value2")
HOSTILE_NAMES = (
    "max speed",
    "within",
    "select",
    "a`b",
    "größe",
    "速度",
    "ts",
    "x.y",
    "--",
    "'",
    "AND",
    "8m",
    "_item_0",
)

names = st.one_of(st.sampled_from(PLAIN_NAMES), st.sampled_from(HOSTILE_NAMES))


def written(name: str) -> str:
    """The name as text, back-quoted unless it is plainly plain."""
    return name if name in PLAIN_NAMES else "`" + name.replace("`", "``") + "`"


columns = names.map(written)
numbers = st.sampled_from(["0", "1", "-9", "70", "0.5", ".5", "1e3", "5L", "2.5BD", "1_0".replace("_", "")])
strings = st.sampled_from(
    ["'Oslo'", "'it''s'", "'a\\'b'", '"x"', "r'\\d+'", "'-- no comment'", "';'", "''", "'`'"]
)
comments = st.sampled_from(["", " ", " -- note\n", " /* /* nested */ ; */ ", "\n\t"])


@st.composite
def scalars(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression that is not evidently boolean."""
    kind = draw(st.integers(0, 7 if depth else 1))
    inner = scalars(depth=depth - 1)
    if kind == 0:
        return draw(columns)
    if kind == 1:
        return draw(numbers)
    if kind == 2:
        operator = draw(st.sampled_from(["+", "-", "*", "/", "%", " DIV ", "||", "&", "|", "^"]))
        return f"{draw(inner)} {operator} {draw(inner)}"
    if kind == 3:
        return f"({draw(inner)})"
    if kind == 4:
        return (
            f"{draw(st.sampled_from(['pow', 'COALESCE', 'my_udf', 'Struct']))}({draw(inner)}, {draw(inner)})"
        )
    if kind == 5:
        return f"cast({draw(inner)} as {draw(st.sampled_from(['int', 'DECIMAL(10, 2)', 'array<int>']))})"
    if kind == 6:
        return f"case when {draw(conditions(depth=depth - 1))} then {draw(inner)} else {draw(inner)} end"
    return f"-{draw(columns)}"


@st.composite
def conditions(draw: st.DrawFn, depth: int = 2) -> str:
    """A boolean expression of Spark SQL."""
    kind = draw(st.integers(0, 9 if depth > 0 else 6))
    left, right = draw(scalars(depth=max(depth - 1, 0))), draw(scalars(depth=max(depth - 1, 0)))
    space = draw(comments)
    if kind <= 2:
        sign = draw(st.sampled_from(["<", "<=", "=", "==", "!=", "<>", ">=", ">", "<=>"]))
        return f"{left}{space}{sign} {right}"
    if kind == 3:
        return f"{left} {draw(st.sampled_from(['', 'not ']))}between {right} AND {draw(numbers)}"
    if kind == 4:
        return f"{draw(columns)} {draw(st.sampled_from(['IN', 'not in']))} ({right}, {draw(strings)})"
    if kind == 5:
        return f"{draw(columns)} is {draw(st.sampled_from(['null', 'NOT NULL', 'true', 'distinct from 3']))}"
    if kind == 6:
        return f"{draw(columns)} {draw(st.sampled_from(['like', 'RLIKE', 'not like']))} {draw(strings)}"
    if kind == 7:
        joined = draw(st.sampled_from(["and", "OR"]))
        return f"{draw(conditions(depth=depth - 1))}{space} {joined} {draw(conditions(depth=depth - 1))}"
    if kind == 8:
        return f"NOT ({draw(conditions(depth=depth - 1))})"
    return f"exists({draw(columns)}, v -> v > {right})"


class Names(NamedTuple):
    """What the clauses of one query share; `symbols` has the absent ones too."""

    symbols: list[str]
    has_units: bool
    is_intervals: bool
    has_gaps: bool  # some symbol is a silence, or ignores gaps
    absent: list[str] = []  # noqa: RUF012

    @property
    def positives(self) -> list[str]:
        return [name for name in self.symbols if name not in self.absent]


@st.composite
def durations(draw: st.DrawFn, names: Names, at_least: int = 0) -> str:
    number = draw(st.integers(at_least, at_least + 50))
    return f"{number}{draw(st.sampled_from(UNITS))}" if names.has_units else str(number)


@st.composite
def short(draw: st.DrawFn, names: Names) -> str:
    """What fits several times into everything that is `long`."""
    return f"2{draw(st.sampled_from(SHORT_UNITS)) if names.has_units else ''}"


@st.composite
def long(draw: st.DrawFn, names: Names) -> str:
    return f"30{draw(st.sampled_from(LONG_UNITS)) if names.has_units else ''}"


@st.composite
def distances(draw: st.DrawFn, names: Names, left: str, right: str) -> str:
    """A constraint between two symbols that has an offset, or BY, and that some situations satisfy."""
    low, high = draw(short(names)), draw(long(names))
    ends = st.sampled_from(["ts", "te"])
    bounds = draw(st.sampled_from([f"AT LEAST {low}", f"at most {high}", f"BETWEEN {low} AND {high}"]))
    gaps = ["before", "before;meets", "meets;before", "after", "met-by;after", "overlaps", "overlapped by"]
    return draw(
        st.sampled_from(
            [
                f"{left} {draw(st.sampled_from(gaps))} {right} BY {bounds}",
                f"{left} while {right} BY AT LEAST {low}",
                f"{left}.{draw(ends)} - {right}.{draw(ends)} BETWEEN {low} AND {high}",
                f"{low} < {right}.{draw(ends)} - {left}.{draw(ends)} <= {high}",
                f"{right}.{draw(ends)} <= {left}.te + {high} - {low}",
                f"{left}.{draw(ends)} + {low} < {right}.{draw(ends)}",
                f"{left}.{draw(ends)} - {low} >= {right}.{draw(ends)}",
                f"{left}.te - {right}.te = {low}",
            ]
        )
    )


@st.composite
def groups(draw: st.DrawFn, names: Names, absent: str) -> str:
    """A NO group, the absent symbol first, that something can fit and that becomes certain."""
    name, other = written(absent), written(draw(st.sampled_from(names.positives)))
    low = draw(short(names))
    ending = ("before", "meets", "overlaps", "finished-by", "starts", "equals", "during", "finishes")
    within_other = draw(st.lists(st.sampled_from(ending), min_size=1, max_size=3))
    forms = [
        f"{name} {';'.join(within_other)} {other}",
        f"({name} {';'.join(within_other)} {other})",
        f"({name}.te <= {other}.te + {low} AND {name} while;apart from {other})",
        f"{name}.te - {other}.{draw(st.sampled_from(['ts', 'te']))} < {low}",
        f"({name} before {other} BY AT MOST {low})",
    ]
    if not names.is_intervals:
        forms += [
            f"{name} while {other}",
            f"{name} after {other} BY AT MOST {low}",
            f"({name}.ts >= {other}.ts AND {other}.ts + {low} > {name}.ts)",
        ]
    return f"{draw(st.sampled_from(['NO', 'no']))} {draw(st.sampled_from(forms))}"


@st.composite
def definitions(draw: st.DrawFn, names: Names) -> str:
    entries = []
    may_be_silent = draw(st.booleans())  # of absent symbols: not beside gaps that are ignored
    for symbol in names.symbols:
        condition = draw(conditions())
        bound = draw(st.integers(0, 3))
        # Far enough apart that no pattern over four symbols is refused for its lengths.
        low, high = draw(short(names)), draw(long(names))
        suffix = ["", f" AT LEAST {low}", f" at most {high}", f" BETWEEN {low} AND {high}"][bound]
        is_allowed = may_be_silent or symbol not in names.absent
        if names.has_gaps and bound % 2 and is_allowed and draw(st.booleans()):
            condition = draw(st.sampled_from(["SILENCE", "silence"]))
        elif names.has_gaps and not (may_be_silent and names.absent):
            suffix += draw(
                st.sampled_from(["", f" IGNORING GAPS UP TO {low}", " ignoring gaps up to 3 events"])
            )
        entries.append(f"{written(symbol)} AS {condition}{suffix}")
    return "DEFINE " + ", ".join(entries)


@st.composite
def patterns(draw: st.DrawFn, names: Names) -> str:
    """A pattern that is connected and cannot contradict itself: a tree over the symbols, and NO groups."""
    usable = (*WORDS, *(RELATIONS[:-2] if names.is_intervals or names.has_gaps else RELATIONS))
    parts = []
    for number in range(1, len(names.positives)):
        left = written(names.positives[draw(st.integers(0, number - 1))])
        right = written(names.positives[number])
        relations = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=4))
        form = draw(st.integers(0, 5))
        if form == 0:
            parts.append(f"{left} {';'.join(relations)} {right}")
        elif form == 1:
            parts.append("; ".join(f"{left} {relation} {right}" for relation in relations))
        elif form == 2:
            sign = draw(st.sampled_from(["<", "<=", "=", ">=", ">"]))
            parts.append(f"{left}.{draw(st.sampled_from(['ts', 'te']))} {sign} {right}.ts")
        elif form == 3:
            parts.append(f"({left}.ts < {right}.ts < {left}.te)")
        else:
            parts.append(draw(distances(names, left, right)))
    for name in names.absent:
        parts += [draw(groups(names, name)) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.integers(0, 3)) == 0:
        lasting = written(draw(st.sampled_from(names.symbols)))
        parts.append(f"{lasting}.te - {lasting}.ts > {draw(short(names))}")
    if len(names.positives) == 1:
        only = written(names.positives[0])
        parts.append(f"{only}.ts < {only}.te")
    return "PATTERN " + " AND ".join(draw(st.permutations(parts)))


@st.composite
def returns(draw: st.DrawFn, names: Names) -> str:
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["", "RETURN *"]))
    items = []
    for output in draw(
        st.lists(st.sampled_from(["r", "`o ut`", "Pattern", "`AS`"]), min_size=1, unique=True)
    ):
        symbol, attribute = written(draw(st.sampled_from(names.positives))), draw(columns)
        forms = [
            f"avg({symbol}.{attribute})",
            f"count({symbol})",
            f"round(SUM({symbol}.{attribute}) / count({symbol}), 2)",
            f"median({symbol}.{attribute}) - percentile({symbol}.{attribute}, 1e-5)",
            f"collect_list({symbol}.{attribute})[0]",
            f"{symbol}.te - {symbol}.ts",
            f"{symbol}.duration",
            f"first({symbol}.{attribute}).field",
            f"concat('a', last({symbol}.{attribute}))",
        ]
        if names.is_intervals:
            forms.append(f"{symbol}.{attribute}")
        items.append(f"{draw(st.sampled_from(forms))} AS {output}")
    return "RETURN " + ", ".join(items)


@st.composite
def havings(draw: st.DrawFn, names: Names) -> str:
    symbol, attribute = written(draw(st.sampled_from(names.positives))), draw(columns)
    other = written(draw(st.sampled_from(names.positives)))
    return "HAVING " + draw(
        st.sampled_from(
            [
                f"first({symbol}.{attribute}) = first({other}.{attribute})",
                f"not ({symbol}.te > {other}.ts) OR count({other})=1",
                f"{symbol}.duration is null",
                "TRUE",
            ]
        )
    )


@st.composite
def query_texts(draw: st.DrawFn) -> str:
    """The text of a valid query."""
    is_intervals = draw(st.booleans())
    by_column = is_intervals and draw(st.booleans())
    choices = st.sampled_from(["A", "B", "C", "a b", "during", "speed", "\u00e9", "while", "no"])
    symbols = draw(st.lists(choices, min_size=1, max_size=4, unique_by=str.lower))
    absent = symbols[draw(st.integers(1, len(symbols))) :] if draw(st.booleans()) else []
    has_gaps = not is_intervals and draw(st.booleans())
    names = Names(symbols, draw(st.booleans()), is_intervals, has_gaps, absent)
    clauses = []
    if is_intervals:
        clauses += ["STARTING start", "ENDING `end`"]
        clauses += draw(st.sampled_from([[], ["ID BY id"]]))
        if by_column:
            clauses.append("SYMBOL BY kind")
    elif draw(st.booleans()):
        clauses.append(
            draw(st.sampled_from(["ORDER BY ts", "ORDER BY cars.ts, seq ASC", "order by `order`"]))
        )
    if not by_column:
        clauses.append(draw(definitions(names)))
    if by_column or len(symbols) > 1 or draw(st.booleans()):
        clauses.append(draw(patterns(names)))
    if draw(st.booleans()):
        clauses.append(f"PARTITION BY {draw(st.sampled_from(['p', 'p, `q r`', 'Cars.p']))}")
    if draw(st.booleans()):
        clauses.append(f"WHERE {draw(conditions())}")
    if draw(st.booleans()):
        clauses.append(f"WITHIN {'30 days' if names.has_units else draw(durations(names, 100))}")
    clauses.append(draw(st.sampled_from(["", "EMIT EARLY", "emit final"])))
    clauses.append(draw(returns(names)))
    clauses.append(draw(st.one_of(st.just(""), havings(names))))
    order = draw(st.randoms(use_true_random=False))
    shuffled(order, clauses)
    source = draw(st.sampled_from(["cars", "db.Cars", "cars AS c", "cars c", "`my-db`.`cars`"]))
    space = draw(comments) or " "
    return (
        f"FROM{' INTERVALS' if is_intervals else ''} {source}{space} "
        + "\n".join(clauses)
        + draw(st.sampled_from(["", ";", " ; -- end"]))
    )


def shuffled(order: random.Random, clauses: list[str]) -> None:
    """Clauses after FROM may come in any order."""
    order.shuffle(clauses)
