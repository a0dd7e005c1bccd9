"""Functions whose every value matters: regular expressions, the case of letters, the last bit of doubles."""

from __future__ import annotations

import os
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from expressions.support import columns_of, compiled
from situ.errors import UnsupportedExpressionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
N_BATCHES = 200 if SOAK else 3
N_PATTERNS = 60
N_DOUBLES = 1_000_000 if SOAK else 30_000

# Line ends of every kind, ASCII and other letters and digits, a Kelvin sign and a long s for (?i).
ALPHABET = "aabbAkz1_ -.\n\r\t\x0b\x85\u2028\u212aſäÄ٣😀"
ATOMS = ["a", "b", "A", "k", "z", "1", "_", "-", "ä", "😀", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S",
         r"\n", r"\r", r"\.", r"\x61", r"\u2028", "[ab]", "[^a]", "[a-k]", r"[^\w\n]", r"[\s-]", "[A-z]",
         "(?i)", "(?s)", "(?-i)", "^", "$", r"\A", r"\z", r"\Z", "()"]  # fmt: skip
QUANTIFIERS = ["", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{2,}", "{0,1}?"]


def _regexes() -> SearchStrategy[str]:
    atoms = st.sampled_from(ATOMS)
    quantifiers = st.sampled_from(QUANTIFIERS)
    return st.recursive(
        st.tuples(atoms, quantifiers).map("".join),
        lambda parts: st.one_of(
            st.lists(parts, min_size=1, max_size=4).map("".join),
            st.lists(parts, min_size=2, max_size=3).map("|".join),
            st.tuples(st.sampled_from(["(", "(?:", "(?i:", "(?s-i:"]), parts, quantifiers).map(
                lambda p: f"{p[0]}{p[1]}){p[2]}"
            ),
        ),
        max_leaves=6,
    )


texts = st.lists(st.text(ALPHABET, max_size=5), min_size=40, max_size=40, unique=True)


@pytest.mark.spark
@settings(
    max_examples=N_BATCHES,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
@given(patterns=st.lists(_regexes(), min_size=N_PATTERNS, max_size=N_PATTERNS, unique=True), strings=texts)
def test_regular_expressions(spark: SparkSession, patterns: list[str], strings: list[str]) -> None:
    fixed = [
        "",
        "a",
        "a\n",
        "a\r\n",
        "\r\n",
        "\r",
        "a\r",
        "\n\n",
        "a\u2028",
        "ab\r\nab",
        "aa\x85",
        "\n\r",
        "\r\n\n",
    ]
    table = pa.table({"s": [*fixed, *strings]})
    ours = {}
    for pattern in patterns:
        sql = f"s RLIKE r'{pattern}'"
        try:
            ours[sql] = compiled(sql, table.schema)(columns_of(table)).to_pylist()
        except UnsupportedExpressionError:
            continue
    frame = spark.createDataFrame(table, schema="s string").coalesce(1)
    asked = frame.selectExpr("s", *(f"{sql} AS x{i}" for i, sql in enumerate(ours))).toArrow()
    assert asked["s"].to_pylist() == table["s"].to_pylist()
    wrong = [
        (sql, text, found, expected)
        for i, (sql, values) in enumerate(ours.items())
        for text, found, expected in zip(
            table["s"].to_pylist(), values, asked[f"x{i}"].to_pylist(), strict=True
        )
        if found != expected
    ]
    assert not wrong, wrong[:5]


@pytest.mark.spark
def test_the_case_of_every_character(spark: SparkSession) -> None:
    every = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cs", "Cn")]
    mapped = [char for char in every if char.upper() != char or char.lower() != char]
    # Σ becomes ς where a word ends, and marks and letters say otherwise where that is.
    telling = [char for char in every if unicodedata.category(char)[0] in "MS" or ord(char) < 0x600]
    texts = [*every[:0x3000], *mapped, *(f"a{char}Σ{char}b Σ{char}" for char in {*mapped, *telling})]
    unsettled = set("\u019b\u0264\ua7d3\ua7d5\u0295\U0001171e")
    table = pa.table({"s": [text for text in texts if unsettled.isdisjoint(text)]})
    frame = spark.createDataFrame(table, schema="s string")
    asked = frame.selectExpr("s", "upper(s) AS u", "lower(s) AS l").toArrow()
    assert asked.num_rows > 20_000
    for name, column in (("upper", "u"), ("lower", "l")):
        found = compiled(f"{name}(s)", table.schema)({"s": asked["s"].combine_chunks()})
        differs = pc.not_equal(found, asked[column].combine_chunks())
        assert asked["s"].filter(differs).to_pylist() == []


def _doubles(rng: np.random.Generator, n: int) -> Any:
    """Of every size and kind: any bits at all, around 1, small, whole, subnormal and special ones."""
    special = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, np.inf, -np.inf, np.nan, 5e-324, 1.7976931348623157e308,
               2.2250738585072014e-308, 709.782712893384, -745.1332191019411, 2.0**31, 2.0**64]  # fmt: skip
    kinds = [
        rng.integers(-(2**63), 2**63 - 1, n).view(np.float64),
        rng.uniform(-800, 800, n),
        1 + rng.normal(0, 1, n) * 10.0 ** rng.uniform(-16, 0, n),
        rng.normal(0, 1, n) * 10.0 ** rng.uniform(-20, 0, n),
        rng.integers(-100, 100, n).astype(np.float64),
        rng.integers(0, 2**52, n).view(np.float64),
        rng.choice(special, n),
    ]
    return np.choose(rng.integers(0, len(kinds), n), kinds)


@pytest.mark.spark
def test_the_last_bit_of_doubles(spark: SparkSession) -> None:
    rng = np.random.default_rng(16)
    x, y = _doubles(rng, N_DOUBLES), _doubles(rng, N_DOUBLES)
    tame = N_DOUBLES // 2  # pairs whose power is mostly finite
    x[:tame], y[:tame] = np.exp(rng.uniform(-20, 20, tame)), rng.uniform(-35, 35, tame)
    table = pa.table({"i": np.arange(N_DOUBLES), "x": x, "y": y})
    functions = ["sqrt(x)", "cbrt(x)", "exp(x)", "expm1(x)", "ln(x)", "log(x)", "log(x, y)", "log(2, x)",
                 "log10(x)", "log2(x)", "log1p(x)", "pow(x, y)", "sign(x)", "pmod(x, y)"]  # fmt: skip
    frame = spark.createDataFrame(table, schema="i bigint, x double, y double").where("y <> 0 AND x <> 0")
    asked = frame.selectExpr("i", "x", "y", *(f"{sql} AS r{k}" for k, sql in enumerate(functions))).toArrow()
    asked = asked.sort_by("i")
    for k, sql in enumerate(functions):
        found = compiled(sql, table.schema)(columns_of(asked))
        expected = asked[f"r{k}"].combine_chunks()
        assert found.is_valid().equals(expected.is_valid()), sql
        wrong = np.flatnonzero(_bits(found) != _bits(expected))
        assert not len(wrong), (sql, asked.slice(wrong[0], 1).to_pylist(), found[wrong[0]])


def _bits(array: pa.Array) -> Any:
    values = array.fill_null(0.0).to_numpy(zero_copy_only=False)
    return np.where(np.isnan(values), np.nan, values).view(np.int64)
