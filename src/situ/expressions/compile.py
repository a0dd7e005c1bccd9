"""The compiled expression: Arrow arrays in, one Arrow array out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import sqlglot.expressions as exp

from situ.errors import no_condition
from situ.expressions import types as t
from situ.expressions.bind import Binder
from situ.expressions.node import Node, Run
from situ.expressions.vectors import Frame, Loader, Vector, loader, to_arrow
from situ.language.text.nodes import Expression

_BLOCK_ROWS = 1 << 18  # a multiple of eight, so that blocks of bits join without shifting


def compile_expression(
    expression: Expression, schema: pa.Schema, *, ansi: bool = True, time_zone: str = "UTC"
) -> Compiled:
    """Compile a Spark SQL expression over the columns of a schema, or refuse it by name."""
    tree = expression.tree
    binder = Binder(schema, ansi=ansi, time_zone=time_zone)
    node = binder.bind(tree)
    fields = [schema.field(index) for index in binder.columns]
    bare = isinstance(tree.unnest(), exp.Column)
    return Compiled(node, fields, binder.eager, bare=bare)


def compile_condition(
    expression: Expression, schema: pa.Schema, what: str, *, ansi: bool = True, time_zone: str = "UTC"
) -> Compiled:
    """`compile_expression` for one that must be true or false; `what` it is, messages say."""
    compiled = compile_expression(expression, schema, ansi=ansi, time_zone=time_zone)
    if compiled.type not in (t.BOOLEAN, t.NULL):
        raise no_condition(what, expression.sql, t.name_of(compiled.type))
    return compiled


class Compiled:
    """An expression ready to run; the same answers as Spark's, row by row."""

    type: pa.DataType
    columns: tuple[str, ...]

    def __init__(self, node: Node, fields: list[pa.Field], eager: Sequence[Run], *, bare: bool) -> None:
        self.columns = tuple(field.name for field in fields)
        self.type = fields[0].type if bare else t.arrow_type(node.type)
        self.is_bare = bare  # nothing but a column
        self.can_fail = node.raises or bool(eager)  # are there values for which it raises
        self._run = _after(eager, node.run) if eager else node.run
        self._loaders = tuple(loader(field.type) for field in fields)

    def __call__(self, columns: Mapping[str, pa.Array], n_rows: int | None = None) -> pa.Array:
        """One value per row; all arrays must have one length. A bare column comes back as it is.

        A constant reads no column: its length is `n_rows`, or that of any column there is.
        """
        if self.is_bare:
            return columns[self.columns[0]]
        arrays = [columns[name] for name in self.columns]
        n = len(arrays[0] if arrays else next(iter(columns.values()))) if n_rows is None else n_rows
        with np.errstate(all="ignore"):
            blocks = [
                to_arrow(self._run(frame), self.type, frame.n) for frame in _blocks(arrays, self._loaders, n)
            ]
        return blocks[0] if len(blocks) == 1 else pa.concat_arrays(blocks)


def _blocks(arrays: list[pa.Array], loaders: Sequence[Loader], n: int) -> Iterator[Frame]:
    """The rows in pieces whose intermediate results stay in the processor's cache."""
    if n <= _BLOCK_ROWS:
        yield Frame(arrays, loaders, n)
        return
    for start in range(0, n, _BLOCK_ROWS):
        pieces = [array.slice(start, _BLOCK_ROWS) for array in arrays]
        yield Frame(pieces, loaders, min(_BLOCK_ROWS, n - start))


def _after(eager: Sequence[Run], run: Run) -> Run:
    def run_after(frame: Frame) -> Vector:
        for first in eager:
            first(frame)
        return run(frame)

    return run_after
