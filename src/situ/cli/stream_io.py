"""Where `situ stream` reads and writes: sources and sinks from its arguments."""

from __future__ import annotations

import argparse
import contextlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING, cast

from situ.cli.kafka_options import addresses, read_kafka_options
from situ.errors import OptionError, SituError, SourceError
from situ.files import make_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql import types as T
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from situ.language.situations.ast import Query

_CORRUPT = "_unreadable"
_SECONDS_TO_ANSWER = 5


class StreamStoppedError(SituError):
    """A stream ended although nobody stopped it."""


_OF_A_SOURCE = ("input", "schema", "topic")


def inputs_of(args: argparse.Namespace, query: Query) -> dict[str, argparse.Namespace]:
    """The arguments for each source by name, with its own --input, --schema and --topic; of one under ""."""
    names = dict.fromkeys(table.key for table in query.sources) or {"": None}
    found = {
        name: argparse.Namespace(**{**vars(args), **dict.fromkeys(_OF_A_SOURCE), "of": name})
        for name in names
    }
    for argument in _OF_A_SOURCE:
        for given in getattr(args, argument) or ():
            name, _, value = given.partition("=") if query.sources else ("", "", given)
            if name not in found:
                raise SourceError(
                    f"--{argument} {given!r} does not say which source of FROM it is for.",
                    hint=f"write --{argument} {next(iter(found))}=..., and so for {', '.join(found)}",
                )
            if getattr(found[name], argument) is not None:
                raise OptionError(f"--{argument} is there twice.", hint="give it once for each source.")
            setattr(found[name], argument, value)
    return found


def check(args: argparse.Namespace) -> None:
    """Every argument that the chosen source and sink need is there and read, and the brokers answer."""
    needed = {
        "--input": (args.input, args.source == "files"),
        "--topic": (args.topic, args.source == "kafka"),
        "--schema": (args.schema, args.source != "rate"),
        "--output": (args.output, args.sink == "files"),
        "--output-topic": (args.output_topic, args.sink == "kafka"),
        "--servers": (args.servers, "kafka" in (args.source, args.sink)),
    }
    for name, (value, is_needed) in needed.items():
        if is_needed and not value:
            chosen = args.source if name in ("--input", "--topic", "--schema") else args.sink
            raise OptionError(f"{chosen} needs {name}.", hint="`situ stream --help` has examples.")
    if args.source == "files" and "://" not in args.input and not Path(args.input).is_dir():
        raise OptionError(f"there is no folder {args.input}.", hint="make it; files may come later.")
    args.kafka_options = read_kafka_options(args)
    for folder in (args.checkpoint, args.output if args.sink == "files" else None):
        if folder is not None and "://" not in folder:
            make_folder(Path(folder))
    if args.servers:
        _check_brokers(args.servers)


def _check_brokers(servers: str) -> None:
    """At least one broker takes connections; Spark would retry for minutes before it says so."""
    for address in addresses(servers):
        with (
            contextlib.suppress(OSError),
            socket.create_connection(address, timeout=_SECONDS_TO_ANSWER),
        ):
            return
    raise StreamStoppedError(
        f"no Kafka broker answers at {servers}.", hint="check the address, and that the broker is up."
    )


def connector(args: argparse.Namespace) -> str:
    """The jars a session needs, separated by commas."""
    if "kafka" not in (args.source, args.sink):
        return ""
    if args.jars:
        return str(args.jars)
    from situ.cli.jars import kafka_connector

    return ",".join(map(str, kafka_connector(unverified=args.unverified_connector)))


