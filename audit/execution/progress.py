"""Count the outputs that a run has drawn so far, in this process and in all that were forked from it."""

import mmap
import os

import numpy as np

_SLOTS = 4096
_shared = np.frombuffer(mmap.mmap(-1, 8 * _SLOTS), dtype=np.int64)  # shared with forked processes, one slot for each


def count_drawn(outputs: int) -> None:
    """Add some outputs to those of this process."""
    _shared[os.getpid() % _SLOTS] += outputs


def read_drawn() -> int:
    """Return the outputs that were drawn since the package was imported."""
    return int(_shared.sum())
