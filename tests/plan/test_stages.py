"""The list of what happens to a query: complete, in the order of the product, and made by the product."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.algebra.certainty import trigger_endpoints
from situ.errors import (
    DurationTypeError,
    InconsistentPatternError,
    QueryError,
    QuerySyntaxError,
    UnknownColumnError,
    UnknownRelationError,
    UnusedSymbolError,
)
from situ.language.situations.ast import Query
from situ.language.situations.binder import BoundQuery, Column, bind
from situ.plan.plan import Planner
from situ.plan.stages import STAGES, Binding, Course, Stage, stages_of, told

QUERIES = {
    "pattern": """
        FROM cars PARTITION BY car_id ORDER BY ts
        DEFINE A AS accel > 3 AT LEAST 5 seconds, -- a comment
               B AS speed > 31.3, C AS accel < -6
        PATTERN A meets;overlaps B AND B before;meets C AND A before;after C
        WITHIN 5 minutes
        RETURN A.ts AS since, avg(B.speed) * 2 AS v
    """,
    "one symbol": "FROM t ORDER BY ts DEFINE A AS x > 1",
    "no pattern": "FROM t ORDER BY ts DEFINE A AS x > 1, B AS x < 1",
    "followed-by": "FROM t ORDER BY ts DEFINE A AS x > 1, B AS x < 1 PATTERN A followed-by B",
    "endpoints": "FROM t WHERE x <> 3 ORDER BY ts DEFINE A AS x, B AS y > 1 PATTERN A.te <= B.ts WITHIN 9",
    "inferred": "FROM t DEFINE A AS x, B AS y, C AS z PATTERN A before B AND B before C EMIT FINAL",
    "intervals": "FROM INTERVALS t SYMBOL BY kind STARTING s ENDING e ID BY id PATTERN A before; overlaps B",
    "defined intervals": """
        FROM INTERVALS t STARTING s ENDING e
        DEFINE A AS kind = 'A' AT MOST 7, B AS kind = 'B' PATTERN A overlaps B
    """,
    "odd words": "FROM `my t` ORDER BY ts DEFINE `my A` AS note = 'two\nlines  [red]' AND `my col` > 1;",
}
SCHEMAS = {
    "pattern": "car_id bigint, ts timestamp, accel double, speed double",
    "followed-by": "ts bigint, x int",
    "intervals": "kind string, s bigint, e bigint, id string",
}
WITHOUT_TABLE = [stage for stage in STAGES if not stage.needs_table]


def binding_to(schema: str) -> Binding:
    columns = tuple(Column(*column.split()) for column in schema.split(", "))

    def bound(query: Query) -> BoundQuery:
        return bind(query, columns)

    return bound


def lines_of(name: str, text: str, binding: Binding | None = None) -> tuple[str, ...]:
    return next(lines for stage, lines in stages_of(text, binding) if stage.name == name)


def calls_of(run: Callable[[], Any]) -> list[CodeType]:
    """The functions that are called, in the order of their first call."""
    called: dict[CodeType, None] = {}

    def see(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.setdefault(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(called)


@pytest.mark.parametrize("name", QUERIES)
def test_every_stage_shows_something_in_order(name: str) -> None:
    shown = list(stages_of(QUERIES[name]))
    assert [stage for stage, _ in shown] == WITHOUT_TABLE
    for stage, lines in shown:
        assert any(line.strip() for line in lines), stage.name
        assert not any("\n" in line for line in lines), stage.name


@pytest.mark.parametrize("name", SCHEMAS)
def test_with_a_table_every_stage_is_there(name: str) -> None:
    shown = list(stages_of(QUERIES[name], binding_to(SCHEMAS[name])))
    assert [stage for stage, _ in shown] == list(STAGES)
    assert all(lines for _, lines in shown)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_a_stage_names_a_function_that_is_there_and_calls_it(stage: Stage) -> None:
    assert getattr(importlib.import_module(stage.module), stage.function.__name__) is stage.function
    course = Course(QUERIES["pattern"], binding_to(SCHEMAS["pattern"]) if stage.needs_table else None)
    assert stage.function.__code__ in calls_of(lambda: stage.lines(course))
    assert stage.does.endswith(".")


def test_names_are_told_apart() -> None:
    assert len({stage.name for stage in STAGES}) == len({stage.function for stage in STAGES}) == len(STAGES)


def test_the_order_is_the_one_in_which_the_product_calls_them() -> None:
    text = QUERIES["pattern"]

    def explain() -> None:
        query = situ.query(text)
        str(query)
        query.explain()

    called = calls_of(explain)
    of_stages = [stage.function.__code__ for stage in WITHOUT_TABLE]
    assert [code for code in called if code in of_stages] == of_stages


def test_a_run_binds_before_it_makes_triggers_and_a_plan() -> None:
    table = pa.table({"ts": [1, 2, 3], "x": [0, 5, 0]})
    run = calls_of(lambda: situ.match(table, situ.query(QUERIES["followed-by"])))
    names = [stage.name for stage in STAGES]
    language = STAGES[: names.index("relations")]  # the engine has a matrix of its own, for kernels
    functions = [stage.function for stage in language if stage.name != "canonical text"]
    expected = [function.__code__ for function in (*functions, trigger_endpoints, Planner.__init__)]
    assert [code for code in run if code in expected] == expected


@pytest.mark.parametrize("name", QUERIES)
def test_what_is_shown_is_what_the_product_makes(name: str) -> None:
    course, query = Course(QUERIES[name]), situ.query(QUERIES[name])
    explained = query.explain()
    assert course.checked == query
    assert course.triggers == explained.triggers
    assert course.plan == explained.plan
    assert (course.reduced.matrix == explained.reduced.matrix).all()
    assert lines_of("canonical text", QUERIES[name]) == tuple(str(query).splitlines())


def test_tokens_are_shown_as_written_without_comments() -> None:
    shown = " ".join(lines_of("tokens", QUERIES["pattern"]))
    assert "[accel] [>] [3] [AT] [LEAST] [5] [seconds] [,] [B]" in shown
    assert "[`my col`]" in " ".join(lines_of("tokens", QUERIES["odd words"]))
    assert max(map(len, lines_of("tokens", QUERIES["pattern"]))) <= 100


def test_endpoints_become_relations() -> None:
    (line,) = [line for line in lines_of("parts", QUERIES["endpoints"]) if line.startswith("PATTERN")]
    assert line.split("  ")[-1] == "A before; meets B"
    assert "A before; meets B  B met-by; after A" in lines_of("relations", QUERIES["endpoints"])


def test_followed_by_stays_what_it_is() -> None:
    assert "A followed-by B  B follows A" in lines_of("relations", QUERIES["followed-by"])
    (line,) = lines_of("reduced relations", QUERIES["followed-by"])[2:]
    assert line.split("  ") == ["A followed-by B", "as written"]


def test_what_is_removed_and_what_follows_is_told() -> None:
    (line,) = [one for one in lines_of("reduced relations", QUERIES["pattern"]) if "removed" in one]
    assert line.split() == ["A", "before", "C", "after", "removed"]
    (line,) = [one for one in lines_of("reduced relations", QUERIES["inferred"]) if "follows" in one]
    assert line.split() == ["A", "before", "C", "follows", "from", "the", "others"]


def test_given_intervals_wait_until_they_are_known() -> None:
    triggers = "\n".join(lines_of("triggers", QUERIES["intervals"]))
    assert "the instant B becomes known" in triggers
    assert any(line.startswith("ID BY") for line in lines_of("parts", QUERIES["intervals"]))


def test_without_a_pattern_nothing_is_matched() -> None:
    for name in ("triggers", "initial plan"):
        (line,) = lines_of(name, QUERIES["no pattern"])
        assert line.startswith("There is no PATTERN")


def test_binding_shows_columns_ticks_and_types() -> None:
    lines = lines_of("bound query", QUERIES["pattern"], binding_to(SCHEMAS["pattern"]))
    rows = [line.split() for line in lines]
    assert ["the", "time", "ts", "timestamp"] in rows
    assert ["a", "partition", "car_id", "bigint"] in rows
    assert "A tick of ts is a microsecond." in lines
    assert ["WITHIN", "5", "minutes", "300,000,000"] in rows
    assert ["A", "AT", "LEAST", "5", "seconds", "5,000,000"] in rows
    assert ["avg(B.speed)", "double"] in rows


def test_what_binding_decides_is_what_goes_on() -> None:
    text = "FROM t ORDER BY ts DEFINE A AS c BETWEEN 2 AND 9"
    assert lines_of("triggers", text)[-1].endswith("A.ts")
    binding = binding_to("ts bigint, c boolean")
    bound = lines_of("bound query", text, binding)
    assert "BETWEEN behind a boolean is a length: A goes on while c, and lasts 2 ticks to 9 ticks." in bound
    assert "A tick of ts is 1, whatever it counts." in bound
    assert lines_of("triggers", text, binding)[-1].endswith("A.te")


REFUSED = [
    ("drivers.situ", "text", QuerySyntaxError),
    ("FROM t DEFINE A AS x = 'open", "tokens", QuerySyntaxError),
    ("SELECT x FROM t", "clauses", QuerySyntaxError),
    ("", "clauses", QuerySyntaxError),
    ("FROM t DEFINE A AS x, B AS y PATTERN A overlapz B", "parts", UnknownRelationError),
    ("FROM t DEFINE A AS x, B AS y, C AS z PATTERN A overlaps B", "checked query", UnusedSymbolError),
    (
        "FROM t DEFINE A AS x, B AS y, C AS z PATTERN A before B AND B before C AND C before A",
        "checked query",
        InconsistentPatternError,
    ),
]


def failing(text: str, binding: Binding | None = None) -> tuple[list[str], QueryError]:
    shown: list[str] = []
    with pytest.raises(QueryError) as caught:
        shown.extend(stage.name for stage, _ in stages_of(text, binding))
    return shown, caught.value


@pytest.mark.parametrize(("text", "stage", "kind"), REFUSED)
def test_a_refused_query_stops_at_its_stage(text: str, stage: str, kind: type[QueryError]) -> None:
    shown, error = failing(text)
    assert [*shown, stage] == [one.name for one in WITHOUT_TABLE][: len(shown) + 1]
    assert type(error) is kind
    with pytest.raises(kind) as usual:
        situ.query(text)
    assert str(error) == str(usual.value)


@pytest.mark.parametrize(
    ("schema", "kind"), [("ts bigint, y int", UnknownColumnError), ("ts timestamp, x int", DurationTypeError)]
)
def test_a_query_that_does_not_fit_the_table_stops_when_it_is_bound(
    schema: str, kind: type[QueryError]
) -> None:
    text = QUERIES["followed-by"] + " WITHIN 9"
    shown, error = failing(text, binding_to(schema))
    assert shown[-1] == "canonical text"
    assert type(error) is kind


def test_headings_name_every_stage_and_the_one_that_refuses() -> None:
    lines = list(told(QUERIES["one symbol"]))
    headings = [line for line in lines if line[:1].isdigit()]
    assert headings == [f"{i}. {stage.name}" for i, stage in enumerate(WITHOUT_TABLE, 1)]
    assert "  by split_clauses in situ.language.text.clauses" in lines
    so_far: list[str] = []
    with pytest.raises(UnknownRelationError):
        so_far.extend(told("FROM t DEFINE A AS x, B AS y PATTERN A overlapz B"))
    assert [line for line in so_far if line[:1].isdigit()][-1] == "4. parts"
