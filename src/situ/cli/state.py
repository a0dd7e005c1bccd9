"""Show what a stream on Spark keeps, from its checkpoint: the stream may run, or have stopped.

First what the checkpoint was made for, then how much is kept, then the situations that are kept, drawn over
time, partition by partition. Nothing is changed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from situ.cli.checkpoint import CheckpointError, checkpoint_error
from situ.cli.common import OK, counted, positive
from situ.cli.spark_errors import text_of
from situ.errors import OptionError, SituError
from situ.extras import need_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from situ.spark.stream.inspect import MadeFor, StreamState

EXAMPLES = """\
  situ state checkpoint/
  situ state checkpoint/ --limit 100
  situ state checkpoint/ --bucket 17
  situ state checkpoint/ --batch-id 41"""
_LIMIT = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ state`."""
    parser.add_argument("checkpoint", metavar="CHECKPOINT", help="the folder the stream checkpoints to")
    parser.add_argument("--bucket", type=int, metavar="B", help="only this bucket, numbered from 0")
    parser.add_argument(
        "--batch-id", type=int, metavar="N", help="after micro-batch N (default: the last complete one)"
    )
    parser.add_argument(
        "--limit",
        type=positive(int),
        default=_LIMIT,
        metavar="N",
        help=f"draw at most N partitions (default: {_LIMIT})",
    )


def run(args: argparse.Namespace) -> int:
    """Print what is kept."""
    need_spark("situ state")
    if args.batch_id is not None and args.batch_id < 0:
        raise OptionError(f"--batch-id {args.batch_id} must be 0 or more.")
    for i, state in enumerate(_read(args)):
        if i:
            print()
        for line in lines_of(state, args.limit):
            print(line)
    return OK


def lines_of(state: StreamState, limit: int) -> Iterator[str]:
    """What is printed of one operator of a stream."""
    yield from _made_for(state.made_for)
    yield ""
    buckets = state.buckets
    yield f"After micro-batch {state.batch} of operator {state.operator}: " + ", ".join(
        [
            f"{len(buckets):,} of {counted(state.made_for.n_buckets, 'bucket')} with state",
            counted(sum(bucket.content.n_partitions for bucket in buckets), "partition"),
            f"{sum(len(bucket.content.spans) for bucket in buckets):,} kept",
            f"{counted(sum(bucket.content.n_waiting for bucket in buckets), 'row')} waiting",
            counted(sum(bucket.n_bytes for bucket in buckets), "byte"),
        ]
    )
    left = limit
    for i, bucket in enumerate(buckets):
        if not left:
            n_more = sum(more.content.n_partitions for more in buckets[i:])
            yield ""
            yield f"... and {counted(n_more, 'more partition')} in {counted(len(buckets) - i, 'more bucket')}"
            return
        yield ""
        yield f"bucket {bucket.number}: {bucket.content.drawn(left)}"
        left -= min(left, bucket.content.n_partitions)


def _made_for(made_for: MadeFor) -> Iterator[str]:
    yield f"Made by situ {made_for.situ} for situ.{made_for.kind} of"
    for name, text in made_for.queries.items():
        yield ""
        if name:
            yield f"  {name}:"
        yield from (f"  {line}" for line in text.splitlines())
    yield ""
    yield "columns: " + ", ".join(f"{name} {kind}" for name, kind in made_for.columns.items())
    yield f"buckets: {made_for.n_buckets}"
    yield f"watermark: {_watermark(made_for.watermark)}"
    if made_for.forget_after is not None:
        yield f"forget_after: {made_for.forget_after}"


def _watermark(delay: int | None) -> str:
    from situ.language.text.nodes import Duration
    from situ.plan.explain import describe_duration

    return "none" if delay is None else describe_duration(Duration(delay, True))


def _read(args: argparse.Namespace) -> list[StreamState]:
    from situ.spark.stream.inspect import read_state

    try:
        return read_state(_session(), args.checkpoint, batch=args.batch_id, bucket=args.bucket)
    except Exception as error:
        known = error if isinstance(error, SituError) else None
        told = checkpoint_error(text_of(error), args.checkpoint, known)
        if isinstance(told, CheckpointError):
            raise told from error
        raise


def _session() -> SparkSession:
    from situ.cli.session import local_spark

    return local_spark("situ state")
