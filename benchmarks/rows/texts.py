"""The queries of the experiments, by name."""

from __future__ import annotations


def row_query(
    pattern: str, define: str, *, measures: str = "", clauses: str = "", within: int | None = None
) -> str:
    """A query over rows k, t, price, kind, beat."""
    window = "" if within is None else f" WITHIN {within}"
    shown = f" MEASURES {measures}" if measures else ""
    return (
        f"FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY t{shown} ONE ROW PER MATCH {clauses} "
        f"PATTERN ({pattern}){window} DEFINE {define})"
    )


V_MEASURES = "FIRST(price) AS top, LAST(DOWN.price) AS bottom"
V_DEFINE = "DOWN AS price < PREV(price), UP AS price > PREV(price)"
KINDS = "A AS kind = 0, B AS kind = 1, C AS kind = 2"
ENDS = "FIRST(t) AS begin, LAST(t) AS finish"

V = row_query("STRT DOWN+ UP+", V_DEFINE, measures=V_MEASURES)
V_WITHIN = row_query("STRT DOWN+ UP+", V_DEFINE, measures=V_MEASURES, within=100)

QUERIES = {
    "V": V,
    "V, LAST": row_query(
        "STRT DOWN+ UP+",
        "DOWN AS LAST(DOWN.price, 1) IS NULL AND price < STRT.price OR price < LAST(DOWN.price, 1), "
        "UP AS LAST(UP.price, 1) IS NULL AND price > LAST(DOWN.price) OR price > LAST(UP.price, 1)",
        measures=V_MEASURES,
    ),
    "tick": row_query(
        "A B+ C* D+",
        "B AS price < A.price, C AS price = PREV(price), D AS price > A.price",
        measures="A.price AS price, LAST(D.price) AS risen",
    ),
    "crime": row_query(
        "A T* B T* C",
        "A AS kind = 0, B AS kind = 1 AND beat = A.beat, C AS kind = 2 AND beat = A.beat",
        measures="A.t AS a, B.t AS b, C.t AS c",
        within=190,
    ),
    "skip till next": row_query(
        "A B* C", KINDS, measures=ENDS, clauses="AFTER MATCH SKIP TO NEXT ROW STRATEGY SKIP TILL NEXT",
        within=20,
    ),
    "skip till any": row_query("A B* C", KINDS, measures=ENDS, clauses="STRATEGY SKIP TILL ANY", within=20),
}  # fmt: skip

REGULAR = {
    "(A*)*B": ("(A*)* B", "A AS price > 0, B AS price < 0"),
    "(A|A)*C": ("(A | A)* C", "A AS price > 0, C AS price < 0"),
    "(A?){30} A{30}": ("(A?){30} A{30}", "A AS price > 0"),
}
