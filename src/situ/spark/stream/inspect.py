"""What a stream keeps, read from its checkpoint with Spark's state reader; no stream has to run.

Everything comes from the checkpoint: the header tells what it was made for, and the operator is made anew
from that. So nothing in it is trusted: the header is JSON, types are read by Spark's parser, state by ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T

from situ._version import __version__
from situ.carry.batch.task import Task
from situ.carry.buckets import labels
from situ.carry.contract import Question, Setting
from situ.carry.stream.bucket import Bucket, Content
from situ.carry.stream.pack import HEADER
from situ.carry.stream.program import Program
from situ.errors import OptionError, SituError, StateError
from situ.language import query
from situ.language.text.types import Column, Schema
from situ.operators.questions import deriving, matching
from situ.options import read_options
from situ.saved.checks import require
from situ.spark.select.united import united_fields
from situ.spark.session.types import schema_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_VARIABLES = {"made_for", "head", "cells", "pieces"}
_QUESTIONS = {"match": matching, "situations": deriving}
_OPTIONS = frozenset({"time", "time_unit", "ties", "points", "forget_after"})
_MOST_BUCKETS = 1 << 16
_GLOB = re.compile(r"([][{}*?\\])")


class MadeFor(NamedTuple):
    """What a checkpoint was made for, as its header tells."""

    situ: str  # the version that made it
    kind: str  # "match" or "situations"
    queries: Mapping[str, str]  # by name; a single query has the name ""
    columns: Mapping[str, str]  # Arrow's types
    n_buckets: int
    watermark: int | None  # in microseconds
    forget_after: str | None


class BucketState(NamedTuple):
    """What one bucket keeps."""

    number: int
    content: Content
    n_bytes: int


@dataclass(frozen=True)
class StreamState:
    """What one stateful operator of a stream keeps; `buckets` has those with state."""

    operator: int
    batch: int
    made_for: MadeFor
    buckets: list[BucketState]


@dataclass
class _Shelf:
    """A bucket's values, for reading alone."""

    values: dict[tuple[str, int], bytes] = field(default_factory=dict)
    n_bytes: int = 0

    def head(self) -> bytes | None:
        return self.values.get(("head", 0))

    def get(self, kind: str, number: int) -> bytes | None:
        return self.values.get((kind, number))

    def put_head(self, data: bytes) -> NoReturn:
        raise NotImplementedError

    def put(self, kind: str, number: int, data: bytes) -> NoReturn:
        raise NotImplementedError

    def remove(self, kind: str, number: int) -> NoReturn:
        raise NotImplementedError


def read_state(
    session: SparkSession, checkpoint: str, *, batch: int | None = None, bucket: int | None = None
) -> list[StreamState]:
    """What is kept after a micro-batch, the last complete one by default; of every operator of situ.

    With `bucket`, of that one alone.
    """
    found = []
    for operator in _operators(session, checkpoint):
        last, first = operator["maxBatchId"], operator["minBatchId"]
        if last < 0:
            raise _nothing_yet(checkpoint)
        if batch is not None and not first <= batch <= last:
            raise OptionError(
                f"micro-batch {batch} is not in the checkpoint {checkpoint}",
                hint=f"it has those from {first} to {last}",
            )
        source = _Source(session, checkpoint, operator["operatorId"], last if batch is None else batch)
        if not source.is_whole(operator["numPartitions"]):
            raise _damaged(f"files of micro-batch {source.batch} are missing")
        try:
            found.append(_state(source, bucket))
        except PySparkException as error:
            if error.getCondition() != "STDS_COMMITTED_BATCH_UNAVAILABLE":
                raise
            raise OptionError(  # it opens the escaped name
                f"Spark's state reader does not find {checkpoint}: its name has characters that URLs escape",
                hint=f"give a link to it that has a plain name, as in: ln -s '{checkpoint}' /tmp/checkpoint",
            ) from error
    return found


