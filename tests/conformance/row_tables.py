"""The tables of ROW 13 as cases: read from the page itself, so that text, oracle and engine cannot drift."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from conformance.cases import Case
from conformance.row_patterns import mentioned, read_pattern

PAGE = (Path(__file__).parents[2] / "docs" / "semantics" / "rows.md").read_text()
Rows = list[tuple[int, str]]  # time, and the letters that hold


def table_of(section: str) -> list[list[str]]:
    """The cells of the table behind `13.1`, header and rule left out."""
    text = PAGE[PAGE.index(f"\n{section} ") :]
    lines = re.search(r"\n\n((?:\|.*\n?)+)", text)[1].splitlines()
    cells = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in lines[2:]]
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def code(cell: str) -> str:
    return re.search(r"`(.*?)`", cell)[1]


def rows_of(text: str) -> Rows:
    """`A BC` or `0:A 3:BC`: the letters that hold on each row, `-` for none."""
    timed = [part.rpartition(":") for part in text.split()]
    return [(int(time) if time else i, letters) for i, (time, _, letters) in enumerate(timed)]


def expected_of(cell: str) -> list[tuple[list[int], str]]:
    """`1-4 ABBC; 2-4 AAB`, or `1,2,4 ABC`: row numbers from 1, and variables."""
    found = []
    for text in [] if cell == "none" else cell.split(";"):
        rows, _, names = text.strip().partition(" ")
        first, _, last = rows.partition("-")
        numbers = range(int(first), int(last) + 1) if last else map(int, rows.split(","))
        found.append((list(numbers), names))
    return found


def cases_of_tables() -> list[Case]:
    cases = []
    for pattern, rows, past, to_next in table_of("13.1"):
        for skip, cell in (("PAST LAST ROW", past), ("TO NEXT ROW", to_next)):
            cases.append(case("13.1", code(pattern), rows, cell, f"AFTER MATCH SKIP {skip}"))
            cases.append(case("13.1", code(pattern), rows, cell, f"AFTER MATCH SKIP {skip}", within=100))
    for pattern, rows, match, match_time, _ in table_of("13.2"):
        skip = "AFTER MATCH SKIP TO NEXT ROW" if "TO NEXT ROW" in pattern else ""
        cases.append(case("13.2", code(pattern), rows.partition(",")[0], match, skip, match_time, 10))
    for pattern, rows, match, match_time in table_of("13.4"):
        clause = "AFTER MATCH SKIP TO NEXT ROW STRATEGY SKIP TILL NEXT"
        cases.append(case("13.4", code(pattern), rows, match, clause, match_time, 10))
    return cases


def case(
    section: str,
    pattern: str,
    rows: str,
    cell: str,
    clause: str,
    match_time: str = "",
    within: int | None = None,
) -> Case:
    """A table with a column for the letters; each match gives its row numbers and, if told, its variables."""
    given = rows_of(rows)
    found = expected_of(cell)
    tells = all(labels for _, labels in found)
    defined = [f"{name} AS holds LIKE '%{name}%'" for name in mentioned(read_pattern(pattern))]
    text = (
        "FROM events MATCH_RECOGNIZE (ORDER BY t, id MEASURES array_agg(id) AS ids"
        + (", array_agg(CLASSIFIER()) AS labels" if tells else "")
        + f" {clause} PATTERN ({pattern}) "
        + (f"WITHIN {within} " if within is not None else "")
        + f"DEFINE {', '.join(defined)})"
    )
    table = pa.table(
        {
            "t": [time for time, _ in given],
            "id": list(range(1, len(given) + 1)),
            "holds": [letters for _, letters in given],
        }
    )
    times = [int(at) for at in match_time.split(";")] if match_time else []
    expected = [
        (ids, *([list(labels)] if tells else []), *times[i : i + 1]) for i, (ids, labels) in enumerate(found)
    ]
    options = {"match_time": True} if times else {}
    columns = ("ids", *(["labels"] if tells else []), *options)
    label = f"rows.md {section}/{pattern}, {rows}, {clause}" + (f" WITHIN {within}" if within else "")
    return Case(label, (section,), table, text, options, columns, expected)
