"""A program: print how many threads libraries use in worker processes, on each kind of executor, and in calls here."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from threadpoolctl import threadpool_info

from audit.execution.seeds import Calls, Place, Side, Stream
from audit.execution.workers import map_blocks, open_pool


def threads():
    """Return the threads of each loaded library by interface, and the environment for those to come."""
    np.linalg.inv(np.eye(100))
    counts = [(library["internal_api"], library["num_threads"]) for library in threadpool_info()]
    return counts, {name: value for name, value in os.environ.items() if name.endswith("_THREADS")}


def counted(place, **options):
    with open_pool(place, **options) as pool:
        return pool.call(threads, timeout=120)


if __name__ == "__main__":
    with ThreadPoolExecutor(1) as executor:
        found = {
            "forked": counted(Place("processes", 1)),
            "fresh": counted(Place("processes", 1), shares=True),
            "brought": counted(Place(executor)),
            "calls here": next(map_blocks(lambda group: threads(), Calls([Side(None, 5, Stream(1))]))),
            "here": threads(),
        }
    print(json.dumps(found))
