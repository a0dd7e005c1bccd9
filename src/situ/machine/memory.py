"""How much memory there is to take: what the system, or the container, has left for this process."""

from __future__ import annotations

import os
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CGROUP = Path("/sys/fs/cgroup")
# a container's limit and use: of cgroups version 2, and of version 1
_LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))


def free_bytes() -> int | None:
    """Bytes that can be taken without the system having to take them from somebody; None: nobody knows."""
    found = [bytes_ for bytes_ in (_of_system(), *map(_of_group, _groups())) if bytes_ is not None]
    return max(0, min(found)) if found else None


def _of_system() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _groups() -> list[Path]:
    """Where the limits of this process's control group may stand, seen from inside of a container or not."""
    places = [_CGROUP, _CGROUP / "memory"]
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers in ("", "memory"):
                places.append(_CGROUP / controllers / path.lstrip("/"))
    except (OSError, ValueError):
        pass
    return places


def _of_group(folder: Path) -> int | None:
    for limit, used in _LIMITS:
        try:
            # files read before count as used, and are let go when memory is asked for
            cached = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            idle = int(cached.get("total_inactive_file", cached.get("inactive_file", 0)))
            return int((folder / limit).read_text()) - int((folder / used).read_text()) + idle
        except (OSError, ValueError):  # not there, or "max": no limit
            continue
    return None
