"""The tables of ROW 13, read from the page itself, and what ROW claims, held against the oracle."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from conformance.checking import agree
from conformance.random_row_patterns import has, parts_of, pattern_text, patterns
from conformance.random_rows import SCHEMA, RowExample, row_examples, unless_too_long
from conformance.row_asking import answered
from conformance.row_patterns import mentioned, read_pattern
from conformance.row_reading import read_rows
from conformance.row_tables import PAGE, code, expected_of, table_of
from conformance.row_tables import rows_of as given_rows
from oracles.row_answer import answer, matches
from oracles.row_items import NUMBER, Expression, Navigation, Pattern, Row, RowQuestion
from oracles.row_matches import SkipError


def rows_of(text: str) -> list[Row]:
    return [{"t": time, "is": letters} for time, letters in given_rows(text)]


def letters(names: tuple[str, ...]) -> dict[str, Expression]:
    """Each variable holds on the rows that have its letter."""
    return {
        name: Expression(bool, (Navigation(lambda row, _, name=name: name in row["is"]),)) for name in names
    }


def question(pattern: str, **other: object) -> RowQuestion:
    described = read_pattern(pattern)
    names = mentioned(described)
    return RowQuestion(described, letters(names), names, **other)


def spelled(rows: list[Row], asked: RowQuestion) -> list[tuple[list[int], str]]:
    """Row numbers from 1, and the variables, of each match."""
    found = matches(rows, asked, is_timed=False)
    return [
        ([one.row + 1 for one in match.path], "".join(one.variable for one in match.path))
        for _, _, match, _ in found
    ]


@pytest.mark.parametrize(
    ("pattern", "rows", "past", "to_next"), table_of("13.1"), ids=lambda text: text.strip("`")
)
def test_contiguous(pattern: str, rows: str, past: str, to_next: str) -> None:
    """ROW 13.1."""
    assert spelled(rows_of(rows), question(code(pattern))) == expected_of(past)
    assert spelled(rows_of(rows), question(code(pattern), skip=("next",))) == expected_of(to_next)


@pytest.mark.parametrize(
    ("pattern", "rows", "match", "match_time", "why"), table_of("13.2"), ids=lambda text: text.strip("`")
)
def test_stream(pattern: str, rows: str, match: str, match_time: str, why: str) -> None:
    """ROW 13.2; the watermark of the table shows what is known anyway."""
    skip = ("next",) if "TO NEXT ROW" in pattern else ("past",)
    asked = question(code(pattern), within=10, skip=skip)
    found = matches(rows_of(rows.partition(",")[0]), asked)
    wanted = [
        (numbers, int(time))
        for (numbers, _), time in zip(expected_of(match), match_time.split(";"), strict=True)
    ]
    assert [([one.row + 1 for one in match.path], at) for _, _, match, at in found] == wanted


def test_with_a_watermark_the_window_must_have_passed() -> None:
    """ROW 13.2: W = t is a horizon of t - 1."""
    asked = question("A B+", within=10)
    at = {w: matches(rows_of("0:A 3:B"), asked, lambda _, w=w: w - 1) for w in (10, 11)}
    assert not at[10]
    assert [one.match_time for one in at[11]] == [10]


def test_strategies() -> None:
    """ROW 13.3."""
    rows = rows_of("A B A C B C")
    names = ["a1", "b1", "a2", "c1", "b2", "c2"]
    wanted = {
        strategy: set(re.findall(r"\(([^)]*)\)", text.partition(" ")[2]))
        for strategy, text in zip(
            ("contiguous", "next", "any"),
            re.search(r"\n13\.3 .*?: (.*)\.\n", PAGE)[1].split("; "),
            strict=True,
        )
    }
    for strategy, expected in wanted.items():
        skip = ("past",) if strategy == "contiguous" else ("next",)
        found = spelled(rows, question("A B* C", strategy=strategy, within=10, skip=skip))
        assert {",".join(names[row - 1] for row in numbers) for numbers, _ in found} == expected
        assert len(found) == len(expected)


@pytest.mark.parametrize(
    ("pattern", "rows", "expected", "match_time"), table_of("13.4"), ids=lambda text: text.strip("`")
)
def test_skip_till_next(pattern: str, rows: str, expected: str, match_time: str) -> None:
    """ROW 13.4."""
    asked = question(code(pattern), strategy="next", within=10, skip=("next",))
    assert spelled(rows_of(rows), asked) == expected_of(expected)
    assert [one.match_time for one in matches(rows_of(rows), asked)] == [int(at) for at in match_time.split()]


def test_modes() -> None:
    """ROW 13.5."""
    rows = [{"t": i, "price": price} for i, price in enumerate((9, 8, 7))]
    price = Navigation(lambda row, _: row["price"])
    before = price._replace(shift=-1)
    falls = Expression(lambda now, then: then is not None and now < then, (price, before))
    asked = RowQuestion(read_pattern("A B+"), {"B": falls}, ("A", "B"), skip=("next",))
    found = {
        mode: [numbers for numbers, _ in spelled(rows, replace(asked, mode=mode))]
        for mode in ("maximal", "incremental")
    }
    assert found == {"maximal": [[1, 2, 3], [2, 3]], "incremental": [[1, 2], [1, 2, 3]]}


texts = st.lists(st.sampled_from("ABCD"), max_size=8).map("".join)


def as_regex(pattern: Pattern) -> str:
    """The same for Python's `re`, a letter for a row."""
    match pattern:
        case str(name):
            return name
        case ("cat", *parts):
            return "".join(f"(?:{as_regex(part)})" for part in parts)
        case ("alt", *choices):
            return "|".join(f"(?:{as_regex(choice)})" for choice in choices)
        case ("permute", *parts):
            return as_regex(("alt", *(("cat", *order) for order in permutations(parts))))
        case ("exclude", body):
            return as_regex(body)
        case ("repeat", body, least, most, is_reluctant):
            times = f"{{{least},{'' if most is None else most}}}"
            return f"(?:{as_regex(body)}){times}{'?' if is_reluctant else ''}"
        case ("^",):
            return r"\A"
        case _:
            return r"\Z"


