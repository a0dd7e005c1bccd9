"""Tables of other libraries, through Arrow, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pyarrow as pa

from situ.errors import DataError, TimeColumnError, UnknownColumnError
from situ.rows.keys import shown
from situ.rows.plain import plain_table
from situ.rows.schema import spark_type


def to_arrow(events: Any) -> pa.Table:
    """Any table situ takes as a pyarrow Table; libraries are recognised without importing them."""
    return plain_table(_as_arrow(events))


def _as_arrow(events: Any) -> pa.Table:
    if isinstance(events, pa.Table):
        return events
    if isinstance(events, pa.RecordBatch):
        return pa.Table.from_batches([events])
    library, kind = type(events).__module__.partition(".")[0], type(events).__name__
    if library == "pandas" and kind == "DataFrame":
        return _from_pandas(events)
    if library == "polars" and kind in ("DataFrame", "LazyFrame"):
        return events.lazy().collect().to_arrow()
    raise DataError(
        f"cannot match a {type(events).__module__}.{kind}",
        hint="give a Spark DataFrame, a pyarrow Table, a pandas DataFrame or a Polars DataFrame",
    )


def _from_pandas(events: Any) -> pa.Table:
    twice = list(dict.fromkeys(str(name) for name in events.columns[events.columns.duplicated()]))
    if twice:
        raise DataError(
            f"the pandas DataFrame has more than one column {', '.join(twice)}",
            hint="rename or drop all but one: df = df.loc[:, ~df.columns.duplicated()]",
        )
    try:
        return pa.Table.from_pandas(events, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataError(
            f"this pandas DataFrame does not convert to Arrow: {error}",
            hint="give every column values of one type, or drop columns that the query does not need",
        ) from error


@contextmanager
def hints_for(events: Any, table: pa.Table, time: str | None) -> Iterator[None]:
    """While a question is bound to a table that was made from `events`: hints speak of their library.

    `time` is the column that the question names as its time, if it names one.
    """
    try:
        yield
    except (UnknownColumnError, TimeColumnError) as error:
        error.hint = _hint(events, table, time) or error.hint
        raise


def _hint(events: Any, table: pa.Table, wanted: str | None) -> str | None:
    """What to type where columns are not where they are looked for, or the time is text."""
    library = type(events).__module__.partition(".")[0]
    if library == "pandas":
        levels = [str(name) for name in events.index.names if name not in (None, *table.column_names)]
        if levels:
            are = "is" if len(levels) == 1 else "are"
            return f"{', '.join(levels)} {are} in the DataFrame's index: give df.reset_index()"
        if events.index.inferred_type == "datetime64" and wanted not in table.column_names:
            name = f'df.rename_axis("{wanted or "time"}")'
            return f"the times are in the DataFrame's index: give {name}.reset_index()"
    texts = [
        field.name
        for field in table.schema
        if spark_type(field.type) == "string"
        and (field.name == wanted or (wanted is None and _is_time(table[field.name])))
    ]
    if not texts:
        return None
    typed = {
        "pandas": f'df["{texts[0]}"] = pd.to_datetime(df["{texts[0]}"])',
        "polars": f'df = df.with_columns(pl.col("{texts[0]}").str.to_datetime())',
    }
    other = f'pyarrow.compute.cast(table["{texts[0]}"], pyarrow.timestamp("us"))'
    return f"{texts[0]} holds times as text; convert them first: {typed.get(library, other)}"


def _is_time(column: pa.ChunkedArray) -> bool:
    """Does a column's first text read like a time?"""
    texts = column.drop_null().slice(0, 1)
    try:
        return bool([datetime.fromisoformat(shown(text)) for text in texts])
    except (ValueError, TypeError):
        return False


def from_arrow(table: pa.Table, like: Any) -> Any:
    """A pyarrow Table as the kind of table `like` is."""
    library = type(like).__module__.partition(".")[0]
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        import polars

        frame: Any = polars.from_arrow(table)
        return frame.lazy() if is_lazy(like) else frame
    return table


def is_lazy(events: Any) -> bool:
    """Is this a Polars LazyFrame?"""
    kind = type(events)
    return kind.__module__.partition(".")[0] == "polars" and kind.__name__ == "LazyFrame"


def rowless(lazy: Any) -> Any:
    """A DataFrame with the columns of a LazyFrame, which is not collected."""
    import polars

    return polars.DataFrame(schema=lazy.collect_schema())


def when_collected(lazy: Any, names: Sequence[str], answer: Callable[[Any], Any], schema: pa.Schema) -> Any:
    """A LazyFrame of what `answer` makes of these columns: asked when it is collected, and of no others."""
    import polars

    nothing: Any = polars.from_arrow(pa.Table.from_batches([], schema))
    wanted = {name.lower() for name in names}  # as expressions name columns, in any capitals
    own = [name for name in lazy.collect_schema() if name.lower() in wanted]
    needed = lazy.select(polars.selectors.by_name(*own))
    return needed.map_batches(lambda events: polars.from_arrow(answer(events)), schema=nothing.schema)
