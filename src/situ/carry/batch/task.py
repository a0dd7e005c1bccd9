"""What a worker needs to know: a bound query, its columns and options, as picklable data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from situ.carry.buckets import labels
from situ.language.situations.binder import BoundQuery
from situ.operators.situations.engine import Engine
from situ.operators.situations.interval_engine import IntervalEngine
from situ.operators.situations.result import Results
from situ.options import Options
from situ.rows.tied import Tied
from situ.spark.select.project import Layout

Kind = Literal["match", "situations"]


@dataclass(frozen=True)
class Task:
    """One query on one DataFrame."""

    bound: BoundQuery
    layout: Layout
    schema: pa.Schema  # Arrow types of the columns the query uses, under their own names
    kind: Kind
    ties: str
    join: str
    points: str
    forget_after: int | None
    match_id: bool
    ansi: bool
    labels: tuple[int, ...]  # one for each bucket (see buckets.py)
    limit: int  # bytes of rows a worker holds at a time
    output_names: list[str]  # of the columns workers give back
    n_slices: int = 1  # into which an unpartitioned input is cut at the most
    least_rows: int = 1  # of such a slice
    has_splits: bool = False  # does a last column tell splits apart

    @cached_property
    def engine(self) -> Engine:
        """The query compiled; situations are kept whatever their age."""
        is_match = self.kind == "match"
        bound = self.bound if is_match else replace(self.bound, within=None)
        kind = Engine if self.bound.query.intervals is None else IntervalEngine
        return kind(
            bound, ansi=self.ansi, forget_after=self.forget_after, join=self.join, with_count=not is_match
        )

    @cached_property
    def results(self) -> Results:
        """Makes items; RETURN expressions are Spark's to evaluate."""
        bound = replace(self.bound, query=replace(self.bound.query, returns=()))
        return Results(bound, self.schema, self.engine, Options(ansi=self.ansi))

    @cached_property
    def tied(self) -> Tied:
        """Rows left out by this worker that nobody has asked for yet."""
        return Tied()

    @property
    def mask_type(self) -> np.dtype[Any]:
        """What the engine holds masks in."""
        return self.engine.mask_type

    @property
    def n_buckets(self) -> int:
        return len(self.labels)

    @cached_property
    def label_of(self) -> npt.NDArray[np.int32]:
        """Each bucket's label."""
        return np.array(self.labels, np.int32)

    @cached_property
    def slice_labels(self) -> npt.NDArray[np.int32]:
        """Labels that spread slices evenly over as many shuffle partitions."""
        return labels(self.n_slices)
