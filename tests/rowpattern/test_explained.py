"""What `explain` and the stages say of row patterns (ROW 11.1)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import situ
from rowpattern.drawing import VARIABLES, pattern_of, patterns
from situ.cli import main
from situ.errors import QueryError
from situ.language.rows.ast import OrderColumn, RowQuery
from situ.language.rows.binder import bind
from situ.language.rows.bound import BoundRows
from situ.language.text.types import Column
from situ.operators.rowpattern.dump import tree_text
from situ.operators.rowpattern.explained import RowExplanation, explain_text
from situ.operators.rowpattern.ir import lowered
from situ.operators.rowpattern.positions import automaton_of, automaton_of_tree
from situ.operators.rowpattern.stages import STAGES, dump, told


def explained(pattern: str, *, define: str = "", before: str = "", within: str = "") -> RowExplanation:
    define = f"DEFINE {define}" if define else ""
    query = situ.query(f"FROM t MATCH_RECOGNIZE (ORDER BY ts {before} PATTERN ({pattern}) {within} {define})")
    explanation = query.explain()
    assert isinstance(explanation, RowExplanation)
    return explanation


def section(explanation: RowExplanation, title: str) -> str:
    return next(str(one) for one in explanation.sections if one.title == title)


def test_positions_say_what_follows_in_order_of_preference() -> None:
    explanation = explained("A B+? (C | ())", define="B AS x > PREV(x)")
    table = next(one.table for one in explanation.sections if one.title == "Pattern")
    assert table is not None
    assert table.rows == (
        ("start", "", "", "1"),
        ("1", "A", "nothing: any row", "2"),
        ("2", "B", "rows beside it", "3, end, 2"),
        ("3", "C", "nothing: any row", "end"),
    )


@pytest.mark.parametrize(
    ("condition", "reads", "method"),
    [
        ("x > 1", "the row", "Of a table: once from the last row to the first"),
        ("x > PREV(x, 3)", "rows beside it", "Of a table: once from the last row to the first"),
        ("x > sum(A.x)", "rows taken before", "stopped by an error after max_steps steps"),
    ],
)
def test_the_method_follows_from_what_conditions_read(condition: str, reads: str, method: str) -> None:
    explanation = explained("A B*", define=f"B AS {condition}")
    assert reads in section(explanation, "Conditions")
    assert method in section(explanation, "How matches are found")


@pytest.mark.parametrize(
    ("pattern", "clauses", "said"),
    [
        ("A B", {}, "A match is certain at its last row."),
        ("A B+", {"within": "WITHIN 5 minutes"}, "at the latest when the window has passed"),
        ("A B+?", {"within": "WITHIN 5 minutes"}, "A match is certain at its last row."),
        ("A B+", {}, "It needs WITHIN there"),
        ("A B $", {}, "a stream has none"),
        ("A B{1,3}", {}, "at the latest 4 rows after it begins"),
        ("A B{1,3}", {}, "Kept of each partition: at most 4 rows."),
        ("A B", {"define": "B AS PREV(x, 2) > NEXT(x)"}, "2 rows before them that PREV reads and 1 row that"),
        ("A B", {"before": "MEASURES NEXT(B.x, 2) AS y"}, "and 2 rows later where NEXT is read"),
        (
            "A B+",
            {"before": "STRATEGY SKIP TILL NEXT", "within": "WITHIN 5 minutes"},
            "at its last row if it could not go on there, else when the window has passed",
        ),
        (
            "A B+",
            {"before": "INCREMENTAL MATCH", "within": "WITHIN 5 minutes"},
            "A match is certain at its last row.",
        ),
        (
            "A B+",
            {"before": "MAXIMAL MATCH", "within": "WITHIN 5 minutes"},
            "when no longer one can be completed",
        ),
    ],
)
def test_what_a_stream_keeps_and_when_a_match_is_certain(
    pattern: str, clauses: dict[str, str], said: str
) -> None:
    assert said in " ".join(section(explained(pattern, **clauses), "On a stream").split())


@pytest.mark.parametrize(
    ("pattern", "define", "said"),
    [
        ("A ^", "", "No rows can match it"),
        ("$ A", "", "No rows can match it"),
        ("A B", "B AS FALSE", "never true"),
    ],
)
def test_a_pattern_that_matches_nothing_is_said_to(pattern: str, define: str, said: str) -> None:
    assert said in section(explained(pattern, define=define), "Pattern")
    assert "never true" not in section(explained("A B?", define="B AS FALSE"), "Pattern")


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "the next one is sought behind its last row"),
        ("AFTER MATCH SKIP TO NEXT ROW", "at the row behind its first"),
        ("AFTER MATCH SKIP TO LAST b", "at its last row of B"),
        ("ALL ROWS PER MATCH OMIT EMPTY MATCHES", "empty matches are left out"),
    ],
)
def test_the_query_in_words(before: str, said: str) -> None:
    assert said in section(explained("A B+", before=before), "Query")


def test_thousands_of_positions_are_not_all_shown() -> None:
    text = str(explained("A{1000}"))
    assert "... and 800 more positions" in text
    assert len(text.splitlines()) < 300


@given(patterns())
def test_every_pattern_can_be_explained_and_its_text_means_the_same(drawn: Any) -> None:
    pattern = pattern_of(drawn)
    query = RowQuery("t", (OrderColumn("ts"),), pattern)
    assert str(explain_text(query))
    tree = lowered(pattern, VARIABLES)
    again = situ.query(f"FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN ({tree_text(tree, VARIABLES)}))")
    assert automaton_of(again.pattern, VARIABLES) == automaton_of(pattern, VARIABLES)
    assert automaton_of_tree(lowered(again.pattern, VARIABLES), VARIABLES) == automaton_of_tree(
        tree, VARIABLES
    )


TEXT = "FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN ((A B | A) C{2}) DEFINE B AS x > A.x)"


def test_every_stage_names_the_function_that_makes_it() -> None:
    for stage in STAGES:
        assert getattr(importlib.import_module(stage.module), stage.function.__name__) is stage.function


def binding(query: RowQuery) -> BoundRows:
    return bind(query, (Column("ts", "timestamp"), Column("x", "bigint")))


def test_stages_show_what_each_pass_left() -> None:
    text = dump(situ.query(TEXT), binding)
    assert text == "\n".join(told(str(situ.query(TEXT)), binding))
    for number, stage in enumerate(STAGES, start=1):
        assert f"{number}. {stage.name}" in text
    assert "bound query" not in dump(TEXT)
    assert "the time    ts  timestamp" in text
    assert "less_int" in text[text.index("11. programs") :]
    simplified = text[text.index("simplified tree") : text.index("positions")]
    assert [line.strip() for line in simplified.splitlines()[4:]][:6] == [
        "in turn",
        "A",
        "one of, the first preferred",
        "B",
        "nothing",
        "2 times",
    ]


def test_a_refused_query_says_so_where_its_stage_is_due() -> None:
    lines = told("FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE B AS x > 1)")
    shown = []
    with pytest.raises(QueryError, match="B"):
        shown.extend(lines)
    assert "4. checked query" in shown


def test_the_command_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", TEXT]) == 0
    assert "Understood as A (B | ()) C{2}" in capsys.readouterr().out
    assert main(["explain", "--stages", TEXT]) == 0
    assert "7. simplified tree" in capsys.readouterr().out


def test_the_command_binds_to_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("ts,x\n2024-01-01T00:00:00,5\n")
    assert main(["explain", "--stages", "--quiet", TEXT, str(rows)]) == 0
    shown = capsys.readouterr().out
    assert "the time    ts  timestamp" in shown
    assert "11. programs" in shown
