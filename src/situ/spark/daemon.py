"""Spark's parent of Python workers, with situ imported: workers are forked from it and import nothing anew.

A stream has up to three workers for each core, which would otherwise all spend their first seconds on the
same imports. For sessions on this machine: `spark.python.daemon.module` names it. On a cluster Spark's own
is used, so that an executor without situ can still say what it lacks.
"""

from __future__ import annotations

from pyspark.daemon import manager

import situ.spark.stream.processor
import situ.spark.worker  # noqa: F401 - what the workers run
from situ.compiled.jit import kernel_folder

if __name__ == "__main__":
    kernel_folder()  # where that is a fresh one, all workers share it
    manager()
