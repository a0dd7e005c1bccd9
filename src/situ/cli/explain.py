"""Show what situ understood of a query: symbols, constraints, when each becomes certain, the plan.

With INPUT the query is also run on it, and what the run did stands beside the estimates. With --stages
it is not run: what happens to it from its text to a plan is shown instead."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK, parsed_query, read_query
from situ.cli.inputs import (
    add_query_and_input,
    ask_input,
    is_on_spark,
    put_inputs_together,
)
from situ.cli.parameters import parameters_of

if TYPE_CHECKING:
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
    from situ.plan.stages import told

    def binding(query: Query) -> BoundQuery:
        return _bound(args, query)

    for line in told(read_query(args), binding if args.inputs else None, parameters_of(args)):
        print(line)
    return OK


def _bound(args: argparse.Namespace, query: Query) -> BoundQuery:
    """The query bound to the INPUT by the functions that a run on it uses."""
    return ask_input(args, query, "reading", lambda rows, _: _bound_to(rows, query, args))


def _bound_to(rows: Any, query: Query, args: argparse.Namespace) -> BoundQuery:
    from situ.language.situations.binder import bind

    if isinstance(rows, dict):
        return _bound_to_several(rows, query, args)
    if not is_on_spark(rows):
        from situ.rows.schema import spark_schema
        from situ.rows.tables import hints_for, to_arrow

        table = to_arrow(rows)
        with hints_for(rows, table, query.order_by[0] if query.order_by else args.time):
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
