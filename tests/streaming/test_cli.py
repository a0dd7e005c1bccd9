"""What `situ stream` says before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from situ.cli import main
from situ.cli.stream import line_of
from situ.spark.stream.metrics import Figures, MetricsListener, figures_of

QUERY = "FROM s ORDER BY t DEFINE A AS x > 0 WITHIN 1 minute"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--source", "files", "--sink", "console"], 2, "files needs --input"),
        (["--source", "files", "--sink", "console", "--input", "nowhere"], 2, "files needs --schema"),
        (
            ["--source", "files", "--sink", "console", "--input", "nowhere", "--schema", "t timestamp"],
            2,
            "there is no folder nowhere",
        ),
        (["--source", "rate", "--sink", "files"], 2, "files needs --output"),
        (["--source", "kafka", "--sink", "console"], 2, "kafka needs --topic"),
        (["--source", "rate", "--sink", "kafka", "--output-topic", "x"], 2, "kafka needs --servers"),
        (
            ["--source", "rate", "--sink", "kafka", "--output-topic", "x", "--servers", "here"],
            2,
            "'here' is not HOST:PORT",
        ),
        (
            ["--source", "rate", "--sink", "kafka", "--output-topic", "x", "--servers", "127.0.0.1:1"],
            1,
            "no Kafka broker answers at 127.0.0.1:1",
        ),
    ],
)
def test_what_is_missing(
    arguments: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stream", QUERY, *arguments, "--checkpoint", str(tmp_path)]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("which", ["--output", "--checkpoint"])
def test_folders_that_cannot_be_written(
    which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    folders = {"--output": str(tmp_path / "out"), "--checkpoint": str(tmp_path / "state")}
    folders[which] = str(tmp_path / "file" / "x")
    arguments = [word for pair in folders.items() for word in pair]
    assert main(["stream", QUERY, "--source", "rate", "--sink", "files", *arguments]) == 1
    assert f"{folders[which]} cannot be written" in capsys.readouterr().err


def test_figures_add_up() -> None:
    """From Spark's reports, two micro-batches of one query and a source that tells its lag."""
    report = {
        "numInputRows": 100,
        "processedRowsPerSecond": 50.0,
        "durationMs": {"triggerExecution": 2000},
        "observedMetrics": {
            "situ_1a2b_counts": {"late_rows": 2, "matches": 3, "ignored_rows": 0},
            "situ_1a2b_bad_rows": {"n_bad_rows": 4},
            "theirs": {"late_rows": 99},
        },
        "stateOperators": [{"numRowsTotal": 7, "memoryUsedBytes": 5, "customMetrics": {}}],
        "sources": [{"metrics": {"maxOffsetsBehindLatest": "12"}}],
        "eventTime": {"watermark": "2024-01-01T00:00:00.000Z"},
    }
    figures = figures_of(report, figures_of(report))
    assert figures == Figures(
        events=200,
        matches=6,
        late_rows=4,
        bad_rows=8,
        micro_batches=2,
        events_per_second=50.0,
        batch_seconds=2.0,
        state_bytes=5,
        state_rows=7,
        lag_records=12,
        watermark="2024-01-01T00:00:00.000Z",
    )


def test_figures_of_a_connect_session() -> None:
    """There Spark reports observed values as a list, and their names in a schema."""
    names = ("late_rows", "ignored_rows", "matches")
    observed = {"values": [2, 0, 3], "schema": {"fields": [{"name": name} for name in names]}}
    figures = figures_of({"observedMetrics": {"situ_1a2b_counts": observed}})
    assert (figures.late_rows, figures.matches) == (2, 3)


def test_the_live_line_shows_the_figures() -> None:
    listener = MetricsListener()
    listener._figures["q"] = Figures(
        matches=1234,
        events_per_second=5678.9,
        state_bytes=2_500_000,
        batch_seconds=0.7,
        lag_records=42,
        late_rows=3,
    )
    assert line_of(listener) == (
        "5,679 events/s | 1,234 matches | state 2.5 MB | lag 0.7 s (42 records) | 3 late rows"
    )
