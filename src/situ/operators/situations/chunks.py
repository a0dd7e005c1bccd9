"""Deriving one long partition in chunks of time, in parallel (Alg. 5.5).

Each chunk starts with what held at the row before it, so a situation that spans a border ends its life
in the first chunk open and begins the second as a run from LONG_AGO; stitching makes one of the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from situ.operators.situations.kernels.derive import derive
from situ.operators.situations.kernels.layout import Rows, Runs, Spec
from situ.operators.situations.known import Known
from situ.rows.kernels.numbers import LONG_AGO

Positions = npt.NDArray[np.int64]
Chunk = tuple[Runs, npt.NDArray[np.uint64]]


def derive_chunk(rows: Rows, spec: Spec, known: Known, nothing: Known, begin: int, end: int) -> Chunk:
    """Raw runs of the rows [begin, end) of a single partition; `nothing` is Known of a new one."""
    part = Rows(rows.time[begin:end], rows.mask[begin:end], np.array([0, end - begin]))
    if begin > 0:
        known = nothing._replace(state=nothing.state.copy())
        known.slots.horizon[:] = rows.time[begin - 1]
        known.slots.mask[:] = rows.mask[begin - 1]
    chunk: Chunk = derive(
        part, known.entries, known.slots, len(spec.followed), spec.at_least, spec.at_most, spec.forget_after
    )
    return chunk


def stitch(chunks: Sequence[Chunk], begins: Sequence[int]) -> Chunk:
    """The runs of all chunks as if derived in one."""
    n = chunks[0][0].ts.shape[0]
    columns = [_stitched_symbol([runs for runs, _ in chunks], begins, symbol) for symbol in range(n)]
    counts = [len(column[0]) for column in columns]
    width = max(counts)
    arrays = np.zeros((6, n, width), np.int64)
    for symbol, column in enumerate(columns):
        arrays[:, symbol, : counts[symbol]] = column
    ts, te, admissible, first_row, last_row, carry = arrays
    offset = np.zeros((n, 2), np.int64)
    offset[:, 1] = counts
    verdict = np.empty((chunks[0][0].verdict.shape[0], width), np.int64)
    return Runs(ts, te, admissible, te, first_row, last_row, carry, verdict, offset), chunks[-1][1]


def _stitched_symbol(several: Sequence[Runs], begins: Sequence[int], symbol: int) -> npt.NDArray[np.int64]:
    pieces: list[npt.NDArray[np.int64]] = []
    open_piece = 0
    for runs, begin in zip(several, begins, strict=True):
        used = slice(0, int(runs.offset[symbol, 1]))
        piece = np.stack(
            [
                runs.ts[symbol, used],
                runs.te[symbol, used],
                runs.admissible[symbol, used],
                runs.first_row[symbol, used] + begin,
                runs.last_row[symbol, used] + begin,
                runs.carry[symbol, used],
            ]
        )
        if begin > 0 and piece.shape[1] and piece[0, 0] == LONG_AGO:
            # Alg. 5.5: the head of this chunk continues the tail of the chunks before it
            head, piece = piece[:, 0], piece[:, 1:]
            tail = pieces[open_piece][:, -1]
            tail[1], tail[4] = head[1], head[4]
        pieces.append(piece)
        if piece.shape[1]:
            open_piece = len(pieces) - 1
    return np.concatenate(pieces, axis=1)
