"""The public surface: which names there are, what their signatures and docstrings say, what is imported."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pytest

import situ
from situ.carry import in_process, push
from situ.errors import OptionError
from situ.keywords import DEFAULTS, BatchOptions, DataFrameOptions, OperatorOptions, TableOptions, described
from situ.options import Options

CALLS: dict[Callable[..., Any], tuple[Any, ...]] = {
    situ.match: (TableOptions, DataFrameOptions),
    situ.situations: (TableOptions, DataFrameOptions),
    situ.explain: (TableOptions, BatchOptions),
    situ.why: (TableOptions, BatchOptions),
    situ.plot: (TableOptions, BatchOptions),
    situ.match_parquet: (BatchOptions,),
    situ.situations_parquet: (BatchOptions,),
    situ.Query.operator: (OperatorOptions,),
}
EVENTS = pa.table({"ts": [1, 2, 3], "x": [0, 5, 5]})
QUERY = situ.query("FROM t ORDER BY ts DEFINE A AS x > 1")


def names(*kinds: Any) -> set[str]:
    return {name for kind in kinds for name in kind.__annotations__}


def test_dir_names_what_is_public_and_all_of_it_is_there() -> None:
    modules = {"builder", "errors", "sources", "testing"}
    assert set(dir(situ)) == set(situ.__all__) | modules
    assert all(inspect.ismodule(getattr(situ, name)) for name in modules)
    assert all(hasattr(situ, name) for name in dir(situ))


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert not hasattr(situ, "mtach")


def test_options_are_those_that_the_carriers_take() -> None:
    from situ.spark.batch import job as batch
    from situ.spark.batch import why
    from situ.spark.stream import job as stream

    assert names(TableOptions) == in_process.OPTIONS
    assert names(OperatorOptions) == push.OPTIONS
    assert names(BatchOptions) == batch.OPTIONS == why.OPTIONS
    assert names(DataFrameOptions) == batch.OPTIONS | stream.OPTIONS | {"buckets"}
    assert DEFAULTS["buckets"] == stream.DEFAULT_BUCKETS
    every = names(TableOptions, OperatorOptions, DataFrameOptions)
    assert every == {one.name for one in fields(Options)} | {"buckets"}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_signatures_spell_options_out_with_their_defaults(call: Callable[..., Any]) -> None:
    parameters = inspect.signature(call).parameters
    assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
    options = {name: one for name, one in parameters.items() if name in DEFAULTS}
    assert set(options) == names(*CALLS[call])
    assert all(one.kind is one.KEYWORD_ONLY for one in options.values())
    assert {name: one.default for name, one in options.items()} == {name: DEFAULTS[name] for name in options}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_docstrings_explain_every_option_and_cite_nothing_internal(call: Callable[..., Any]) -> None:
    assert call.__doc__
    told = described(call.__doc__)
    assert set(told) == names(*CALLS[call])
    assert not re.search(r"\b(SEM|ROW|WIN|ARC|COR) \d", call.__doc__)
    for name, lines in told.items():  # a default that is a word or a number is said
        default = DEFAULTS[name]
        if isinstance(default, str | int) and default is not False:
            assert str(default) in " ".join(lines), name


def test_type_hints_take_what_the_check_takes() -> None:
    from situ.options import _CHOICES

    hints = TableOptions.__annotations__ | DataFrameOptions.__annotations__
    for name, choices in _CHOICES.items():
        first = hints[name].__args__[0]  # of a choice that need not be made
        assert getattr(first, "__args__", hints[name].__args__) == choices


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tie": "last"}, "unknown option tie for a table in process\nHint: did you mean ties?"),
        ({"strategy": "auto"}, "option strategy does not apply to a table in process"),  # though the default
        ({"points": "error"}, "option points does not apply to events"),
    ],
)
def test_an_option_that_is_unknown_or_does_not_apply_is_an_error_of_situ(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(OptionError, match=re.escape(said)):
        situ.match(EVENTS, QUERY, **options)
    with pytest.raises(OptionError, match="unknown option tie for an operator"):
        QUERY.operator(EVENTS.schema, tie="last")  # type: ignore[call-arg]


def test_importing_situ_imports_nothing_heavy() -> None:
    heavy = ("numba", "llvmlite", "pandas", "polars", "pyarrow", "pyspark", "matplotlib", "rich")
    program = f"import sys, situ; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
