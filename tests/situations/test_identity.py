"""Match ids: the same on every path, different for different matches (SEM 5.4)."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import situ
from situ.operators.identity import fingerprint, match_ids
from situations.drawing import events

TEXT = "FROM e PARTITION BY k ORDER BY t DEFINE A AS a, B AS b PATTERN A before B WITHIN 9"
QUERY = situ.query(TEXT)
STARTS = [np.array([1, 1, 2]), np.array([5, 6, 5])]


def ids(keys: list[pa.Array], query: situ.Query = QUERY) -> list[str]:
    return match_ids(query, keys, STARTS).to_pylist()


def test_an_id_is_32_hexadecimal_digits_of_its_own() -> None:
    found = ids([pa.array(["x", "x", "x"])])
    assert len(set(found)) == 3
    assert all(len(one) == 32 and int(one, 16) >= 0 for one in found)


def test_an_id_is_the_same_in_every_process_and_version() -> None:
    """Written down: a change would break what users have stored."""
    code = f"""
import numpy as np, pyarrow as pa, situ
from situ.operators.identity import match_ids
print(match_ids(situ.query({TEXT!r}), [pa.array(["x"])], [np.array([1]), np.array([5])])[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ids([pa.array(["x", "x", "x"])])[0] == GOLDEN


GOLDEN = "b98f0d5defba648217e10b29bc854d26"


def test_query_partition_and_every_start_count() -> None:
    base = ids([pa.array(["x"] * 3)])
    assert not set(base) & set(ids([pa.array(["y"] * 3)]))
    assert not set(base) & set(ids([pa.array([None] * 3, pa.string())]))
    assert not set(base) & set(ids([pa.array(["x"] * 3)], situ.query(TEXT.replace("WITHIN 9", "WITHIN 8"))))
    swapped = match_ids(QUERY, [pa.array(["x"] * 3)], STARTS[::-1]).to_pylist()
    assert not set(base) & set(swapped)


def test_layout_of_the_text_does_not_count() -> None:
    spaced = TEXT.replace(" ", "\n ").replace("before", "BEFORE")
    assert fingerprint(situ.query(spaced)) == fingerprint(QUERY)


BASE = "FROM t ORDER BY ts DEFINE A AS (x > 1) AND y = 'a' AT LEAST 60 s, B AS b PATTERN A meets;before B"


@pytest.mark.parametrize(
    "text",
    [
        "from t order by ts define A as (x>1) and y='a' at least 60 s, B as b pattern A meets;before B",
        BASE.replace("FROM t", "FROM t -- why\n").replace("x >", "x /* ! */\n\n\t>") + ";",
        BASE.replace("60 s", "1 minute"),
        BASE.replace("60 s", "INTERVAL '1' MINUTE"),
        BASE.replace("A meets;before B", "A before B; A meets B"),
        BASE.replace("A meets;before B", "B met_by; after A"),
        BASE.replace("A meets;before B", "(A.te <= B.ts)"),
        BASE.replace("x >", "`x` >").replace("y =", "y ==").replace("'a'", '"a"'),
        BASE.replace("FROM t", "FROM t AS u").replace("x >", "u.x >").replace("y =", "t.y ="),
        "FROM t PATTERN A meets;before B DEFINE A AS (x > 1) AND y = 'a' AT LEAST 60 s, B AS b ORDER BY ts",
        f"{BASE} EMIT EARLY RETURN *",
    ],
)
def test_what_an_id_does_not_depend_on(text: str) -> None:
    """docs/reference/python.md says so: hold the two together."""
    assert fingerprint(situ.query(text)) == fingerprint(situ.query(BASE))


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("FROM t", "FROM other"),
        BASE.replace("(x > 1)", "x > 1"),
        BASE.replace("x > 1", "1 < x"),
        BASE.replace("x > 1", "x > 1.0"),
        BASE.replace("x > 1", "X > 1"),
        BASE.replace("DEFINE A", "DEFINE C").replace("PATTERN A", "PATTERN C"),
        BASE.replace("ORDER BY ts", "ORDER BY ts, seq"),
        BASE.replace("ORDER BY ts", "ORDER BY ts PARTITION BY p"),
        "FROM t ORDER BY ts DEFINE B AS b, A AS (x > 1) AND y = 'a' AT LEAST 60 s PATTERN A meets;before B",
        f"{BASE} WITHIN 1 hour",
        f"{BASE} EMIT FINAL",
        f"{BASE} RETURN A.ts AS since",
        BASE.replace("meets;before", "before"),
    ],
)
def test_what_an_id_depends_on(text: str) -> None:
    assert fingerprint(situ.query(text)) != fingerprint(situ.query(BASE))


