"""Which row of a match a navigation leads to."""

import numpy as np

from situ.compiled.jit import kernel


@kernel
def entries_of(begin, end, position, member, every, is_first, offset):
    """The `offset`-th entry from the front or back of each begin..end - 1 whose position is a member.

    -1 for none. member: bool[positions], of which `every` says that all are. Requests with one begin and
    ascending ends that follow each other are answered in one sweep. O(entries swept + requests).
    """
    if every:
        out = np.full(begin.size, -1, np.int64)
        for j in range(begin.size):
            if end[j] - begin[j] > offset:
                out[j] = begin[j] + offset if is_first else end[j] - 1 - offset
        return out
    for j in range(1, begin.size):
        if begin[j] == begin[j - 1]:
            return _swept(begin, end, position, member, is_first, offset)
    if is_first:
        return _from_the_front(begin, end, position, member, offset)
    return _from_the_back(begin, end, position, member, offset)


@kernel
def _swept(begin, end, position, member, is_first, offset):
    """Where requests share their begins: all members so far are remembered."""
    longest = 0
    for j in range(begin.size):
        longest = max(longest, end[j] - begin[j])
    chosen = np.empty(longest, np.int64)
    out = np.full(begin.size, -1, np.int64)
    count = 0
    at = 0
    for j in range(begin.size):
        if j == 0 or begin[j] != begin[j - 1] or end[j] < end[j - 1]:
            count = 0
            at = begin[j]
        while at < end[j]:
            if member[position[at]]:
                chosen[count] = at
                count += 1
            at += 1
        if count > offset:
            out[j] = chosen[offset] if is_first else chosen[count - 1 - offset]
    return out


@kernel
def _from_the_front(begin, end, position, member, offset):
    """Each request by itself, no further than the entry it asks for."""
    out = np.empty(begin.size, np.int64)
    for j in range(begin.size):
        left = offset
        at = begin[j]
        while at < end[j]:
            if member[position[at]]:
                left -= 1
                if left < 0:
                    break
            at += 1
        out[j] = at if left < 0 else -1
    return out


@kernel
def _from_the_back(begin, end, position, member, offset):
    """The same from its end."""
    out = np.empty(begin.size, np.int64)
    for j in range(begin.size):
        left = offset
        at = end[j] - 1
        while at >= begin[j]:
            if member[position[at]]:
                left -= 1
                if left < 0:
                    break
            at -= 1
        out[j] = at if left < 0 else -1
    return out


@kernel
def entries_among(position, member):
    """All entries whose position is a member."""
    n = 0
    for i in range(position.size):
        n += 1 if member[position[i]] else 0
    out = np.empty(n, np.int64)
    at = 0
    for i in range(position.size):
        if member[position[i]]:
            out[at] = i
            at += 1
    return out


@kernel
def ranks(entries, borders):
    """How many of the entries, which ascend, lie before each border; borders ascend too. O(both)."""
    out = np.empty(borders.size, np.int64)
    at = 0
    for j in range(borders.size):
        while at < entries.size and entries[at] < borders[j]:
            at += 1
        out[j] = at
    return out


@kernel
def entries_at(place, begin, end, row):
    """Which entry of each begin..end - 1 is the row at a place, -1 for none: rows of a match ascend."""
    out = np.full(place.size, -1, np.int64)
    for j in range(place.size):
        low = begin[j]
        high = end[j]
        while low < high:
            middle = (low + high) // 2
            if row[middle] < place[j]:
                low = middle + 1
            else:
                high = middle
        if low < end[j] and row[low] == place[j]:
            out[j] = low
    return out
