"""Show what situ understood of a query: symbols, constraints, when each becomes certain, the plan.

With INPUT the query is also run on it, and what the run did stands beside the estimates. With --stages
it is not run: what happens to it from its text to a plan is shown instead."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK, parsed_query, read_query
from situ.cli.inputs import (
    add_query_and_input,
    ask_input,
    is_on_spark,
    put_inputs_together,
)
from situ.cli.parameters import parameters_of
from situ.errors import QueryError

if TYPE_CHECKING:
    from situ.language.rows.ast import RowQuery
    from situ.language.situations.ast import Query
    from situ.language.situations.binder import BoundQuery

EXAMPLES = """\
  situ explain drivers.situ
  situ explain "FROM cars PARTITION BY car_id DEFINE A AS accel > 3, B AS speed > 31 PATTERN A overlaps B"
  situ explain drivers.situ cars/
  situ explain --stages drivers.situ
  cat drivers.situ | situ explain -"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ explain`."""
    add_query_and_input(parser)
    parser.add_argument(
        "--stages",
        action="store_true",
        help="show each stage from text to plan, and who makes it; with INPUT also its columns and ticks",
    )


def run(args: argparse.Namespace) -> int:
    """Print the explanation of the query."""
    put_inputs_together(args, required=False)
    if args.stages:
        return _stages(args)
    query = parsed_query(args)
    if not args.inputs:
        print(query.explain())
        return OK
    from situ.public import explain

    print(ask_input(args, query, "running", lambda rows, options: explain(rows, query, **options)))
    return OK


def _stages(args: argparse.Namespace) -> int:
    def binding(query: Any) -> Any:
        return ask_input(args, query, "reading", lambda rows, _: _bound_to(rows, query, args))

    text = read_query(args)
    told = _told_of(text)
    for line in told(text, binding if args.inputs else None, parameters_of(args)):
        print(line)
    return OK


def _told_of(text: str) -> Callable[..., Iterator[str]]:
    """The stages of queries of this kind."""
    from situ.language.rows.header import keyword_position
    from situ.language.text.tokens import tokenize

    try:
        is_of_rows = keyword_position(tokenize(text)) is not None
    except QueryError:
        is_of_rows = False  # it is refused once that stage is due
    if is_of_rows:
        from situ.operators.rowpattern.stages import told as told_of_rows

        return told_of_rows
    from situ.plan.stages import told as told_of_situations

    return told_of_situations


def _bound_to(rows: Any, query: Query | RowQuery, args: argparse.Namespace) -> Any:
    """The query bound to the INPUT by the functions that a run on it uses."""
    from situ.language.rows.ast import RowQuery
    from situ.language.rows.binder import bind as bind_rows
    from situ.language.situations.binder import bind as bind_situations

    bind: Callable[..., Any] = bind_rows if isinstance(query, RowQuery) else bind_situations
    if isinstance(rows, dict):
        assert not isinstance(query, RowQuery)
        return _bound_to_several(rows, query, args)
    if not is_on_spark(rows):
        from situ.rows.schema import spark_schema
        from situ.rows.tables import hints_for, to_arrow

        table = to_arrow(rows)
        with hints_for(rows, table, query.times[0] if query.order_by else args.time):
            return bind(query, spark_schema(table.schema), time=args.time, time_unit=args.time_unit)
    from situ.spark.select.project import schema_of

    return bind(query, schema_of(rows), time=args.time, time_unit=args.time_unit)


def _bound_to_several(rows: dict[str, Any], query: Query, args: argparse.Namespace) -> BoundQuery:
    from situ.language.situations.binder import bind

    if is_on_spark(rows):
        from situ.spark.select.project import schema_of

        schemas = {name: schema_of(one) for name, one in rows.items()}
    else:
        from situ.rows.schema import spark_schema

        schemas = {name: spark_schema(one.schema) for name, one in rows.items()}
    return bind(query, schemas, time=args.time, time_unit=args.time_unit)
