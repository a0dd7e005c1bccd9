"""Match a query on a stream, live: from Kafka or growing folders, to Kafka, folders or the terminal.

Every match is reported once, as soon as it is certain. Stopped or killed, the same command goes on where
it was: what it knows is in the --checkpoint folder. Ctrl-C stops after the micro-batch at hand.

Rows are JSON objects or CSV lines; --schema names their columns and types. A file sink holds every match
exactly once; Kafka may get one twice after a crash, under the same record key, its match_id."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from situ.cli.common import OK, add_query_argument, counted, parsed_query
from situ.errors import OptionError, SituError
from situ.extras import need_spark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from situ.spark.stream.metrics import MetricsListener

EXAMPLES = """\
  situ stream drivers.situ --source files --input cars/ --input-format json \\
      --schema "car_id int, ts timestamp, speed double, accel double" --watermark "10 seconds" \\
      --sink console --checkpoint state/
  situ stream drivers.situ --source kafka --servers localhost:9092 --topic cars \\
      --schema "car_id int, ts timestamp, speed double, accel double" --watermark "10 seconds" \\
      --sink kafka --output-topic aggressive --checkpoint state/
  situ stream storms.situ --source files --input weather=w/ --input flights=f/ \\
      --schema "weather=origin string, obs timestamp, gust double" \\
      --schema "flights=airport string, dep timestamp, delay int" --watermark "10 minutes" \\
      --sink console --checkpoint state/
  situ stream "FROM rate ORDER BY timestamp DEFINE A AS value % 10 < 3 AT LEAST 1 second WITHIN 1 minute" \\
      --source rate --sink console --checkpoint state/"""

_SECONDS_FOR_REPORTS = 10  # the last reports of a stream come after its end
_OPTIONS = (
    "time", "watermark", "max_ahead", "ties", "on_bad_rows", "forget_after", "points", "buckets"
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `situ stream`."""
    add_query_argument(parser)
    reading = parser.add_argument_group("source")
    reading.add_argument("--source", required=True, choices=("kafka", "files", "rate"))
    several = "; of several sources once for each, as NAME="
    reading.add_argument(
        "--input",
        action="append",
        metavar="FOLDER",
        help=f"for files: the folder that new files appear in{several}FOLDER",
    )
    reading.add_argument("--input-format", choices=("json", "csv"), default="json", help="(default: json)")
    reading.add_argument(
        "--schema",
        action="append",
        help=f'columns of the rows, as in "car_id int, ts timestamp"{several}SCHEMA',
    )
    reading.add_argument("--watermark", metavar="DURATION", help="how much later than others rows may come")
    reading.add_argument(
        "--max-ahead", metavar="DURATION", help="set aside and count rows later than now by more than this"
    )
    reading.add_argument("--rows-per-second", type=int, default=1000, help="for rate (default: 1000)")
    reading.add_argument("--max-per-trigger", type=int, help="most records (kafka) or files in a micro-batch")
    writing = parser.add_argument_group("sink")
    writing.add_argument("--sink", required=True, choices=("kafka", "files", "console"))
    writing.add_argument("--output", metavar="FOLDER", help="for files: the folder to write matches to")
    writing.add_argument("--output-format", choices=("json", "csv", "parquet"), default="json")
    kafka = parser.add_argument_group("Kafka")
    kafka.add_argument("--servers", metavar="HOST:PORT,...", help="where the brokers are")
    kafka.add_argument("--topic", action="append", help=f"the topic to read{several}TOPIC")
    kafka.add_argument("--output-topic", help="the topic to write")
    kafka.add_argument("--starting-offsets", choices=("earliest", "latest"), default="earliest")
    kafka.add_argument(
        "--kafka-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="for Spark's Kafka connector; the VALUE env:NAME is taken from an environment variable",
    )
    kafka.add_argument(
        "--kafka-option-file",
        metavar="FILE",
        help="such options, a NAME=VALUE on each line, as for passwords",
    )
    kafka.add_argument("--jars", help="jars of the connector, instead of fetching them")
    kafka.add_argument(
        "--unverified-connector",
        action="store_true",
        help="fetch the connector of this Spark though situ has no checksums for it",
    )
    running = parser.add_argument_group("running")
    running.add_argument("--checkpoint", required=True, metavar="FOLDER", help="what a restart goes on from")
    running.add_argument("--trigger", metavar="DURATION", help='between micro-batches, as in "5 seconds"')
    running.add_argument("--until-done", action="store_true", help="stop when the source has no more for now")
    running.add_argument("--cores", type=int, help="of this machine (default: all)")
    running.add_argument("--partitions", type=int, default=4, help="stateful tasks (default: 4)")
    running.add_argument("--quiet", action="store_true", help="no live line")
    meaning = parser.add_argument_group("options of the run, as in situ.match")
    meaning.add_argument("--time", metavar="COLUMN", help="the time column, where ORDER BY names none")
    meaning.add_argument(
        "--ties", choices=("warn", "last", "error"), help="rows of equal time (default: warn)"
    )
    meaning.add_argument("--on-bad-rows", choices=("error", "drop"), help="rows that cannot be read")
    meaning.add_argument("--forget-after", metavar="DURATION", help="a longer silence begins a new history")
    meaning.add_argument("--points", choices=("error", "widen"), help="given intervals with ts = te")
    meaning.add_argument("--buckets", type=int, help="pieces that state is cut into, fixed by the first run")