def test_an_id_depends_on_starts_and_not_on_ends_values_or_options() -> None:
    query = situ.query("FROM t ORDER BY t DEFINE A AS x > 1 RETURN max(A.x) AS top, A.te AS over")
    first = situ.match(pa.table({"t": [1, 2, 3], "x": [5, 0, 0]}), query, match_id=True)
    other = situ.match(
        pa.table({"t": [1, 2, 3], "x": [7, 8, 0]}), query, match_id=True, time_zone="Asia/Tokyo", join="pair"
    )
    assert first["match_id"].to_pylist() == other["match_id"].to_pylist()
    later = situ.match(pa.table({"t": [2, 3], "x": [5, 0]}), query, match_id=True)
    assert first["match_id"].to_pylist() != later["match_id"].to_pylist()


@pytest.mark.parametrize("keys", [["1", 1], ["a", b"a"], [1, True], ["None", None]])
def test_keys_of_different_types_that_look_alike_differ(keys: list[object]) -> None:
    first, second = (ids([pa.array([key] * 3)])[0] for key in keys)
    assert first != second


def test_columns_of_a_key_do_not_run_together() -> None:
    one = ids([pa.array(["a\x00str:b"] * 3), pa.array(["c"] * 3)])
    other = ids([pa.array(["a"] * 3), pa.array(["b\x00str:c"] * 3)])
    assert one[0] != other[0]


def test_the_width_of_a_number_and_the_unit_and_zone_of_an_instant_do_not_show() -> None:
    assert len({tuple(ids([pa.array([5] * 3, kind)])) for kind in (pa.int8(), pa.int32(), pa.int64())}) == 1
    instants = [
        pa.array([10**6] * 3, pa.int64()).cast(pa.timestamp("us", "UTC")),
        pa.array([1] * 3, pa.int64()).cast(pa.timestamp("s", "UTC")),
        pa.array([10**9] * 3, pa.int64()).cast(pa.timestamp("ns", "Europe/Berlin")),
    ]
    assert len({tuple(ids([column])) for column in instants}) == 1
    strings = [
        pa.array(["x"] * 3),
        pa.array(["x"] * 3, pa.large_string()),
        pa.array(["x"] * 3).dictionary_encode(),
    ]
    assert len({tuple(ids([column])) for column in strings}) == 1


def test_ids_of_a_timestamp_table_do_not_depend_on_its_unit() -> None:
    table = events("a ##...", "b ...##", k="x")
    query = situ.query(TEXT.replace("WITHIN 9", "WITHIN 9 days"))
    found = set()
    for unit in ("s", "ms", "us", "ns"):
        time = pa.array(range(5), pa.int64()).cast(pa.timestamp("s", "UTC")).cast(pa.timestamp(unit, "UTC"))
        given = table.set_column(1, "t", time)
        (one,) = situ.match(given, query, match_id=True)["match_id"].to_pylist()
        found.add(one)
    assert len(found) == 1


def test_no_matches_no_ids() -> None:
    none = np.empty(0, np.int64)
    assert match_ids(QUERY, [pa.array([], pa.string())], [none, none]).to_pylist() == []
