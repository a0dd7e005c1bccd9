"""A source that changes or has bad rows: refused in clear words, or the stream goes on; nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import situ
from situ.cli import main
from situ.errors import StateError, UnknownColumnError
from situ.spark.errors import situ_error
from streaming.running import FileStream, canonical_rows
from streaming.test_spark_stream import PATTERN, SCHEMA, cut, events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_source_changes_under_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    first, second, third = cut(events(150), 3)
    stream = FileStream(spark, tmp_path, SCHEMA)
    stream.add([first])
    stream.run(PATTERN)

    # a column that is not needed appears: the stream goes on
    wider = SCHEMA.append(pa.field("note", pa.string()))
    stream.schema = wider
    stream.add([second.append_column("note", pa.array(["n"] * second.num_rows))])
    stream.run(PATTERN)

    # a needed column is missing: said when the query is bound, nothing is started
    stream.schema = pa.schema([SCHEMA.field("k"), SCHEMA.field("t")])
    with pytest.raises(UnknownColumnError, match="x"):
        stream.run(PATTERN)

    # a needed column has another type: refused, both shown
    stream.schema = SCHEMA.set(2, pa.field("x", pa.float32()))
    stream.add([third])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - Spark wraps it, situ_error finds it again
        stream.run(PATTERN)
    error = situ_error(caught.value)
    assert isinstance(error, StateError), caught.value
    with pytest.raises(StateError, match=r"columns of other types(.|\n)*double(.|\n)*float(.|\n)*checkpoint"):
        raise error

    # with the type it was made for everything is there, the file of the failed run too
    (tmp_path / "in" / "00002.parquet").unlink()
    stream.schema = SCHEMA
    stream.add([third])
    stream.run(PATTERN)
    whole = situ.match(events(150), situ.query(PATTERN))
    assert whole.num_rows > 5
    assert canonical_rows(stream.results()) == canonical_rows(whole)


def test_malformed_rows(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They stop `situ stream`, which shows them; dropped from the same checkpoint on, no match is lost."""
    table = events(60)
    lines = [json.dumps({**row, "t": row["t"].isoformat()}) for row in table.to_pylist()]
    (tmp_path / "in").mkdir()
    text = "\n".join([*lines[:30], '{"k": 1, "t": brok', '{"k": 1, "x": "warm"}', *lines[30:]])
    (tmp_path / "in" / "0.json").write_text(text)
    arguments = [
        "stream", PATTERN, "--source", "files", "--input", str(tmp_path / "in"),
        "--schema", "k bigint, t timestamp, x double", "--checkpoint", str(tmp_path / "state"),
        "--sink", "files", "--output", str(tmp_path / "out"), "--output-format", "parquet",
        "--until-done", "--quiet",
    ]  # fmt: skip
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert "brok" in said or "MALFORMED_RECORD" in said, said
    assert "nothing is lost" in said
    assert main([*arguments, "--on-bad-rows", "drop"]) == 0
    assert "2 rows that could not be read" in capsys.readouterr().out
    found = spark.read.parquet(str(tmp_path / "out")).toArrow()
    assert canonical_rows(found) == canonical_rows(situ.match(table, situ.query(PATTERN)))
