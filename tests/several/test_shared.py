"""What several queries share is read once, and what they cannot share is refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.errors import DataError, DuplicateNameError, OptionError, QueryError, SituError
from situ.expressions import Compiled
from situ.operators.questions import deriving, matching
from situ.options import Options
from situ.rows.schema import spark_schema
from streaming.running import canonical_rows

TABLE = pa.table(
    {
        "k": ["p", "q"] * 6,
        "j": ["p", "q"] * 6,
        "t": range(12),
        "u": range(12),
        "x": [0, 1, 5, 5, 0, 5, 7, 7, 0, 0, 9, 1],
        "y": [float(i) for i in range(12)],
    }
)
HIGH = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 4 RETURN A.ts AS since, avg(A.y) AS mean"
PAIR = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 4, B AS x > 6 PATTERN A contains;started-by B"
FEW = "FROM e WHERE x <> 0 PARTITION BY k ORDER BY t DEFINE A AS 10 / x > 1.9, B AS x > 4 PATTERN A meets B"


def queries(*texts: str) -> dict[str, situ.Query]:
    return {f"q{i}": situ.query(text) for i, text in enumerate(texts)}


def asked(*texts: str) -> Any:
    return matching(queries(*texts)).bind(spark_schema(TABLE.schema), Options())


def alone(texts: dict[str, situ.Query], call: Any = situ.match) -> dict[str, pa.Table]:
    return {name: call(TABLE, query) for name, query in texts.items()}


def test_a_condition_of_two_queries_is_one_bit() -> None:
    several = asked(HIGH, PAIR, PAIR.replace("AS x", "AS  x"))
    assert [one.expression.sql for one in several.needs.conditions] == ["x > 4", "x > 6"]
    assert [view.bits for view in several.views] == [(0,), (0, 1), (0, 1)]


def test_where_that_all_share_is_no_condition() -> None:
    texts = [text.replace("PARTITION", "WHERE x <> 0 PARTITION") for text in (HIGH, PAIR)]
    several = asked(*texts)
    assert len(several.needs.conditions) == 2
    assert several.needs.where is not None
    assert [view.where for view in several.views] == [None, None]


def test_where_of_one_is_a_condition_that_guards_its_own() -> None:
    """10 / x fails on rows that only the other query reads."""
    several = asked(HIGH, FEW)
    assert several.needs.where is None
    assert [one.expression.sql for one in several.needs.conditions] == [
        "x > 4",
        "CASE WHEN x <> 0 THEN 10 / x > 1.9 END",
        "CASE WHEN x <> 0 THEN x > 4 END",
        "x <> 0",
    ]
    texts = queries(HIGH, FEW)
    with pytest.raises(SituError, match=r"(?i)zero"):
        situ.match(TABLE, situ.query(FEW.replace("WHERE x <> 0", "")))
    assert situ.match(TABLE, texts) == alone(texts)


def test_rows_that_no_where_takes_are_left_out_at_once() -> None:
    texts = [HIGH.replace("PARTITION", f"WHERE x > {i} PARTITION") for i in (3, 5)]
    several = asked(*texts)
    assert several.needs.where is not None
    assert several.needs.where.sql == "(x > 3) OR (x > 5)"


def test_a_shared_condition_is_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = queries(HIGH, PAIR, f"{PAIR} EMIT FINAL")
    calls: list[Compiled] = []
    evaluate = Compiled.__call__

    def counted(self: Compiled, *args: Any, **named: Any) -> pa.Array:
        if self.type == pa.bool_():
            calls.append(self)
        return evaluate(self, *args, **named)

    monkeypatch.setattr(Compiled, "__call__", counted)
    together = situ.match(TABLE, texts)
    assert len(calls) == 2
    assert together == alone(texts)
    assert len(calls) == 2 + 5


def test_situations_of_several_queries() -> None:
    texts = queries(HIGH, FEW)
    found, expected = situ.situations(TABLE, texts), alone(texts, situ.situations)
    assert {name: canonical_rows(one) for name, one in found.items()} == {
        name: canonical_rows(one) for name, one in expected.items()
    }
    several = deriving(texts).bind(spark_schema(TABLE.schema), Options())
    assert [returned.name for returned in several.returned] == ["query", "q0", "q1"]


def test_the_answer_is_of_the_kind_that_was_given() -> None:
    frames = situ.match(TABLE.to_pandas(), queries(HIGH, PAIR))
    assert [type(frame).__name__ for frame in frames.values()] == ["DataFrame"] * 2


def test_match_id_is_the_same_as_of_one_query() -> None:
    texts = queries(HIGH, PAIR)
    found = situ.match(TABLE, texts, match_id=True)
    assert found == {name: situ.match(TABLE, query, match_id=True) for name, query in texts.items()}


GIVEN = "FROM INTERVALS e STARTING t ENDING u PARTITION BY k DEFINE A AS x > 4"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((HIGH, HIGH.replace("BY k", "BY j")), "q0 and q1 differ in PARTITION BY"),
        ((HIGH, HIGH.replace("PARTITION BY k ", "")), "differ in PARTITION BY"),
        ((HIGH, PAIR, HIGH.replace("ORDER BY t", "ORDER BY u")), "q0 and q2 differ in the time column"),
        ((HIGH, HIGH.replace("ORDER BY t", "ORDER BY t, x")), "differ in the columns of ORDER BY after"),
        ((HIGH, GIVEN), "differ in FROM and the columns of intervals"),
        ((GIVEN, GIVEN.replace("PARTITION", "ID BY x PARTITION")), "differ in FROM"),
    ],
)
def test_queries_that_read_rows_in_other_ways_are_refused(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        situ.match(TABLE, queries(*texts))


def test_sixty_four_different_conditions_are_the_most() -> None:
    texts = queries(*(HIGH.replace("> 4", f"> {i}") for i in range(65)))
    with pytest.raises(QueryError, match="65 different conditions together, and one pass takes at most 64"):
        situ.match(TABLE, texts)
    del texts["q64"]
    assert situ.match(TABLE, texts) == alone(texts)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "there is no query in the dict"),
        (["a", "A"], "the name A is taken"),
        (["query"], "the name query names the column that says whose a row is"),
        (["Query"], "names the column that says whose"),
        ([""], "'' is no name for a query"),
        ([1], "1 is no name for a query"),
    ],
)
def test_names_that_cannot_be_columns_are_refused(names: list[Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        situ.match(TABLE, dict.fromkeys(names, situ.query(HIGH)))


@pytest.mark.parametrize("name", ["k", "K"])
def test_a_query_named_like_a_partition_column_is_refused(name: str) -> None:
    with pytest.raises(DuplicateNameError, match="has a column k, and PARTITION BY names one"):
        situ.match(TABLE, {name: situ.query(HIGH)})


def test_a_partition_column_named_query_is_refused() -> None:
    table = TABLE.rename_columns(["query", *TABLE.column_names[1:]])
    with pytest.raises(DuplicateNameError, match="has a column query"):
        situ.match(table, queries(HIGH.replace("BY k", "BY query")))


def test_what_is_no_query_is_refused() -> None:
    with pytest.raises(QueryError, match="must be a query, not a list"):
        situ.match(TABLE, {"a": [HIGH]})


def test_text_is_taken_for_the_query_it_makes() -> None:
    assert situ.match(TABLE, {"a": HIGH}) == situ.match(TABLE, {"a": situ.query(HIGH)})


def test_options_must_suit_every_query() -> None:
    with pytest.raises(OptionError, match="option points does not apply to events"):
        situ.match(TABLE, queries(HIGH, PAIR), points="widen")


def test_rows_of_one_time_are_refused_only_where_one_query_has_both() -> None:
    """Rows that pass different WHEREs are no ties: neither query sees both."""
    table = pa.table({"k": ["p"] * 3, "t": [1, 1, 2], "x": [1, 2, 3], "y": [0.0] * 3})
    ones, twos = (HIGH.replace("PARTITION", f"WHERE x {where} PARTITION") for where in ("<> 2", "> 1"))
    texts = queries(ones, twos)
    found = situ.match(table, texts, ties="error")
    assert found == {name: situ.match(table, query, ties="error") for name, query in texts.items()}
    with pytest.raises(DataError, match="two rows share the time 1"):
        situ.match(table, queries(ones, HIGH), ties="error")
