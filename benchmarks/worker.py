"""The process that measures one point: python -m benchmarks.worker MODULE CONTENDER PARAMETERS FOLDER."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from benchmarks.experiment import CannotExpressError, Experiment


def main(module: str, contender: str, parameters: str, folder: str) -> int:
    experiment: Experiment = importlib.import_module(module).EXPERIMENT
    try:
        record = {**asdict(experiment.run(contender, **json.loads(parameters))), "status": "done"}
    except CannotExpressError as reason:
        record = {"status": "cannot", "reason": str(reason)}
    except MemoryError as reason:
        record = {"status": "memory limit", "reason": str(reason) or "out of memory"}
    (Path(folder) / "answer.json").write_text(json.dumps(record))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
