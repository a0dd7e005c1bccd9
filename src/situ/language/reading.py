"""`query(text)`: a text becomes a checked query of the kind it is of (ROW 7.1)."""

from __future__ import annotations

from typing import Any

from situ.language.rows.header import check_no_row_pattern, keyword_position
from situ.language.rows.parser import row_query
from situ.language.situations.ast import Query
from situ.language.situations.parser import situations_query
from situ.language.text.foreign import check_text
from situ.language.text.parameters import Parameter, filled, naming
from situ.language.text.tokens import Source


def query(text: str, /, **parameters: Parameter) -> Query | Any:
    """Parse and check a query; every mistake is a `QueryError` that marks its place in the text.

    MATCH_RECOGNIZE makes it a `RowQuery`, which a type checker cannot tell, else it is a `Query` of
    situations. `:name` in the text stands for the value of the keyword `name`: None, a bool, int, float,
    Decimal, str, date, datetime or timedelta.

    >>> print(query("from cars define A as speed > 70 at least 5s"))
    FROM cars
    DEFINE A AS speed > 70 AT LEAST 5 seconds
    >>> print(query("from cars define A as speed > :limit", limit=70))
    FROM cars
    DEFINE A AS speed > 70
    >>> print(query("from cars match_recognize (order by ts pattern (a b+) define b as speed > prev(speed))"))
    FROM cars MATCH_RECOGNIZE (
        ORDER BY ts
        PATTERN (A B+)
        DEFINE B AS speed > PREV(speed)
    )
    """
    written = Source.of(check_text(text))
    source = filled(written, parameters)
    with naming(written):
        if keyword_position(source.tokens) is not None:
            return row_query(source)
        check_no_row_pattern(source)
        return situations_query(source)
