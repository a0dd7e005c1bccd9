"""What a checkpoint was made for: kept in the state store, and looked at by every micro-batch with rows."""

from __future__ import annotations

import json
from typing import Any

from situ._version import __version__
from situ.carry.stream.program import Program
from situ.errors import StateError

_NEW_CHECKPOINT = "give the stream a new checkpointLocation"


def new_header(program: Program) -> bytes:
    """The header of a new checkpoint."""
    needed = {column.name for column in program.needs.columns}
    own = [field for field in program.operator.schema if field.name in needed]
    return json.dumps(
        {
            "situ": __version__,
            "identity": program.identity.hex(),
            "buckets": program.task.n_buckets,
            **program.facts,
            "columns": {field.name: str(field.type) for field in own},
        }
    ).encode()


def check_header(data: bytes, program: Program) -> None:
    """Refuse to go on with state that was made for something else."""
    try:
        then = json.loads(bytes(data))
        now = json.loads(new_header(program))
        made_by, buckets, identity = then["situ"], then["buckets"], then["identity"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StateError(f"the state in this checkpoint is damaged: {error}", hint=_NEW_CHECKPOINT) from None
    if buckets != now["buckets"]:
        raise StateError(
            f"this checkpoint was made with buckets={buckets}, not with buckets={now['buckets']}",
            hint=f"the number cannot change: pass buckets={buckets}, or {_NEW_CHECKPOINT}",
        )
    if identity == now["identity"]:
        return
    for what, name in (
        ("kind", "the other call (situ.match, situ.situations)"),
        ("query", "another query"),
        ("forget_after", "another forget_after"),
        ("columns", "columns of other types"),
    ):
        if then.get(what) != now.get(what):
            raise StateError(
                f"this checkpoint was made for {name}.\n"
                f"Then: {_shown(then.get(what))}\nNow:  {_shown(now.get(what))}",
                hint=f"go on with what it was made for, or {_NEW_CHECKPOINT}",
            )
    raise StateError(
        f"this checkpoint was written by situ {made_by} in a form that situ {__version__} does not read",
        hint=f"go on with situ {made_by}, or {_NEW_CHECKPOINT}",
    )


def _shown(fact: Any) -> str:
    """A fact as people read it; several by name, each on lines of its own."""
    if not isinstance(fact, dict):
        return str(fact)
    return "".join(f"\n{name}: {own}" for name, own in fact.items())
