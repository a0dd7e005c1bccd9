"""Whether a stream stopped because its checkpoint is damaged: then it cannot go on from there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from situ.errors import SituError, StateError

# what Spark says when it cannot read what it wrote itself
_SAID = re.compile(
    r"CANNOT_LOAD_STATE_STORE|STATE_STORE_\w*|MISSING_STATE_DIRECTORY|CHECKPOINT_MISSING_METADATA_FILE"
    r"|MALFORMED_LOG_FILE|INVALID_LOG_VERSION|Failed to read log file"
)
WHAT_TO_DO = (
    "what the stream knew is in that folder alone: put a copy of it back, or begin anew with another "
    "--checkpoint (and, where the sink is files, another --output); the source is then read again as far "
    "back as it goes"
)


class CheckpointError(SituError):
    """The checkpoint of a stream is damaged, or is not what this command can go on from."""


def checkpoint_error(said: str, folder: str, known: SituError | None) -> SituError | None:
    """What to say where the checkpoint is why a stream stopped, None where it is not.

    `said` is Spark's message, `known` the error of ours that was found in it.
    """
    if isinstance(known, StateError):
        if "damaged" in known.message or "cut off" in known.message:
            return CheckpointError(f"the checkpoint {folder} is damaged: {known.message}", hint=WHAT_TO_DO)
        return StateError(f"the checkpoint {folder} does not fit: {known.message}", hint=known.hint)
    if known is not None:
        return None
    found = _damage_in(Path(folder))
    if found is None and not _SAID.search(said):
        return None
    return CheckpointError(f"the checkpoint {folder} is damaged: {found or said}", hint=WHAT_TO_DO)


def _damage_in(folder: Path) -> str | None:
    """What is wrong with the small files of a checkpoint; Spark may say of them only what its parser says."""
    files = [folder / "metadata", *(folder / "offsets").glob("[0-9]*"), *(folder / "commits").glob("[0-9]*")]
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
            versioned = lines[1:] if file.name != "metadata" else lines
            if not versioned or (file.name != "metadata" and not re.fullmatch(r"v\d+", lines[0])):
                return f"{file} is not whole"
            for line in versioned:
                if line != "-":  # a source that had nothing yet
                    json.loads(line)
        except FileNotFoundError:
            continue  # nothing was begun, or Spark says that it is missing
        except (OSError, ValueError) as error:
            return f"{file} cannot be read ({error})"
    return None
