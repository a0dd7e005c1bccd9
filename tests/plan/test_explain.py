"""What explain says, and that nothing in a query can break out of it."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

import situ
from situ.algebra.certainty import Admissible, Trigger
from situ.algebra.relations import NAMES
from situ.language.situations.ast import Constraint, IntervalSource, Query, Symbol
from situ.language.situations.binder import bind
from situ.language.text.nodes import Duration, Expression
from situ.language.text.types import Column
from situ.operators.situations.program import make_spec
from situ.plan.explain import Actuals, Explanation, describe_duration, explain_query
from situ.plan.pattern import reduce_pattern, relation_matrix


def sql(text: str) -> Expression:
    return Expression(text, ())


def bits(names: str) -> int:
    result = 0
    for name in names.split(";"):
        result |= NAMES[name]
    return result


SECONDS = 1_000_000
DRIVER = Query(
    source="cars",
    symbols=(
        Symbol("A", sql("accel > 8"), Duration(5 * SECONDS, True)),
        Symbol("B", sql("speed > 70")),
        Symbol("C", sql("accel < -9"), None, Duration(3 * SECONDS, True)),
    ),
    constraints=(
        Constraint("A", "B", bits("meets;overlaps;starts;during")),
        Constraint("A", "C", bits("before;after")),
        Constraint("B", "C", bits("contains;met-by")),
    ),
    order_by=("ts",),
    partition_by=("car_id",),
    within=Duration(300 * SECONDS, True),
)


def text_of(query: Query) -> str:
    return str(explain_query(query))


def test_the_query_is_told_in_words() -> None:
    text = text_of(DRIVER)
    assert "events of cars, in order of ts, separately for each car_id" in text
    assert "EMIT EARLY" in text
    assert "at most 5 minutes may pass" in text


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("A", ["accel > 8", "at least 5 seconds", "once it has lasted long enough"]),
        ("B", ["speed > 70", "any time", "from its start"]),
        ("C", ["accel < -9", "at most 3 seconds", "once it has ended"]),
    ],
)
def test_every_symbol_has_its_line(symbol: str, expected: list[str]) -> None:
    (line,) = [line for line in text_of(DRIVER).splitlines() if line.startswith(f"  {symbol}  ")]
    assert all(part in line for part in expected)


def test_removed_and_inferred_relations_are_shown() -> None:
    # A meets B and B contains C leave A before C only; of A to D nothing was said.
    query = Query(
        source="t",
        symbols=tuple(Symbol(name, sql("x")) for name in "ABCD"),
        constraints=(
            Constraint("A", "B", bits("meets")),
            Constraint("A", "C", bits("before;after")),
            Constraint("B", "C", bits("contains")),
            Constraint("C", "D", bits("contains")),
        ),
    )
    text = text_of(query)
    (line,) = [line for line in text.splitlines() if line.startswith("  A before C")]
    assert line.split()[3] == "after"
    follows = text.split("What follows from them\n")[1].split("\n\n")[0]
    assert follows.splitlines() == ["  A before D", "  B contains D"]


def test_certainty_and_triggers_are_shown() -> None:
    query = Query(
        source="t",
        symbols=(Symbol("A", sql("x")), Symbol("B", sql("y"))),
        constraints=(Constraint("A", "B", bits("meets;overlaps")),),
    )
    text = text_of(query)
    assert "at the later start (meets)" in text
    assert "A.te or B.ts" in text
    assert "What can complete a match\n  A.te, B.ts." in text
    assert "There is no WITHIN" in text
    final = text_of(Query(**{**_fields(query), "emit": "FINAL"}))
    assert "EMIT FINAL" in final
    assert "What can complete a match\n  B.te." in final


def test_a_single_symbol_needs_no_pattern() -> None:
    query = Query(source="t", symbols=(Symbol("A", sql("x"), Duration(60 * SECONDS, True)),))
    text = text_of(query)
    assert "the instant A has lasted long enough" in text
    assert "Constraints" not in text


def test_symbols_without_a_pattern_are_for_deriving_only() -> None:
    explanation = explain_query(Query(source="t", symbols=(Symbol("A", sql("x")), Symbol("B", sql("y")))))
    assert "can derive situations but not match them" in str(explanation)
    assert explanation.plan is None


def test_given_intervals_are_told_as_such() -> None:
    given = IntervalSource("s", "e", symbol_by="kind")
    query = Query(
        source="t",
        symbols=(Symbol("A"), Symbol("B")),
        constraints=(Constraint("A", "B", bits("before")),),
        intervals=given,
    )
    assert "each row of t as a situation from s to e" in text_of(query)
    assert "kind = 'A'" in text_of(query)
    assert query.admissible == (Admissible.AT_END, Admissible.AT_END)
    punctuated = Query(**{**_fields(query), "intervals": IntervalSource("s", "e", "kind", id_by="id")})
    assert punctuated.admissible == (Admissible.DELAYED, Admissible.DELAYED)
    assert "once it is known" in text_of(punctuated)


def test_intervals_without_ids_are_certain_when_they_have_ended() -> None:
    """One truth: what is said of each constraint is what can complete a match, and what the engine uses."""
    parsed = situ.query(
        "FROM INTERVALS t SYMBOL BY kind STARTING s ENDING e PATTERN A before; overlaps B WITHIN 50"
    )
    explained = explain_query(parsed)
    (line,) = [line for line in str(explained).splitlines() if line.startswith("  A before; overlaps B")]
    assert line.endswith("once both have ended  B.te")
    assert "What can complete a match\n  B.te." in str(explained)
    assert "B.ts" not in str(explained)
    spec = make_spec(bind(parsed, tuple(Column(name, kind) for name, kind in _INTERVAL_SCHEMA)))
    used = zip(spec.trigger_ts, spec.trigger_admissible, spec.trigger_te, strict=True)
    assert [Trigger(*map(bool, one)) for one in used] == list(explained.triggers)
    rows = {"kind": ["A", "B", "A", "B"], "s": [0, 3, 10, 12], "e": [5, 9, 11, 20]}
    found = situ.match(pa.table(rows), parsed).to_pylist()
    assert {row["match_time"] for row in found} == {row["B_te"] for row in found} == {9, 20}


_INTERVAL_SCHEMA = (("kind", "string"), ("s", "bigint"), ("e", "bigint"), ("id", "string"))


@pytest.mark.parametrize("ids", ["", "ID BY id"])
@pytest.mark.parametrize("length", ["", "AT LEAST 3", "AT MOST 3", "AT LEAST 0"])
@pytest.mark.parametrize("emit", ["EARLY", "FINAL"])
def test_explain_shows_the_instants_the_engine_uses(ids: str, length: str, emit: str) -> None:
    for text, schema in (
        (f"FROM INTERVALS t STARTING s ENDING e {ids}", _INTERVAL_SCHEMA),
        ("FROM t ORDER BY s", _INTERVAL_SCHEMA),
    ):
        for relations in ("before", "overlaps;during", "equals", "overlaps;finished-by;contains"):
            parsed = situ.query(
                f"{text} DEFINE A AS kind = 'A' {length}, B AS kind = 'B' PATTERN A {relations} B EMIT {emit}"
            )
            spec = make_spec(bind(parsed, tuple(Column(name, kind) for name, kind in schema)))
            used = zip(spec.trigger_ts, spec.trigger_admissible, spec.trigger_te, strict=True)
            assert [Trigger(*map(bool, one)) for one in used] == list(explain_query(parsed).triggers)


def test_bounds_on_lengths_delay_certainty() -> None:
    text = text_of(
        Query(
            source="t",
            symbols=(Symbol("A", sql("x")), Symbol("B", sql("y"), None, Duration(5, False))),
            constraints=(Constraint("A", "B", bits("before")),),
        )
    )
    (line,) = [line for line in text.splitlines() if line.startswith("  A before B")]
    assert line.endswith("at the later start, once both can be used  B.te")


def test_actual_counts_stand_beside_the_estimates() -> None:
    explanation = explain_query(DRIVER)
    seen = np.full((3, 3), 100.0)
    told = explanation.with_actuals(Actuals((10, 20, 30), seen, seen * 0.25, 12345, 17, explanation.plan, 2))
    text = str(told)
    assert "Situations derived: A 10, B 20, C 30." in text
    assert "Candidates looked at: 12,345." in text
    assert "Matches: 17." in text
    assert "Plan changes: 2." in text
    (line,) = [
        line for line in text.split("What the run did")[1].splitlines() if line.startswith("  A meets;")
    ]
    assert line.split()[-4:] == ["200", "50", "0.25", "0.0498"]
    assert "Plan at the end" in text
    assert "What the run did" not in str(explanation)


def test_a_run_says_only_what_it_knows() -> None:
    text = str(explain_query(DRIVER).with_actuals(Actuals(matches=3)))
    assert "Matches: 3." in text
    assert "Plan changes" not in text
    assert "Candidates" not in text.split("What the run did")[1]


def test_notes_add_up() -> None:
    told = explain_query(DRIVER).with_notes("map-side: files do not interleave").with_notes("2 tasks")
    assert told.notes == ("map-side: files do not interleave", "2 tasks")
    assert str(told).endswith("Notes\n  map-side: files do not interleave\n  2 tasks")


HOSTILE = Query(
    source="<script>",
    symbols=(
        Symbol("<b>A</b>", sql("x = '[red]<img src=x onerror=1>[/nothing]' AND " + "y > 1 AND " * 40 + "z")),
    ),
)


def test_html_escapes_everything() -> None:
    html = explain_query(HOSTILE).with_notes("<i>note</i>")._repr_html_()
    for tag in ("<script", "<img", "<b>", "<i>"):
        assert tag not in html
    assert "&lt;script&gt;" in html


def test_rich_takes_brackets_as_text() -> None:
    out = io.StringIO()
    Console(file=out, width=120, color_system=None).print(explain_query(HOSTILE))
    assert "[red]<img" in out.getvalue()
    assert "<b>A</b>" in out.getvalue()


def test_rich_and_html_say_what_the_text_says() -> None:
    out = io.StringIO()
    explanation = explain_query(DRIVER)
    Console(file=out, width=300, color_system=None).print(explanation)
    for words in ("at least 5 seconds", "What can complete a match", "once it has ended", "C.te"):
        assert words in str(explanation)
        assert words in out.getvalue()
        assert words in explanation._repr_html_()


def test_plain_text_stays_narrow_and_complete() -> None:
    text = text_of(HOSTILE)
    assert max(map(len, text.splitlines())) <= 160
    assert text.split().count("y") == 40


@pytest.mark.parametrize(
    ("value", "has_unit", "text"),
    [
        (0, True, "0 seconds"),
        (1, True, "1 microsecond"),
        (1_500_000, True, "1500 milliseconds"),
        (90 * SECONDS, True, "90 seconds"),
        (3600 * SECONDS, True, "1 hour"),
        (2 * 86_400 * SECONDS, True, "2 days"),
        (300, False, "300 ticks"),
        (1, False, "1 tick"),
    ],
)
def test_durations_in_words(value: int, has_unit: bool, text: str) -> None:
    assert describe_duration(Duration(value, has_unit)) == text


def test_the_matrix_of_a_query_reads_in_both_directions() -> None:
    matrix = relation_matrix(DRIVER)
    assert matrix[0, 1] == bits("meets;overlaps;starts;during")
    assert matrix[1, 0] == bits("met-by;overlapped-by;started-by;contains")
    assert np.array_equal(
        relation_matrix(DRIVER) & reduce_pattern(DRIVER).matrix, reduce_pattern(DRIVER).matrix
    )


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (Symbol("A", sql("x")), Admissible.AT_START),
        (Symbol("A", sql("x"), Duration(0, False)), Admissible.AT_START),
        (Symbol("A", sql("x"), Duration(1, False)), Admissible.DELAYED),
        (Symbol("A", sql("x"), None, Duration(1, False)), Admissible.AT_END),
        (Symbol("A", sql("x"), Duration(1, False), Duration(1, False)), Admissible.AT_END),
    ],
)
def test_when_a_situation_may_be_used(symbol: Symbol, expected: Admissible) -> None:
    assert Query(source="t", symbols=(symbol,)).admissible == (expected,)


def test_the_parts_can_be_read() -> None:
    explanation = explain_query(DRIVER)
    assert isinstance(explanation, Explanation)
    assert explanation.plan is not None
    assert sorted(explanation.plan.full) == [0, 1, 2]
    assert len(explanation.triggers) == 3


def _fields(query: Query) -> dict[str, object]:
    return {name: getattr(query, name) for name in query.__dataclass_fields__}


ABC = "FROM t DEFINE A AS a, B AS b, C AS c PATTERN"


def row_of(text: str, start: str) -> str:
    """The cells of the table row that begins so, on one line."""
    explained = str(situ.query(text).explain()).splitlines()
    return next(" ".join(line.split()) for line in explained if line.strip().startswith(start))


@pytest.mark.parametrize(
    ("pattern", "certain"),
    [
        ("B.ts <= A.te + 5 minutes", "at the later start"),
        ("B.te < A.te + 5 minutes", "at B.te, once A has started"),
        ("A.te + 5 minutes <= B.ts", "at B.ts"),
        ("A.te + 5 min < B.te", "at the first event from A.te + 5 minutes on"),
    ],
)
def test_distances_are_told_with_when_they_are_certain(pattern: str, certain: str) -> None:
    text = str(situ.query(f"FROM t DEFINE A AS a, B AS b PATTERN {pattern}").explain())
    assert certain in text.partition("Distances")[2]
    assert "silent partition" not in text
    assert "no PATTERN" not in text


@pytest.mark.parametrize(
    ("group", "certain"),
    [
        ("C before A", "from A.ts on"),
        ("C contains A", "from A.ts on, or with a C in progress"),
        ("C during B", "from B.te on"),
        ("C while B", "from B.te on"),
        ("(C after A AND C before B)", "from B.ts on"),
        ("C after B BY AT MOST 5 minutes", "from B.te + 5 minutes on"),
        ("(C.ts >= A.ts AND C.ts <= A.ts + 5 minutes)", "from A.ts + 5 minutes on"),
    ],
)
def test_groups_are_told_with_when_they_are_certain(group: str, certain: str) -> None:
    text = str(situ.query(f"{ABC} A before B AND NO {group}").explain())
    assert certain in " ".join(text.partition("What must be absent")[2].split())
    assert "never: it must be absent" in text
    assert "a silent partition reports nothing until a watermark, op.advance" in " ".join(text.split())
    plan = text.partition("Plan (estimates)")[2]
    assert "C" not in plan


def test_final_waits_for_groups() -> None:
    text = " ".join(str(situ.query(f"{ABC} A before B AND NO C during B EMIT FINAL").explain()).split())
    assert "all its situations have ended, and its NO groups are certain (EMIT FINAL)" in text
    assert "the instant that NO C during B is certain" in text


def test_words_are_told() -> None:
    assert row_of("FROM t DEFINE A AS a, B AS b PATTERN A intersects B", "A while B").endswith(
        "nothing at the later start A.ts or B.ts"
    )