@dataclass(frozen=True)
class _Source:
    """One operator in a checkpoint, after one micro-batch."""

    session: SparkSession
    checkpoint: str
    operator: int
    batch: int

    def is_whole(self, n_partitions: int) -> bool:
        """Whether every partition has its files: Spark reads those that it finds."""
        files = [
            f"state/{self.operator}/{partition}/{self.batch + 1}[._]*" for partition in range(n_partitions)
        ]
        return _exists(self.session, self.checkpoint, *files)

    def variable(self, name: str) -> DataFrame:
        """A state variable as kind, bucket, number, data."""
        rows = (
            self.session.read.format("statestore")
            .option("operatorId", self.operator)
            .option("batchId", self.batch)
            .option("stateVarName", name)
            .option("flattenCollectionTypes", "true")
            .load(self.checkpoint)
        )
        is_map = name in ("cells", "pieces")
        return rows.select(
            F.lit(name).alias("kind"),
            F.col("key.bucket").alias("label"),
            (F.col("user_map_key.number") if is_map else F.lit(0)).alias("number"),
            F.col("user_map_value.data" if is_map else "value.data").alias("data"),
        )


def _operators(session: SparkSession, checkpoint: str) -> list[Mapping[str, Any]]:
    """The stateful operators of situ in a checkpoint."""
    if not _exists(session, checkpoint, "metadata"):
        raise OptionError(
            f"{checkpoint} is not the checkpoint of a stream",
            hint="give the folder that the stream has as its checkpointLocation",
        )
    rows = session.read.format("state-metadata").load(checkpoint).collect()
    found = [row.asDict() for row in rows]
    own = [row for row in found if _variables(row) >= _VARIABLES]
    if own:
        return sorted(own, key=lambda row: int(row["operatorId"]))
    if not found and not _exists(session, checkpoint, "commits/[0-9]*"):
        raise _nothing_yet(checkpoint)
    others = ", ".join(sorted({str(row["operatorName"]) for row in found}))
    kept = f"keeps the state of {others}" if others else "has no state"
    raise OptionError(
        f"the checkpoint {checkpoint} {kept}, and none of situ's",
        hint="give the checkpoint of a stream that begins with situ.match or situ.situations; "
        "if this is one, files of it are missing",
    )


def _exists(session: SparkSession, folder: str, *patterns: str) -> bool:
    """Whether there are such files, wherever Spark finds checkpoints."""
    escaped = _GLOB.sub(r"\\\1", folder.rstrip("/"))
    try:
        _ = session.read.text(
            [f"{escaped}/{pattern}" for pattern in patterns]
        ).schema  # a Connect session looks at it no sooner
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise
    return True


def _variables(operator: Mapping[str, Any]) -> set[str]:
    try:
        properties = json.loads(operator["operatorProperties"] or "{}")
        return {variable["stateName"] for variable in properties.get("stateVariables", [])}
    except (ValueError, TypeError, KeyError, AttributeError):
        return set()


def _nothing_yet(checkpoint: str) -> StateError:
    return StateError(
        f"the checkpoint {checkpoint} has no state yet: no micro-batch is complete",
        hint="look again once the stream has taken in some rows",
    )


def _state(source: _Source, bucket: int | None) -> StreamState:
    headers = [bytes(row.data) for row in source.variable("made_for").select("data").distinct().collect()]
    if not headers:
        raise _nothing_yet(source.checkpoint)
    header = _newest([_parsed(data) for data in headers])
    made_for, program = made_for_of(header, source.checkpoint)
    number_of = {label: number for number, label in enumerate(program.task.labels)}
    if bucket is not None and not 0 <= bucket < made_for.n_buckets:
        raise OptionError(
            f"there is no bucket {bucket}", hint=f"the buckets are 0 to {made_for.n_buckets - 1}"
        )
    wanted = None if bucket is None else program.task.labels[bucket]
    buckets = []
    for label, shelf in sorted(_shelves(source, wanted).items(), key=lambda one: number_of.get(one[0], -1)):
        require(label in number_of, "a bucket has a number that none can have")
        require(shelf.head() is not None, "a bucket has lost its head")
        content = Bucket(program, shelf).content()
        buckets.append(BucketState(number_of[label], content, shelf.n_bytes))
    return StreamState(source.operator, source.batch, made_for, buckets)


def _shelves(source: _Source, label: int | None) -> dict[int, _Shelf]:
    """The buckets' values, of one job; of rows that wait only their size is asked for."""
    rows = source.variable("head")
    for name in ("cells", "pieces"):
        rows = rows.union(source.variable(name))
    rows = rows.filter(F.col("label") != HEADER)
    if label is not None:
        rows = rows.filter(F.col("label") == label)
    data = F.when(F.col("kind") != "pieces", F.col("data")).alias("data")
    rows = rows.select("kind", "label", "number", data, F.length("data").alias("n_bytes"))
    shelves: dict[int, _Shelf] = {}
    for row in rows.toArrow().to_pylist():
        shelf = shelves.setdefault(row["label"], _Shelf())
        shelf.n_bytes += row["n_bytes"] or 0
        if row["data"] is not None:
            shelf.values[row["kind"], row["number"]] = row["data"]
    return shelves


