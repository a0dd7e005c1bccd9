"""Functions that users have registered: a name then means what they say, and not what Spark says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from situ.language.text.nodes import Expression
from situ.language.text.render import is_call
from situ.language.text.tokens import tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def called(expressions: Iterable[Expression]) -> set[str]:
    """The names of the functions that expressions call.

    >>> sorted(called([Expression("ABS(x) > 1 AND hour (ts) IN (1, 2)", ("x", "ts"))]))
    ['abs', 'hour']
    """
    names = set()
    for expression in expressions:
        tokens = tokenize(expression.sql)
        for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False):
            if is_call(token, before, after):
                names.add(token.value.lower())
    return names


def user_functions(session: SparkSession, names: Iterable[str]) -> list[str]:
    """Those of these names that the user has registered functions under; all where it is not known."""
    if not type(session).__module__.startswith("pyspark.sql.session"):
        return sorted(names)
    catalog = session._jsparkSession.sessionState().catalog()
    identifier = session._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier  # type: ignore[union-attr]
    return sorted(name for name in names if catalog.isTemporaryFunction(identifier(name)))