def is_short_work(pattern: Pattern) -> bool:
    """Whether `re`, which goes back and forth, cannot take for ever."""
    return len(as_regex(pattern)) <= 120 and nesting(pattern) <= 2


def nesting(pattern: Pattern) -> int:
    """How deep repetitions stand in each other."""
    if isinstance(pattern, str):
        return 0
    return (pattern[0] == "repeat") + max((nesting(part) for part in parts_of(pattern)), default=0)


@settings(max_examples=10 * settings.default.max_examples)
@given(patterns(), texts, st.sampled_from([("past",), ("next",)]))
def test_where_one_variable_holds_on_each_row_a_match_is_that_of_re(
    pattern: Pattern, text: str, skip: tuple[str, ...]
) -> None:
    """ROW 4.5, 4.6, 4.8."""
    assume(is_short_work(pattern))
    asked = RowQuestion(pattern, letters(mentioned(pattern)), mentioned(pattern), skip=skip)
    found = matches(rows_of(" ".join(text)), asked, is_timed=False)
    regex, start, wanted = re.compile(as_regex(pattern)), 0, []
    while start < len(text):
        match = regex.match(text, start)
        if match:
            wanted.append(match.span())
        start = match.end() if match and match.end() > start and skip == ("past",) else start + 1
    assert [(one.match.start, one.match.start + len(one.match.path)) for one in found] == wanted
    labels = ["".join(taken.variable for taken in one.match.path) for one in found]
    assert labels == [text[begin:end] for begin, end in wanted]


def ways_of(example: RowExample, **changed: object) -> set[tuple[object, ...]]:
    """Partition, rows and variables of every match that is not empty."""
    asked = replace(example.question, **changed)
    found = unless_too_long(lambda: matches(example.rows, asked, is_timed=False))
    return {
        (one.key, *((one.rows[taken.row]["seq"], taken.variable) for taken in one.match.path))
        for one in found
        if one.match.path
    }


@given(row_examples())
def test_every_other_match_is_one_of_skip_till_any(example: RowExample) -> None:
    """ROW 9.5: of SKIP TILL NEXT, and contiguous where the times of its rows differ."""
    asked = example.question
    numbered = [one for one in asked.conditions.values() if NUMBER in one.items]
    if asked.time is None or numbered or has(asked.pattern, "^", "$"):
        return
    within = asked.within if asked.within is not None else 6
    by = {
        strategy: ways_of(example, within=within, mode=None, skip=("next",), strategy=strategy)
        for strategy in ("any", "next", "contiguous")
    }
    times = {row["seq"]: row["t"] for row in example.rows}
    distinct = {way for way in by["contiguous"] if len({times[seq] for seq, _ in way[1:]}) == len(way) - 1}
    assert by["next"] | distinct <= by["any"]


@settings(max_examples=2 * settings.default.max_examples)
@given(row_examples(is_stream=True, ahead=True))
def test_what_is_certain_is_not_taken_back(example: RowExample) -> None:
    """ROW 8.3: the oracle asserts it of every horizon; and at the end nothing else is found."""
    asked = example.question
    try:
        timed = unless_too_long(lambda: matches(example.rows, asked))
    except SkipError:
        reject()
    at_end = unless_too_long(lambda: matches(example.rows, asked, is_timed=False))
    assert {(one.key, one.match) for one in timed} == {(one.key, one.match) for one in at_end} or (
        not asked.uses_number
    )
    if asked.within is not None and not reads_ahead(asked):
        assert all(one.match_time is not None for one in timed)


def reads_ahead(asked: RowQuestion) -> bool:
    items = [item for one in (*asked.conditions.values(), *asked.measures) for item in one.items]
    return any(isinstance(item, Navigation) and item.shift > 0 for item in items)


@given(patterns())
def test_a_pattern_reads_as_it_is_written(pattern: Pattern) -> None:
    assert read_pattern(pattern_text(pattern)) == pattern


@given(row_examples(ahead=True))
def test_text_and_question_say_the_same(example: RowExample) -> None:
    """The two forms the strategies draw agree, by a reader that shares nothing with situ."""
    asked = read_rows(example.text)
    assert asked.pattern == example.question.pattern
    options = {"match_time": True} if example.question.time else {}
    try:
        wanted = unless_too_long(
            lambda: answer(example.rows, example.question, SCHEMA.names, options=[*options])
        )
    except SkipError:
        reject()
    agree(answered(example.table, example.text, options), wanted, example)
