"""The Spark session of the commands: local, quiet, and found or started in one place."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from situ.cli.java import use_java
from situ.extras import need_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")


def local_spark(
    name: str, *, cores: int | None = None, master: str | None = None, **settings: str
) -> SparkSession:
    """Return the active Spark session, or start one on this machine with `cores` cores (all by default).

    `master` names another place to run; its executors must then be able to reach this machine.
    Setting names are Spark's with `.` written as `__`: `spark__driver__memory="4g"`.
    """
    need_spark(name)
    from pyspark.sql import SparkSession

    from situ.spark.session.tuned import settings_of_own_session

    if (active := SparkSession.getActiveSession()) is not None:
        return active
    use_java()
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # says in JSON what is raised too
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = (
        SparkSession.builder.master(master or f"local[{cores or '*'}]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}")
    )
    if master is None or master.startswith("local"):  # nothing here needs to be reached from outside
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = (
            builder.config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.python.daemon.module", "situ.spark.daemon")
        )
    own = settings_of_own_session() | {key.replace("__", "."): value for key, value in settings.items()}
    for key, value in own.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
