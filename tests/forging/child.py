"""A process that takes forged states one by one: `python -m forging.child SEED FIRST LAST`.

Before each case it writes the case's number, and after it what came of it, so that whoever reads along knows
which case a signal, a hang or too much memory belongs to.
"""

from __future__ import annotations

import faulthandler
import resource
import sys
import traceback
from random import Random

import numpy as np
import pyarrow as pa

from forging.forge import forged
from forging.targets import targets
from situ.errors import SituError, StateError

ROOM = 1 << 30  # bytes of address space beyond what the process has when it begins


def main(seed: int, first: int, last: int, only: str = "") -> None:
    faulthandler.enable()
    np.seterr(all="ignore")
    every = [target for target in targets() if only in target.name]
    for target in every:
        target.go_on(target.states)  # untouched state is fine, and everything is compiled
    pa.set_memory_pool(pa.system_memory_pool())
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + ROOM, hard))
    print("ready", flush=True)
    for case in range(first, last):
        random = Random(f"{seed}/{case}")
        target = every[case % len(every)]
        print(f"case {case} {target.name}", flush=True)
        try:
            target.go_on(forged(target.states, random))
            print("taken", flush=True)
        except StateError:
            print("refused", flush=True)
        except SituError as error:
            print(f"error {type(error).__name__}", flush=True)
        except BaseException:
            said = traceback.format_exc().replace("\n", " | ")
            print(f"foreign {said}", flush=True)


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:])