def source(session: SparkSession, args: argparse.Namespace, query: Query) -> DataFrame:
    """The rows of the source."""
    from pyspark.sql import functions as F

    if args.source == "rate":
        rows = session.readStream.format("rate").option("rowsPerSecond", args.rows_per_second).load()
    elif args.source == "kafka":
        reader = session.readStream.format("kafka").options(**_kafka_options(args))
        reader = reader.option("subscribe", args.topic).option("startingOffsets", args.starting_offsets)
        if args.max_per_trigger:
            reader = reader.option("maxOffsetsPerTrigger", args.max_per_trigger)
        rows = _parsed(reader.load().select(F.col("value").cast("string").alias("value")), args, query)
    else:
        reader = session.readStream.format("text")
        if args.max_per_trigger:
            reader = reader.option("maxFilesPerTrigger", args.max_per_trigger)
        rows = _parsed(reader.load(args.input), args, query)
    return rows


def _parsed(lines: DataFrame, args: argparse.Namespace, query: Query) -> DataFrame:
    """Lines as rows. One that cannot be read stops the stream, or counts as a row without a time."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType, StructField, StructType

    schema = _schema(args.schema)
    drop = args.on_bad_rows == "drop"
    options = {"mode": "PERMISSIVE" if drop else "FAILFAST"}
    if drop:
        options["columnNameOfCorruptRecord"] = _CORRUPT
        schema = StructType([*schema.fields, StructField(_CORRUPT, StringType())])
    if args.input_format == "json":
        parsed = F.from_json("value", schema, options)
    else:
        columns = [f"`{field.name}` {field.dataType.simpleString()}" for field in schema.fields]
        parsed = F.from_csv("value", ", ".join(columns), options)
    rows = lines.filter(F.trim("value") != "").select(parsed.alias("row")).select("row.*")
    if not drop:
        return rows
    time = _time_column(args, query, rows)
    readable = F.col(f"`{_CORRUPT}`").isNull()
    return rows.withColumn(time, F.when(readable, F.col(f"`{time}`"))).drop(_CORRUPT)


def _schema(text: str) -> T.StructType:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType

    try:
        return cast("T.StructType", StructType.fromDDL(text))
    except PySparkException as error:
        raise OptionError(
            f"--schema {text!r} cannot be read: {str(error).splitlines()[0]}",
            hint='write it as Spark does: "car_id int, ts timestamp, speed double"',
        ) from None


def _time_column(args: argparse.Namespace, query: Query, rows: DataFrame) -> str:
    from situ.language.situations.binder import bind
    from situ.spark.select.project import schema_of

    if query.sources:
        named = [table.order_by[0] for table in query.sources if table.order_by and table.key == args.of]
        times = [field.name for field in rows.schema.fields if "timestamp" in field.dataType.simpleString()]
        candidates = [*named, args.time, *times, rows.columns[0]]
        return next(str(name) for name in candidates if name is not None)
    return bind(query, schema_of(rows), time=args.time).time.name


def sink(matches: DataFrame, args: argparse.Namespace) -> DataStreamWriter:
    """The writer of the sink, with trigger and checkpoint."""
    from pyspark.sql import functions as F

    from situ.spark.text import flat_for, json_of_row, options_of

    if args.sink == "kafka":
        value = json_of_row().alias("value")
        writer = matches.select(F.col("match_id").alias("key"), value).writeStream.format("kafka")
        writer = writer.options(**_kafka_options(args)).option("topic", args.output_topic)
    elif args.sink == "files":
        flat = flat_for(matches, args.output_format)
        writer = flat.writeStream.format(args.output_format).options(**options_of(args.output_format))
        writer = writer.option("path", args.output)
    else:
        writer = matches.writeStream.foreachBatch(_show)
    writer = writer.option("checkpointLocation", args.checkpoint).queryName("situ").outputMode("append")
    if args.until_done:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=args.trigger) if args.trigger else writer


def _show(batch: DataFrame, number: int) -> None:
    """Matches as lines on standard output."""
    from situ.spark.text import json_of_row

    for row in batch.select(json_of_row()).collect():
        print(row[0], flush=True)


def _kafka_options(args: argparse.Namespace) -> dict[str, str]:
    return {"kafka.bootstrap.servers": args.servers, **args.kafka_options}
