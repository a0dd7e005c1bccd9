"""SQL inside a query (conditions, WHERE, RETURN, HAVING) is DuckDB's to evaluate."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa


def evaluate(table: pa.Table, sql: dict[str, str], name: str = "rows") -> dict[str, list[Any]]:
    """Each expression over the rows of a table, in row order."""
    if not sql:
        return {}
    with duckdb.connect() as connection:
        values = selected(connection, table, sql, name).fetchall()
    return {alias: [row[i] for row in values] for i, alias in enumerate(sql)}


def types(table: pa.Table, sql: dict[str, str], name: str = "rows") -> dict[str, pa.DataType]:
    """What type each expression has."""
    with duckdb.connect() as connection:
        schema = selected(connection, table.slice(0, 0), sql, name).to_arrow_table().schema
    return {alias: schema.field(alias).type for alias in sql}


def selected(
    connection: duckdb.DuckDBPyConnection, table: pa.Table, sql: dict[str, str], name: str
) -> duckdb.DuckDBPyRelation:
    numbered = table.append_column("__row", pa.array(range(table.num_rows), pa.int64()))
    connection.register("__table", numbered)
    wanted = ", ".join(f'({text}) AS "{alias}"' for alias, text in sql.items())
    text = f'SELECT {wanted} FROM __table AS "{name}" ORDER BY __row'
    return connection.sql(text.replace("`", '"'))
