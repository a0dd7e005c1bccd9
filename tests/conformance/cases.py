"""The case files of tests/cases: a table, a query, options, and the rows or the error to expect.

# SEM 3, 4.2                      clauses the file is about, then prose and drawings; ROW of row patterns
[timeline]                        one column of the table per line, one event per position:
t  0  1  2  3  4                  # true  . false  ? null boolean  - null
a  .  #  #  .  .
[events]                          or one event per line, under `name type | name type`
[timeline] weather                behind either: the FROM name, where a query has several sources
[query] early                     a label; one file may ask several queries of its table
FROM events ...
[options]
ties = error
[expect]                          column names, then one row per line, or
[error] DataError                 the name of the error, or
[refused] AbsenceError            the name of the error of a query that is refused, whatever the rows
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from conformance.reading import Asked, read
from conformance.tables import Tables

FOLDER = Path(__file__).parents[1] / "cases"
TYPES = {
    "int64": pa.int64(),
    "int32": pa.int32(),
    "double": pa.float64(),
    "float": pa.float32(),
    "string": pa.string(),
    "bool": pa.bool_(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "date": pa.date32(),
}
BOOLEANS = {"#": True, ".": False, "?": None}


@dataclass
class Case:
    name: str  # file/label
    clauses: tuple[str, ...]
    table: Tables
    query: str
    options: dict[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    expected: list[tuple[Any, ...]] = field(default_factory=list)
    error: str | None = None
    is_refused: bool = False

    @property
    def asked(self) -> Asked:
        return read(self.query)

    @property
    def is_composed(self) -> bool:
        return " MATCH_RECOGNIZE" in self.query

    @property
    def has_several(self) -> bool:
        return isinstance(self.table, dict)


def load_all(several_sources: bool = False) -> list[Case]:
    """The cases of situations whose queries are taken everywhere: those of one source, or of several."""
    return [
        case
        for case in in_files()
        if not case.is_refused and case.has_several == several_sources and not case.is_composed
    ]


def load_composed() -> list[Case]:
    """Those in which symbols are row patterns (SEM 17), which are not taken on Spark."""
    return [case for case in in_files() if not case.is_refused and case.is_composed]


def load_refused() -> list[Case]:
    return [case for case in in_files() if case.is_refused]


def load_rows() -> list[Case]:
    """Those of row patterns, refused ones too."""
    return in_files("ROW")


def in_files(about: str = "SEM") -> list[Case]:
    """The cases of all files about this page of the specification."""
    paths = [path for path in sorted(FOLDER.glob("*.case")) if path.read_text().startswith(f"# {about} ")]
    return [case for path in paths for case in load(path)]


def load(path: Path) -> Iterator[Case]:
    """The cases of one file: each [query] takes the table above it."""
    head, *sections = re.split(r"^\[(\w+)\] *(.*)$", path.read_text(), flags=re.M)
    about = re.match(r"# (?:SEM|ROW) ([\d., ]+)", head)
    assert about, f"{path.name}: the first line says which clauses of SEM or ROW it is about"
    clauses = tuple(about[1].replace(",", " ").split())
    table, several, case = None, {}, None
    for kind, label, body in zip(sections[::3], sections[1::3], sections[2::3], strict=True):
        lines = [line.rstrip() for line in body.splitlines() if line.strip() and not line.startswith("#")]
        match kind:
            case "timeline" | "events":
                table = timeline(lines) if kind == "timeline" else events(lines)
                if label:
                    several[label] = table
                    table = dict(several)
            case "query":
                if case:
                    yield case
                assert table is not None, f"{path.name}: no table before [query]"
                case = Case(f"{path.stem}/{label or 'query'}", clauses, table, "\n".join(lines))
            case "options":
                case.options = dict(option(line) for line in lines)
            case "expect":
                case.columns = tuple(cells(lines[0]))
                case.expected = [tuple(value(cell) for cell in cells(line)) for line in lines[1:]]
            case "error" | "refused":
                case.error, case.is_refused = label, kind == "refused"
            case _:
                raise ValueError(f"{path.name}: unknown section [{kind}]")
    if case:
        yield case


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def timeline(lines: Sequence[str]) -> pa.Table:
    """One column per line; `name:type` where integers, booleans or strings are not meant."""
    columns = {}
    for line in lines:
        name, *texts = line.split()
        name, _, kind = name.partition(":")
        kind = kind or guessed(texts)
        columns[name] = pa.array([parsed(text, kind) for text in texts], TYPES[kind])
    return pa.table(columns)


def guessed(texts: Sequence[str]) -> str:
    if set(texts) <= set(BOOLEANS):
        return "bool"
    return "int64" if all(re.fullmatch(r"-|-?\d+", text) for text in texts) else "string"


def events(lines: Sequence[str]) -> pa.Table:
    header = [cell.split() for cell in cells(lines[0])]
    rows = [cells(line) for line in lines[1:]]
    return pa.table(
        {
            name: pa.array([parsed(row[i], kind) for row in rows], TYPES[kind])
            for i, (name, kind) in enumerate(header)
        }
    )


def parsed(text: str, kind: str) -> Any:
    if text == "-":
        return None
    if kind == "bool":
        return BOOLEANS[text]
    if kind == "date":
        return date.fromisoformat(text)
    if kind.startswith("timestamp"):
        return datetime.fromisoformat(text).replace(tzinfo=UTC if kind == "timestamp" else None)
    return {"int64": int, "int32": int, "double": float, "float": float, "string": str}[kind](text)


def value(text: str) -> Any:
    """A cell of an expected row; its form says what it is."""
    forms = [
        (r"-", lambda _: None),
        (r"true|false", lambda text: text == "true"),
        (r"-?\d+", int),
        (r"-?\d+\.\d+(e-?\d+)?|nan|inf", float),
        (r"\d+-\d\d-\d\d", date.fromisoformat),
        (r"\d+-\d\d-\d\d \d.*Z", lambda text: datetime.fromisoformat(text[:-1]).replace(tzinfo=UTC)),
        (r"\d+-\d\d-\d\d \d.*", datetime.fromisoformat),
        (r"\[.*\]", lambda text: [value(part.strip()) for part in text[1:-1].split(",") if part]),
        (r"[\d.]+s", lambda text: timedelta(seconds=float(text[:-1]))),
    ]
    for form, convert in forms:
        if re.fullmatch(form, text):
            return convert(text)
    return text.strip("'")


def option(line: str) -> tuple[str, Any]:
    name, text = (part.strip() for part in line.split("=", 1))
    return name, value(text)
