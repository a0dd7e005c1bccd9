"""The target types of CAST."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import sqlglot.expressions as exp

from situ.errors import UnsupportedExpressionError
from situ.expressions import types as t

_TARGETS: Final = {
    exp.DataType.Type.BOOLEAN: t.BOOLEAN,
    exp.DataType.Type.TINYINT: t.TINYINT,
    exp.DataType.Type.SMALLINT: t.SMALLINT,
    exp.DataType.Type.INT: t.INT,
    exp.DataType.Type.BIGINT: t.BIGINT,
    exp.DataType.Type.FLOAT: t.FLOAT,
    exp.DataType.Type.DOUBLE: t.DOUBLE,
    exp.DataType.Type.TEXT: t.STRING,
    exp.DataType.Type.DATE: t.DATE,
    exp.DataType.Type.TIMESTAMP: t.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPTZ: t.TIMESTAMP,
    exp.DataType.Type.TIMESTAMPNTZ: t.TIMESTAMP_NTZ,
}
_DEFAULT_DECIMAL: Final = (10, 0)


def target_type(tree: exp.Expression) -> pa.DataType:
    """The type named after AS."""
    if not isinstance(tree, exp.DataType):
        raise UnsupportedExpressionError(f"CAST to {tree.sql(dialect='spark')}")
    parameters = [int(parameter.name) for parameter in tree.expressions]
    if tree.this == exp.DataType.Type.DECIMAL:
        return _decimal(parameters, tree)
    type_ = _TARGETS.get(tree.this)
    if type_ is None or parameters:
        raise UnsupportedExpressionError(f"CAST to {tree.sql(dialect='spark')}")
    return type_


def _decimal(parameters: list[int], tree: exp.DataType) -> pa.DataType:
    precision, scale = _DEFAULT_DECIMAL
    if parameters:
        precision, scale = parameters[0], parameters[1] if len(parameters) > 1 else 0
    if not (1 <= precision <= t.MAX_PRECISION and 0 <= scale <= precision):
        raise UnsupportedExpressionError(f"CAST to {tree.sql(dialect='spark')}")
    return pa.decimal128(precision, scale)
