"""How work reaches Python workers, and what they say when they cannot do it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from situ._version import __version__

Batches = Iterator[pa.RecordBatch]


def shipped(entry: str, task: Any, told: Any = None) -> Callable[[Batches], Batches]:
    """`situ.spark.worker.<entry>(task, batches)` as a function for mapInArrow.

    The function holds only text and bytes, so that a worker without situ can still load it and say
    what is missing; everything of situ is imported when it runs. `told` is an accumulator for what the
    worker has to say beside its results.
    """
    payload, version = pickle.dumps(task), __version__

    def run(batches: Batches) -> Batches:
        import importlib
        import sys

        try:
            worker = importlib.import_module("situ.spark.worker")
            found = importlib.import_module("situ._version").__version__
        except ImportError as error:
            raise ImportError(
                f"situ cannot be imported on a Spark executor ({error}; Python {sys.version.split()[0]} "
                f"at {sys.executable}). Hint: every executor needs situ {version} and what it depends "
                "on: ship a packed environment with spark.archives, or install it on the workers; see "
                'the page "situ on a cluster" of the documentation.'
            ) from None
        if found != version:
            raise ImportError(
                f"the driver runs situ {version} and this Spark executor situ {found}. "
                "Hint: install the same version on both."
            )
        yield from worker.run(entry, payload, batches, told)

    return run
