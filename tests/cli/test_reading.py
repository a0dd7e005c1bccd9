"""INPUT of the commands: files of every format, folders, tables, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from situ import cli

ROWS = pa.table({"k": [1, 1, 1, 2], "t": [1, 2, 3, 1], "x": [0, 5, 0, 5]})
QUERY = "FROM e PARTITION BY k ORDER BY t DEFINE A AS x > 3"


def write(folder: Path, name: str) -> Path:
    path = folder / name
    if name.endswith("parquet"):
        pq.write_table(ROWS, path)
    elif name.endswith("csv"):
        pyarrow.csv.write_csv(ROWS, path)
    else:
        ROWS.to_pandas().to_json(path, orient="records", lines=True)
    return path


def situations(capsys: pytest.CaptureFixture[str], *argv: str) -> list[list[str]]:
    assert cli.main(["situations", QUERY, *argv]) == 0
    *table, count = capsys.readouterr().out.strip().splitlines()
    assert count == f"{len(table) - 1} situations."
    return sorted(line.split() for line in table[1:])


EXPECTED = [["1", "A", "2", "3", "1"], ["2", "A", "1", "-", "1"]]


@pytest.mark.parametrize("name", ["e.parquet", "e.csv", "e.json"])
def test_files_and_folders(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, name)
    assert situations(capsys, str(path), "--in-process") == EXPECTED
    assert situations(capsys, "--input", str(tmp_path), "--in-process") == EXPECTED


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", ["e.parquet", "e.csv"])
def test_the_same_on_spark(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a [1] {x,y}*"  # Spark would take it for a pattern
    folder.mkdir()
    assert situations(capsys, str(write(folder, name)), "--spark") == EXPECTED


def test_output_to_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [QUERY, str(write(tmp_path, "e.csv")), "--in-process", "--out", str(tmp_path / "found.parquet")]
    assert cli.main(["situations", *argv]) == 0
    assert "2 situations written" in capsys.readouterr().out
    assert pq.read_table(tmp_path / "found.parquet").num_rows == 2
    assert cli.main(["situations", *argv]) == 2
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "nothing to read"),
        (["no/such/file.parquet"], "no file or folder no/such/file.parquet"),
        (["nowhere", "--in-process"], "is no file"),
        (["{folder}/e.txt"], "does not say what it holds"),
        (["{folder}/e.csv", "{folder}/e.parquet"], "several formats: csv, parquet"),
        (["{folder}/e.csv", "--in-process", "--strategy", "shuffle"], "strategy does not apply"),
    ],
)
def test_what_cannot_be_read(
    argv: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "e.csv")
    write(tmp_path, "e.parquet")
    (tmp_path / "e.txt").write_text("?")
    assert cli.main(["situations", QUERY, *(a.format(folder=tmp_path) for a in argv)]) == 2
    assert said in capsys.readouterr().err


TIMED = "FROM t ORDER BY ts DEFINE A AS x > 9 RETURN max(A.x) AS top"
RAGGED = (
    "ts,x\n2024-01-01 00:00:00,1\n2024-01-01 00:01:00,11,99\n2024-01-01 00:02:00\n\n2024-01-01 00:03:00,12\n"
)
UNREADABLE = [
    ("ragged.csv", RAGGED, "{path} cannot be read as csv, line 3: 3 values where the header names 2."),
    (
        "short.csv",
        "ts,x\n\n1,2\n2\n",
        "{path} cannot be read as csv, line 4: 1 value where the header names 2.",
    ),
    ("bad.json", '{"ts": 1, "x": 2}\n{"ts":', "line 2: '{\"ts\":' is no JSON object."),
    ("array.json", "[1,\n2]\n", "line 1: '[1,' is no JSON object."),
    (
        "times.csv",
        "ts,x\n2024-01-01 00:00:00,1\n1.2.2024,2\n",
        "text that is not a time, for example 1.2.2024",
    ),
    ("months.csv", "ts,x\n2024-13-01 00:00:00,1\n", "text that is not a time"),
    ("empty.csv", "", "empty.csv"),
    ("header.csv", "ts,x\n", "there are no rows in {path}."),
    ("empty.json", "", "empty.json"),
    ("broken.parquet", "PAR1 not really", "{path} cannot be read as parquet"),
]


@pytest.mark.parametrize(("name", "text", "said"), UNREADABLE)
def test_files_that_cannot_be_read(
    name: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text)
    for command in ("situations", "why", "explain"):
        assert cli.main([command, TIMED, str(path), "--in-process"]) == 1
        message = capsys.readouterr().err
        assert said.replace("{path}", str(path)) in message
        assert "\nHint: " in message


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_files_that_spark_cannot_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text, said in UNREADABLE:
        path = tmp_path / name
        path.write_text(text)
        assert cli.main(["situations", TIMED, str(path), "--spark", "--quiet"]) == 1
        message = capsys.readouterr().err
        assert said.replace("{path}", str(path)) in message or (not text and "no rows in" in message), message
        assert "\nHint: " in message
        assert not {"SQLSTATE", "Exception", "Traceback"} & set(message.replace(":", " ").split())


def left_out(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[str, list[dict[str, object]]]:
    out = argv[argv.index("--output") + 1]
    assert cli.main(["run", TIMED, *argv, "--on-bad-rows", "drop"]) == 0
    return capsys.readouterr().err, rows_of(Path(out))


def rows_of(folder: Path) -> list[dict[str, object]]:
    """The rows that were written; instants alone, because Spark's parquet does not name their zone."""
    table = pq.read_table(folder)
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            table = table.set_column(i, field.name, table[i].cast(pa.timestamp("us")))
    return table.to_pylist()


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_rows_that_cannot_be_read_are_dropped_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With and without Spark the same rows are left, and as many are said to be left out."""
    (tmp_path / "e.csv").write_text(RAGGED + "soon,99\n")
    arguments = ["--quiet", "--input", str(tmp_path / "e.csv"), "--output"]
    here = left_out(capsys, *arguments, str(tmp_path / "here"), "--in-process")
    there = left_out(capsys, *arguments, str(tmp_path / "there"), "--spark")
    assert here[0] == "3 rows that could not be read left out.\n"
    assert there[0] == "3 rows without a time, or that could not be read, left out.\n"
    assert here[1] == there[1]
    assert [row["top"] for row in here[1]] == [12]
    argv = ["situations", TIMED, str(tmp_path / "e.csv"), "--on-bad-rows", "drop", "--quiet", "--spark"]
    assert cli.main([*argv, "--out", str(tmp_path / "found")]) == 0
    assert capsys.readouterr().err == there[0]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("e.csv", ["ts,x,s,b", "{t},1,u,true", '{u},11,"",false', "{v},12,,true"]),
        (
            "e.json",
            ['{{"ts":"{t}","x":1,"s":"2024"}}', '{{"ts":"{u}","x":11}}', '{{"ts":"{v}","x":12,"s":""}}'],
        ),
    ],
)
@pytest.mark.parametrize("zone", ["", "Z"])
def test_text_is_read_as_spark_reads_it(
    name: str, lines: list[str], zone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = {key: f"2024-01-01T00:0{i}:00.25{zone}" for i, key in enumerate("tuv")}
    (tmp_path / name).write_text("\n".join(lines).format(**moments) + "\n")
    query = (
        "FROM t ORDER BY ts DEFINE A AS x > 9 AND coalesce(s, 'none') <> 'u' "
        "AND ts < TIMESTAMP '2024-01-01 12:00:00' "
        "RETURN first(A.s) AS s, last(A.s) AS last, A.ts AS since"
    )
    rows = []
    for more in (["--in-process"], ["--spark"]):
        out = tmp_path / f"found{more[0]}"
        argv = ["run", query, "--input", str(tmp_path / name), "--output", str(out), *more]
        assert cli.main(argv) == 0, capsys.readouterr().err
        rows.append(rows_of(out))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 1


def test_times_without_a_zone_are_of_the_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "e.csv").write_text("ts,x\n2024-07-01 12:00:00,11\n")
    argv = ["situations", TIMED, str(tmp_path / "e.csv"), "--in-process"]
    assert cli.main([*argv, "--time-zone", "Europe/Paris"]) == 0
    assert "2024-07-01 12:00:00+02:00" in capsys.readouterr().out
    assert cli.main([*argv, "--time-zone", "Europe/Pari"]) == 2
    assert "is not a time zone" in capsys.readouterr().err


def test_folders_are_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for day in (1, 2):
        folder = tmp_path / "t" / f"day={day}" / "place=a%20b"
        folder.mkdir(parents=True)
        pq.write_table(ROWS.slice(0, 3), folder / "e.parquet")
    query = "FROM e PARTITION BY day, place ORDER BY t DEFINE A AS x > 3 AND day + 1 = 3"
    assert cli.main(["situations", query, str(tmp_path / "t"), "--in-process"]) == 0
    out = capsys.readouterr().out
    assert "1 situation." in out
    assert "2  a b" in out.replace("   ", "  ")


def test_what_only_spark_evaluates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = [
        "situations",
        QUERY.replace("x > 3", "soundex(k) = 'a'"),
        str(write(tmp_path, "e.csv")),
        "--in-process",
    ]
    assert cli.main(argv) == 2
    assert "cannot be evaluated in process\nHint: leave out --in-process" in capsys.readouterr().err


def test_a_query_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.situ").write_bytes(b"\xff\xfe\x00")
    assert cli.main(["explain", str(tmp_path / "q.situ")]) == 2
    assert "it is not text in UTF-8" in capsys.readouterr().err


def test_no_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "e.csv")
    assert cli.main(["situations", QUERY.replace("> 3", "> 99"), str(path), "--in-process"]) == 0
    assert "`situ why`" in capsys.readouterr().out
