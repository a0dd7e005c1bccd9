"""Tables of other libraries, through Arrow, and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from situ.errors import DataError


def to_arrow(events: Any) -> pa.Table:
    """Any table situ takes as a pyarrow Table; libraries are recognised without importing them."""
    if isinstance(events, pa.Table):
        return events
    if isinstance(events, pa.RecordBatch):
        return pa.Table.from_batches([events])
    library, kind = type(events).__module__.partition(".")[0], type(events).__name__
    if library == "pandas" and kind == "DataFrame":
        try:
            return pa.Table.from_pandas(events, preserve_index=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(f"this pandas DataFrame does not convert to Arrow: {error}") from error
    if library == "polars" and kind in ("DataFrame", "LazyFrame"):
        return events.lazy().collect().to_arrow()
    raise DataError(
        f"cannot match a {type(events).__module__}.{kind}",
        hint="give a Spark DataFrame, a pyarrow Table, a pandas DataFrame or a Polars DataFrame",
    )


def from_arrow(table: pa.Table, like: Any) -> Any:
    """A pyarrow Table as the kind of table `like` is."""
    library = type(like).__module__.partition(".")[0]
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    return table
