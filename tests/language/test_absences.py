"""NO groups: which symbol is absent, what is kept of a group, and which groups are refused (SEM 11)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from situ.algebra.relations import NAMES
from situ.errors import AbsenceError, QueryError, QuerySyntaxError
from situ.language import query
from situ.language.situations.absent import check_followed, unbounded_absence
from situ.language.situations.ast import Absence, Constraint, Difference, Endpoint, Gaps, Query, Symbol
from situ.language.situations.printer import written_pattern
from situ.language.text.nodes import Duration
from situ.operators.situations.question import Deriving, Matching

ABC = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN A before B AND"
AC = "FROM t DEFINE A AS a, C AS c PATTERN"
GIVEN = "FROM INTERVALS t STARTING s ENDING e DEFINE A AS a, C AS c"


def absences(text: str) -> tuple[Absence, ...]:
    return query(text).absences


def test_constraints_go_from_the_absent_symbol() -> None:
    (group,) = absences(f"{ABC} NO (B contains;meets C AND C overlaps;after A)")
    assert group == Absence(
        "C",
        (
            Constraint("C", "A", NAMES["overlaps"] | NAMES["after"]),
            Constraint("C", "B", NAMES["during"] | NAMES["met-by"]),
        ),
    )


def test_several_sets_on_a_pair_intersect_and_differences_are_the_tightest() -> None:
    (group,) = absences(f"{ABC} NO (C after A BY AT MOST 9 AND C after;during A AND C.ts - A.te <= 5)")
    assert group.constraints == (Constraint("C", "A", NAMES["after"]),)
    bound = Difference(Endpoint("C", "ts"), Endpoint("A", "te"), Duration(5, False))
    assert group.differences == (bound,)


def test_brackets_nest_and_alternatives_are_a_set() -> None:
    assert absences(f"{ABC} NO ((C during B; C starts B))") == absences(f"{ABC} NO C during;starts B")
    assert absences(f"{ABC} NO C during B; B started-by C") == absences(f"{ABC} NO C during;starts B")
    assert absences(f"{ABC} (NO C while B)") == absences(f"{ABC} NO C while B")


def test_the_result_has_the_symbols_of_the_match_only() -> None:
    parsed = query(f"{ABC} NO C during B")
    assert [item.name for item in parsed.returns] == ["A_ts", "A_te", "B_ts", "B_te"]
    assert [symbol.name for symbol in parsed.positives] == ["A", "B"]
    assert parsed.absent_names == {"C"}
    assert query(f"{ABC} NO C during B RETURN *") == parsed


def test_a_symbol_may_be_absent_in_several_groups() -> None:
    groups = absences(f"{ABC} NO C during B AND NO C while A")
    assert [group.constraints[0].right for group in groups] == ["B", "A"]


def test_one_symbol_and_groups_only() -> None:
    parsed = query(f"{AC} NO C during A")
    assert parsed.constraints == ()
    assert parsed.absent_names == {"C"}
    assert Matching(parsed).query == parsed
    # The symbol behind NO is the absent one, whichever way the constraint is written.
    assert query(f"{AC} NO A contains C WITHIN 5").absent_names == {"A"}
    assert query(f"{AC} NO C during A AND NO C.ts <= A.te + 5").absent_names == {"C"}


def test_situations_are_derived_whatever_is_absent() -> None:
    asked = Deriving(query(f"{ABC} NO C during B AND B.ts <= A.te + 5"))
    assert (asked.query.constraints, asked.query.differences, asked.query.absences) == ((), (), ())


@pytest.mark.parametrize("name", ["no", "NO", "during", "before", "not", "apart", "met"])
def test_symbols_may_have_names_that_mean_something(name: str) -> None:
    text = f"FROM t DEFINE A AS a, `{name}` AS c PATTERN NO `{name}` finished-by;meets A"
    parsed = query(text)
    assert parsed.absent_names == {name}
    assert query(str(parsed)) == parsed
    positive = query(f"FROM t DEFINE A AS a, `{name}` AS c PATTERN `{name}` before A")
    assert query(str(positive)) == positive


def test_a_symbol_called_no_needs_no_quotes_before_a_relation() -> None:
    parsed = query("FROM t DEFINE no AS a, B AS b PATTERN no during B")
    assert parsed.absences == ()
    assert query("FROM t DEFINE during AS a, B AS b PATTERN NO during met-by B").absent_names == {"during"}


def printed(text: str) -> str:
    return str(query(text)).partition("PATTERN ")[2]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("NO C during A", "NO C during A"),
        ("NO (C intersects A)", "NO C while A"),
        ("NO C after A BY AT MOST 1 hour", "NO (C after A AND C.ts <= A.te + 1 hour)"),
        ("NO (C during A AND C.ts >= A.ts + 5)", "NO (C during A AND C.ts >= A.ts + 5)"),
        ("NO (C during A AND A.te - C.te < 5)", "NO (C during A AND C.te + 5 > A.te)"),
        ("NO C.te + 5 < A.ts", "NO C.te + 5 < A.ts"),
    ],
)
def test_canonical_text(pattern: str, expected: str) -> None:
    assert printed(f"{AC} {pattern}") == expected


# text behind PATTERN A before B AND, error, what the carets stand under, part of message or hint
WRONG = [
    ("NO D during B", "UnknownSymbolError", "D", "the symbols are"),
    ("NO A during B AND C during A", "AbsenceError", "NO A during B", "define A a second time"),
    ("NO (C during B AND NO C during A)", "AbsenceError", "NO", "inside another"),
    ("NO (C during B AND A meets B)", "AbsenceError", "A meets B", "says nothing about C"),
    ("NO C during B overlaps A", "AbsenceError", "B overlaps A", "says nothing about C"),
    ("NO C.ts < C.te", "AbsenceError", "NO C.ts < C.te", "NO C during B"),
    ("NO (C during B AND C.te - C.ts < 5)", "AbsenceError", "C.te - C.ts < 5", "in DEFINE"),
    ("NO C while B BY AT LEAST 5", "AbsenceError", "C while B BY AT LEAST 5", "in DEFINE"),
    ("NO C after B", "AbsenceError", "NO C after B", "NO C after B BY AT MOST 5 minutes"),
    ("NO C apart from B", "AbsenceError", "NO C apart from B", "BY AT MOST"),
    ("NO C.ts >= B.te + 5", "AbsenceError", "NO C.ts >= B.te + 5", "BY AT MOST"),
    ("NO C followed-by B", "AbsenceError", "C followed-by B", "a second NO group"),
    ("NO B follows;meets C", "AbsenceError", "B follows;meets C", "BY AT MOST"),
    ("NO (C during B AND C after B)", "InconsistentPatternError", "C after B", "write two NO groups"),
    ("NO (C before A AND C after B)", "InconsistentPatternError", "NO (C before A AND C after B)",
     "forbids nothing"),
    ("NO (C contains B AND C.ts > B.ts + 5)", "InconsistentPatternError", None, "forbids nothing"),
    ("NO C during B; C during A", "AlternativesError", "C during A", "in one pass"),
    ("NO (C during B); C during A", "QuerySyntaxError", ";", "cannot follow a bracket"),
    ("NO", "QuerySyntaxError", "", "a relation"),
    ("NO ()", "QuerySyntaxError", ")", "a symbol"),
    ("NO C during B RETURN C.ts AS x", "AbsenceError", "C", "a match has no C"),
    ("NO C during B RETURN count(C) AS x", "AbsenceError", "C", "a match has no C"),
    ("NO C during B RETURN avg(C.y) + 1 AS x", "AbsenceError", "C", "that are there: A, B"),
    ("NO C during B RETURN C AS x", "AbsenceError", "C", "a match has no C"),
    ("NO C after B BY AT MOST 5 WITHIN 6", "WindowTooShortError", "WITHIN 6", '"NO C after B BY AT MOST 5"'),
    ("NO C after B BY AT MOST 5 seconds WITHIN 60", "MixedDurationsError", "WITHIN 60", "give all of them"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "kind", "marked", "said"), WRONG)
def test_wrong_groups(pattern: str, kind: str, marked: str | None, said: str) -> None:
    text = f"{ABC} {pattern}"
    with pytest.raises(QueryError) as caught:
        query(text)
    error = caught.value
    assert type(error).__name__ == kind, str(error)
    assert said in str(error)
    assert error.span is not None
    if marked is not None:
        assert text[error.span.start : error.span.end] == marked


def test_two_absent_symbols_in_one_group() -> None:
    text = (
        "FROM t DEFINE A AS a, B AS b, C AS c, D AS d PATTERN A before B AND NO (C during A AND D during A)"
    )
    with pytest.raises(AbsenceError, match="this one has 2: C, D"):
        query(text)
    with pytest.raises(AbsenceError, match="absent in another NO group"):
        query("FROM t DEFINE A AS a, C AS c, D AS d PATTERN NO C during A AND NO D during C")


def test_the_symbols_of_the_match_are_connected_without_the_groups() -> None:
    with pytest.raises(QueryError, match="nothing relates B to A"):
        query("FROM t DEFINE A AS a, B AS b, C AS c PATTERN NO C during A AND NO C during B")


def test_a_deadline_fits_its_window_exactly() -> None:
    # A lasts for at least a tick, so the group is certain six ticks after A.ts at the earliest.
    assert query(f"{AC} NO C after A BY AT MOST 5 WITHIN 6").within == Duration(6, False)
    with pytest.raises(QueryError, match="exclude each other"):
        query(f"{AC} NO C after A BY AT MOST 5 WITHIN 5")
    assert query(f"{AC} NO (C.ts >= A.ts AND C.ts <= A.ts + 5) WITHIN 5")


@pytest.mark.parametrize("group", ["C after A BY AT MOST 5", "C contains A", "C while A", "C.ts <= A.te + 5"])
def test_given_intervals_need_a_latest_end(group: str) -> None:
    with pytest.raises(AbsenceError, match="comes with its end") as caught:
        query(f"{GIVEN} PATTERN NO {group}")
    assert "bound the end, as in C.te <= A.te + 5 minutes" in str(caught.value)
    assert query(f"{GIVEN} AT MOST 9 PATTERN NO {group}")


@pytest.mark.parametrize(
    "group", ["C during A", "C inside A", "C before A", "(C while A AND C.te < A.te + 5)"]
)
def test_given_intervals_with_a_latest_end(group: str) -> None:
    assert query(f"{GIVEN} PATTERN NO {group}").absent_names == {"C"}


@pytest.mark.parametrize(
    ("group", "is_unbounded"),
    [
        ("C before A", True),
        ("C before;during A", True),
        ("C.te <= A.te + 5", True),
        ("C before A BY AT MOST 5", False),
        ("C during A", False),
        ("(C before A AND C.te >= A.ts - 9)", False),
    ],
)
def test_streams_of_intervals_need_a_limit_back(group: str, is_unbounded: bool) -> None:
    parsed = query(f"{GIVEN} PATTERN NO {group} WITHIN 50")
    assert (unbounded_absence(parsed) is not None) == is_unbounded
    if is_unbounded:
        with pytest.raises(QueryError, match="of any age") as caught:
            Matching(parsed).check_stream()
        assert "NO C before A BY AT MOST" in str(caught.value)
    else:
        Matching(parsed).check_stream()
    of_events = query(f"{AC} NO {group} WITHIN 50")
    assert unbounded_absence(of_events) is None


@pytest.mark.parametrize(
    ("symbol", "hint"),
    [
        (Symbol("B", None, Duration(5, False), is_silence=True), "meets"),
        (Symbol("B", None, ignoring=Gaps(events=1)), "BY AT MOST"),
    ],
)
@pytest.mark.parametrize("relations", ["A followed-by B", "B follows;meets A", "B follows;equals A"])
def test_followed_by_needs_raw_conditions(symbol: Symbol, hint: str, relations: str) -> None:
    parsed: Query = query(f"FROM t DEFINE A AS a, B AS b PATTERN {relations}")
    pattern = written_pattern(parsed)
    assert pattern is not None
    with pytest.raises(QuerySyntaxError, match="followed-by and follows read conditions") as caught:
        check_followed((parsed.symbols[0], symbol), pattern)
    assert hint in str(caught.value)
    check_followed(parsed.symbols, pattern)


def test_not_points_to_no() -> None:
    with pytest.raises(QuerySyntaxError, match="cannot be negated") as caught:
        query(f"{ABC} NOT C during B")
    assert "NO C during B" in str(caught.value)


def test_a_query_changed_by_hand_prints_and_parses() -> None:
    parsed = query(f"{ABC} NO C during B")
    assert query(str(replace(parsed, emit="FINAL"))).emit == "FINAL"
