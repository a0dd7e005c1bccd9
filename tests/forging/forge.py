"""State changed on purpose and sealed again, so that its checksum fits."""

from __future__ import annotations

import struct
import zlib
from random import Random
from typing import Any

import pyarrow as pa

from situ.saved.codec import sealed

HEADER, SIZE = 26, 8  # bytes before the sections' size, and of it
WIDTHS = (8, 8, 8, 1, 1, 4, 4, 2, 2, 1)  # of the types a section can have
EXTREMES = (0, 1, -1, 2, 255, 2**31 - 1, -(2**31), 2**32, 2**47, 2**62, 2**63 - 1, -(2**63))

Sections = list[tuple[bytes, bytes]]  # each one's type and shape, and its values


def opened(state: bytes) -> tuple[bytes, bytes]:
    """The identity and the sections of a state."""
    (size,) = struct.unpack_from("<Q", state, HEADER)
    data = pa.Codec("lz4_raw").decompress(state[HEADER + SIZE :], size, asbytes=True)
    return state[6:22], data


def sections_of(data: bytes) -> Sections:
    found, at = [], 0
    while at < len(data):
        kind, n = struct.unpack_from("<BB", data, at)
        shape = struct.unpack_from(f"<{n}Q", data, at + 2)
        begin = at + 2 + 8 * n
        size = WIDTHS[kind]
        for length in shape:
            size *= length
        found.append((data[at:begin], data[begin : begin + size]))
        at = begin + size
    return found


def forged(states: dict[Any, bytes], random: Random) -> dict[Any, bytes]:
    """The states, one of them changed in one to three ways."""
    changed = dict(states)
    chosen = random.choice(sorted(states, key=repr))
    if random.random() < 0.03 and len(states) > 1:
        del changed[chosen]  # a value that the state store has lost
        return changed
    if random.random() < 0.03:
        changed[chosen] = states[random.choice(sorted(states, key=repr))]
        return changed
    identity, data = opened(states[chosen])
    for _ in range(random.choice([1, 1, 2, 3])):
        data = random.choice(WAYS)(data, random) or data
    state = sealed(identity, data)
    if random.random() < 0.05:
        state = other_size(state, random)
    changed[chosen] = state
    return changed


def flipped(data: bytes, random: Random) -> bytes:
    bytes_ = bytearray(data)
    for _ in range(random.choice([1, 1, 4, 16])):
        bytes_[random.randrange(len(bytes_))] ^= 1 << random.randrange(8)
    return bytes(bytes_)


def cut_off(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data))]


def inserted(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.choice([1, 2, 8, 64])) + data[at:]


def removed(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    return data[:at] + data[at + random.choice([1, 2, 8, 64]) :]


def other_number(data: bytes, random: Random) -> bytes:
    """An integer of a section, or one anywhere in it, replaced by an extreme or its neighbour."""
    return _in_section(data, random, _replaced)


def other_shape(data: bytes, random: Random) -> bytes:
    sections = _sections(data)
    if not sections:
        return data
    at = random.randrange(len(sections))
    head, values = sections[at]
    kind, n = head[0], head[1]
    shape = list(struct.unpack_from(f"<{n}Q", head, 2))
    way = random.randrange(4)
    if way == 0 or not shape:
        kind = random.randrange(12)
    elif way == 1:
        shape[random.randrange(n)] = random.choice(EXTREMES) & (2**64 - 1)
    elif way == 2:
        shape = [1, *shape]
    else:  # fewer or more values, and a shape that says so
        last = random.choice([shape[-1] + 1, max(0, shape[-1] - 1), 0])
        width = len(values) // max(1, shape[-1])
        values = (values + random.randbytes(width or WIDTHS[kind]))[: last * width] if width else values
        shape[-1] = last & (2**64 - 1)
    sections[at] = struct.pack(f"<BB{len(shape)}Q", kind, len(shape), *shape), values
    return _together(sections)


def swapped(data: bytes, random: Random) -> bytes:
    sections = _sections(data)
    if len(sections) < 2:
        return data
    i, j = random.sample(range(len(sections)), 2)
    sections[i], sections[j] = sections[j], sections[i]
    return _together(sections)


def doubled(data: bytes, random: Random) -> bytes:
    sections = _sections(data)
    if not sections:
        return data
    at = random.randrange(len(sections))
    return _together([*sections[:at], sections[at], *sections[at:]])


def shuffled(data: bytes, random: Random) -> bytes:
    """The values of a section in another order: what must ascend does not."""
    return _in_section(data, random, _mixed)


def other_size(state: bytes, random: Random) -> bytes:
    """Another size of the sections than they have."""
    size = random.choice(EXTREMES) & (2**64 - 1)
    body = struct.pack("<Q", size) + state[HEADER + SIZE :]
    return state[:22] + struct.pack("<I", zlib.crc32(body)) + body


WAYS = (
    flipped,
    cut_off,
    inserted,
    removed,
    other_number,
    other_number,
    other_number,
    other_number,
    other_shape,
    swapped,
    doubled,
    shuffled,
)


def _replaced(values: bytes, width: int, random: Random) -> bytes:
    width = random.choice([width, width, 4, 8])
    if len(values) < width:
        return values
    at = random.randrange(len(values) // width) * width
    (number,) = struct.unpack_from({1: "<b", 2: "<h", 4: "<i", 8: "<q"}[width], values, at)
    number = random.choice([*EXTREMES, number + 1, number - 1, -number, number + 2**32])
    new = (number & (1 << 8 * width) - 1).to_bytes(width, "little")
    return values[:at] + new + values[at + width :]


def _mixed(values: bytes, width: int, random: Random) -> bytes:
    pieces = [values[at : at + width] for at in range(0, len(values), width)]
    random.shuffle(pieces)
    return b"".join(pieces)


def _in_section(data: bytes, random: Random, change: Any) -> bytes:
    sections = _sections(data)
    filled = [at for at, (_, values) in enumerate(sections) if values]
    if not filled:
        return data
    at = random.choice(filled)
    head, values = sections[at]
    sections[at] = head, change(values, WIDTHS[head[0]] if head[0] < len(WIDTHS) else 1, random)
    return _together(sections)


def _sections(data: bytes) -> Sections:
    """None where an earlier change has left nothing that could be told apart."""
    try:
        return sections_of(data)
    except (struct.error, IndexError, OverflowError, MemoryError):
        return []


def _together(sections: Sections) -> bytes:
    return b"".join(head + values for head, values in sections)