def run(args: argparse.Namespace) -> int:
    """Run the stream until it is stopped, and say what came of it."""
    need_spark("situ stream")
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from situ.cli import stream_io
    from situ.cli.checkpoint import checkpoint_error
    from situ.public import match
    from situ.spark.errors import situ_error
    from situ.spark.stream.metrics import MetricsListener

    parsed = parsed_query(args)
    inputs = stream_io.inputs_of(args, parsed)
    for one in inputs.values():
        stream_io.check(one)
        args.kafka_options = one.kafka_options
    options = {name: getattr(args, name) for name in _OPTIONS if getattr(args, name) is not None}
    session = _session(args)
    listener = MetricsListener()
    session.streams.addListener(listener)
    try:
        sources = {name: stream_io.source(session, one, parsed) for name, one in inputs.items()}
        rows = sources if parsed.sources else sources[""]
        matches = match(rows, parsed, match_id=args.sink == "kafka", **options)
        stream = stream_io.sink(matches, args).start()
        with _stopping(stream), _live_line(listener, args.quiet):
            stream.awaitTermination()
        listener.wait_until_ended(str(stream.runId), _SECONDS_FOR_REPORTS)
    except (PySparkException, Py4JJavaError) as error:
        known, said = situ_error(error), _said(error)
        raise checkpoint_error(said, args.checkpoint, known) or known or _stopped(said) from None
    finally:
        session.streams.removeListener(listener)
    figures = listener.figures()
    tied = f", {counted(figures.tied_rows, 'row')} left out as ties" if figures.tied_rows else ""
    ahead = f", {counted(figures.ahead_rows, 'row')} from the future set aside" if args.max_ahead else ""
    print(
        f"{counted(figures.events, 'event')}, {counted(figures.matches, 'match', 'matches')}, "
        f"{counted(figures.late_rows, 'late row')}, {counted(figures.bad_rows, 'row')} that could not be read"
        f"{tied}{ahead}"
    )
    return OK


def _said(error: Exception) -> str:
    """Spark's message without its plans and stacks."""
    said = str(error)
    for behind in ("=== Streaming Query ===", "\n\tat ", "\n        at ", "JVM stacktrace:"):
        said = said.partition(behind)[0]
    return said.strip()


def _stopped(said: str) -> SituError:
    from situ.cli.stream_io import StreamStoppedError

    return StreamStoppedError(
        f"the stream stopped: {said}",
        hint="nothing is lost: once the cause is mended, the same command goes on from its --checkpoint",
    )


def _session(args: argparse.Namespace) -> SparkSession:
    from situ.cli.secrets import REDACTED_NAMES
    from situ.cli.session import local_spark
    from situ.cli.stream_io import connector

    settings = {
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.shuffle.partitions": str(args.partitions),
        # where Spark shows the options of a source or sink, as in plans, by their names
        "spark.redaction.regex": REDACTED_NAMES,
        "spark.sql.redaction.options.regex": REDACTED_NAMES,
    }
    jars = connector(args)
    if jars:
        settings["spark.jars"] = jars
    if args.cores is not None and args.cores < 1:
        raise OptionError(f"--cores {args.cores} must be 1 or more.")
    return local_spark(
        "situ stream",
        cores=args.cores,
        **{name.replace(".", "__"): value for name, value in settings.items()},
    )


@contextmanager
def _stopping(stream: StreamingQuery) -> Iterator[None]:
    """Ctrl-C and a polite kill stop the query between micro-batches; a second one does not wait."""
    asked = threading.Event()

    def stop_later() -> None:
        asked.wait()
        at_hand = _batch_of(stream)
        # on a busy stream the next micro-batch begins at once; stopping there loses no work of this one
        while stream.isActive and stream.status["isTriggerActive"] and _batch_of(stream) == at_hand:
            time.sleep(0.05)
        stream.stop()

    def on_signal(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    threading.Thread(target=stop_later, daemon=True).start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _batch_of(stream: StreamingQuery) -> int:
    """The latest micro-batch that is done."""
    progress = stream.lastProgress
    return -1 if progress is None else int(progress["batchId"])


@contextmanager
def _live_line(listener: MetricsListener, quiet: bool) -> Iterator[None]:
    """One line on standard error that follows the figures; where nobody watches, a line a minute."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if quiet:
        yield
        return
    done = threading.Event()
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None

    def follow() -> None:
        while not done.wait(0.5 if live else 60):
            if live:
                live.update(line_of(listener), refresh=True)
            else:
                console.print(line_of(listener), soft_wrap=True, highlight=False)

    watcher = threading.Thread(target=follow, daemon=True)
    if live:
        live.start()
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join(timeout=2)
        if live:
            live.stop()


def line_of(listener: MetricsListener) -> str:
    """The live line.

    >>> from situ.spark.stream.metrics import MetricsListener
    >>> line_of(MetricsListener())
    '0 events/s | 0 matches | state 0.0 MB | lag 0.0 s | 0 late rows'
    """
    figures = listener.figures()
    behind = "" if figures.lag_records is None else f" ({figures.lag_records:,} records)"
    return (
        f"{figures.events_per_second:,.0f} events/s | {figures.matches:,} matches | "
        f"state {figures.state_bytes / 1e6:,.1f} MB | lag {figures.batch_seconds:.1f} s{behind} | "
        f"{figures.late_rows:,} late rows"
    )