def _parsed(data: bytes) -> dict[str, Any]:
    try:
        header = json.loads(data)
        require(isinstance(header, dict), "the header is no object")
    except (ValueError, RecursionError) as error:
        raise _damaged(error) from None
    return dict(header)


def _newest(headers: list[dict[str, Any]]) -> dict[str, Any]:
    """The header of any bucket; one made by an older situ may tell less."""
    return max(headers, key=lambda header: ("schema" in header, str(header.get("situ"))))


def made_for_of(header: Mapping[str, Any], checkpoint: str) -> tuple[MadeFor, Program]:
    """What a header tells, and the program made anew of it."""
    if "schema" not in header:
        raise StateError(
            f"the checkpoint {checkpoint} was made by situ {header.get('situ')}, "
            "which did not yet write down what it takes to show its state",
            hint="the stream goes on from it as before; one with a new checkpointLocation can be looked into",
        )
    try:
        queries = header["query"] if isinstance(header["query"], dict) else {"": header["query"]}
        made_for = MadeFor(
            str(header["situ"]),
            str(header["kind"]),
            {str(name): str(text) for name, text in queries.items()},
            {str(name): str(kind) for name, kind in header["columns"].items()},
            int(header["buckets"]),
            None if header["watermark"] is None else int(header["watermark"]),
            None if header["forget_after"] is None else str(header["forget_after"]),
        )
        program = _program(header, made_for)
    except (ValueError, KeyError, TypeError, AttributeError, SituError, PySparkException) as error:
        raise _unreadable(made_by=header.get("situ"), why=error) from None
    if program.identity.hex() != header.get("identity"):
        raise _unreadable(made_by=made_for.situ, why="its header is not that of its state")
    return made_for, program


def _program(header: Mapping[str, Any], made_for: MadeFor) -> Program:
    """The program of a stream, as far as its state needs one."""
    if not 1 <= made_for.n_buckets <= _MOST_BUCKETS:
        raise ValueError(f"there cannot be {made_for.n_buckets} buckets")
    options = read_options(header["options"], _OPTIONS, "a stream")
    question = _question(header["kind"], made_for.queries)
    if isinstance(header["schema"], dict):  # of several sources
        several = {name: _columns(text) for name, text in header["schema"].items()}
        asked = question.bind({name: _schema(types) for name, types in several.items()}, options)
        own = [several[part.name] for part in asked.needs.parts]
        types = T.StructType(united_fields(own, asked.needs))
    else:
        types = _columns(header["schema"])
        asked = question.bind(_schema(types), options)
    # how it joins, and what RETURN makes of it, has no part in state
    operator = asked.operator(schema_for(asked.needs, types), Setting(evaluates=False))
    task = Task(operator, warns=False, labels=tuple(labels(made_for.n_buckets).tolist()), limit=1)
    return Program(task, {}, made_for.watermark, False, pa.schema([]))


def _columns(text: object) -> T.StructType:
    types = T.StructType.fromDDL(str(text))
    if not isinstance(types, T.StructType):
        raise TypeError("the columns are not those of a table")
    return types


def _schema(types: T.StructType) -> Schema:
    return tuple(Column(field.name, field.dataType.simpleString()) for field in types.fields)


def _question(kind: str, queries: Mapping[str, str]) -> Question:
    parsed = {name: query(text) for name, text in queries.items()}
    return _QUESTIONS[kind](parsed[""] if parsed.keys() == {""} else parsed)


def _unreadable(made_by: object, why: object) -> StateError:
    """A header of ours that cannot be read is damaged, one of another version need not be."""
    if made_by == __version__:
        return _damaged(why)
    return StateError(
        f"this checkpoint was written by situ {made_by} in a form that situ {__version__} does not read",
        hint=f"look at it with situ {made_by}",
    )


def _damaged(why: object) -> StateError:
    return StateError(f"the state in this checkpoint is damaged: {why}", hint="put a copy of it back")
