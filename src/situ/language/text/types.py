"""Spark types as far as situ must know them, and what kind of value a tree yields where that can be seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

import sqlglot.expressions as exp


@dataclass(frozen=True)
class Column:
    """A column of the input: its name and its Spark type, written as Spark's simpleString does.

    `unit` says what the numbers of a time column count, where a user says so (SEM 1.1): the same column.
    """

    name: str
    type: str
    unit: str | None = field(default=None, compare=False)

    @property
    def counts_ticks(self) -> bool:
        """Whether it is a time in ticks of unknown length: durations are plain numbers then."""
        return self.type in INTEGERS and self.unit is None

    @property
    def told(self) -> str:
        """Its type, and what it counts."""
        return self.type if self.unit is None else f"{self.type} in {self.unit}"


Schema = tuple[Column, ...]
Schemas = Mapping[str, Schema]  # of the tables of several sources, by FROM name


class Kind(Enum):
    """What sort of value an expression has; UNKNOWN is left to whoever evaluates it."""

    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    TIME = "date or time"
    OTHER = "other"
    NULL = "null"
    UNKNOWN = "unknown"


INTEGERS = ("tinyint", "smallint", "int", "bigint")
MICROSECONDS = {  # what a time column may count
    "days": 86_400_000_000,
    "hours": 3_600_000_000,
    "minutes": 60_000_000,
    "seconds": 1_000_000,
    "milliseconds": 1_000,
    "microseconds": 1,
}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")
_SYNONYMS = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint", "real": "float",
             "decimal": "decimal(10,0)", "timestamp_ltz": "timestamp"}  # fmt: skip

Lookup = Callable[[exp.Column], Kind]


def normal_type(name: str) -> str:
    """A Spark type name in simpleString form."""
    lowered = name.strip().lower()
    return _SYNONYMS.get(lowered, lowered.replace(", ", ",") if lowered.startswith("decimal") else lowered)


def type_kind(name: str) -> Kind:
    """The kind of value a column of this Spark type holds."""
    if name == "boolean":
        return Kind.BOOLEAN
    if name in (*INTEGERS, "float", "double") or name.startswith("decimal"):
        return Kind.NUMBER
    if name == "string" or name.startswith(("varchar", "char", "string collate")):
        return Kind.STRING
    if name in ("date", "timestamp", "timestamp_ntz"):
        return Kind.TIME
    if name in ("void", "null"):
        return Kind.NULL
    return Kind.OTHER


def decimal_of(name: str) -> tuple[int, int] | None:
    """Precision and scale of a decimal type, None for other types."""
    match = _DECIMAL.fullmatch(name)
    return (int(match.group(1)), int(match.group(2))) if match else None


def field_type(type_name: str, path: list[str]) -> str | None:
    """The type of a field of a struct, by Spark's simpleString of the struct; None where there is none.

    >>> field_type("struct<a:int,b:struct<c:boolean,d:map<string,int>>>", ["B", "c"])
    'boolean'
    """
    for name in path:
        if not (type_name.startswith("struct<") and type_name.endswith(">")):
            return None
        fields = (field.partition(":") for field in _top_level(type_name[len("struct<") : -1]))
        found = [kind for field, _, kind in fields if field.lower() == name.lower()]
        if len(found) != 1:
            return None
        type_name = found[0]
    return type_name


def _top_level(listed: str) -> list[str]:
    """What commas outside of brackets separate."""
    parts, depth = [""], 0
    for char in listed:
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


_BOOLEAN_NODES = (
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Between,
    exp.In,
    exp.Is,
    exp.RegexpLike,
    exp.Escape,
)
_BOOLEAN_FUNCTIONS = (
    exp.IsNan,
    exp.StartsWith,
    exp.EndsWith,
    exp.Contains,
    exp.MapContainsKey,
    exp.EqualNull,
)
_OTHER_BOOLEAN_FUNCTIONS = (
    *("isnull", "isnotnull", "regexp", "arrays_overlap", "forall"),
    *("is_valid_utf8", "luhn_check", "is_variant_null"),
)
_MAX_CHOICES = 10  # how deep CASE within CASE is looked into
_NUMBER_NODES = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
)
_TIME_TYPES = (exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ,
               exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.TIMESTAMPLTZ)  # fmt: skip


def any_kind(column: exp.Column) -> Kind:
    """What is known of columns without a schema."""
    return Kind.UNKNOWN


def kind_of(node: exp.Expr, lookup: Lookup = any_kind, depth: int = 0) -> Kind:
    """The kind of value of a tree, from its root operator; `lookup` knows the columns."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Column):
        return lookup(node)
    if isinstance(node, (exp.Boolean, *_BOOLEAN_NODES, *_BOOLEAN_FUNCTIONS)):
        return Kind.BOOLEAN
    if isinstance(node, exp.Null):
        return Kind.NULL
    if isinstance(node, exp.Literal):
        return Kind.STRING if node.is_string else Kind.NUMBER
    if isinstance(node, exp.DPipe | exp.Concat):
        return Kind.STRING
    if isinstance(node, exp.Cast):
        return _cast_kind(node)
    if isinstance(node, exp.Add | exp.Sub) and _touches_time(node, lookup):
        return Kind.OTHER
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in _OTHER_BOOLEAN_FUNCTIONS:
        return Kind.BOOLEAN
    if isinstance(node, exp.Anonymous) and str(node.this).lower() == "prev" and node.expressions:
        return kind_of(node.expressions[0], lookup, depth)  # SEM 15.1
    if choices := _choices(node):
        return _common(choices, lookup, depth + 1)
    return Kind.NUMBER if isinstance(node, _NUMBER_NODES) else Kind.UNKNOWN


def _choices(node: exp.Expr) -> list[exp.Expr]:
    """What CASE, IF, COALESCE and the like choose their value from."""
    if isinstance(node, exp.Case):
        last = node.args.get("default")
        return [branch.args["true"] for branch in node.args["ifs"]] + ([last] if last is not None else [])
    if isinstance(node, exp.If | exp.Nvl2):
        return [node.args[name] for name in ("true", "false") if node.args.get(name) is not None]
    if isinstance(node, exp.Coalesce | exp.Greatest | exp.Least):
        return [node.this, *node.expressions]
    return [node.this] if isinstance(node, exp.Nullif) else []


def _common(choices: list[exp.Expr], lookup: Lookup, depth: int) -> Kind:
    """The kind all choices have that are not NULL."""
    if depth > _MAX_CHOICES:
        return Kind.UNKNOWN
    kinds = {kind_of(choice, lookup, depth) for choice in choices} - {Kind.NULL}
    return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN


def _cast_kind(node: exp.Cast) -> Kind:
    to = node.to
    if to.is_type(exp.DataType.Type.BOOLEAN):
        return Kind.BOOLEAN
    if to.is_type(*exp.DataType.NUMERIC_TYPES):
        return Kind.NUMBER
    if to.is_type(*exp.DataType.TEXT_TYPES):
        return Kind.STRING
    return Kind.TIME if to.is_type(*_TIME_TYPES) else Kind.UNKNOWN


def _touches_time(node: exp.Binary, lookup: Lookup) -> bool:
    """Dates and intervals can be added and subtracted too."""
    while isinstance(node.left, exp.Add | exp.Sub):
        if kind_of(node.right, lookup) in (Kind.TIME, Kind.UNKNOWN):
            return True
        node = node.left
    return any(kind_of(side, lookup) in (Kind.TIME, Kind.UNKNOWN) for side in (node.left, node.right))
