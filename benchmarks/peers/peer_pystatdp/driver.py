"""Ask pystatdp's `detect_counterexample` about recorded outputs; it tests pure differential privacy."""

from __future__ import annotations

import numpy as np
from pystatdp import pystatdp

# The defaults are 100,000 outputs to select an event and 500,000 to test it; the ratio is kept. An event is refuted at
# the line that the tool draws in its plots.
SELECTION = 1 / 6
LINE = 0.05
LEFT, RIGHT = np.array([0]), np.array([1])
_outputs: dict[int, list] = {}
_place = {0: 0, 1: 0}


def replay(queries, epsilon):
    """Return the next recorded output of a dataset: pystatdp calls a mechanism once for each output."""
    side = int(queries[0])
    _place[side] += 1
    return _outputs[side][(_place[side] - 1) % len(_outputs[side])]


def verdict(left, right, epsilon, delta):
    """Return whether the claim is refuted, with the p-value; None where the tool does not apply."""
    if delta > 0:
        return None, "tests pure differential privacy only"
    for side, values in ((0, left), (1, right)):
        _outputs[side] = list(values) if values.ndim == 1 else [tuple(row) for row in values]
        _place[side] = 0
    # each stage calls the mechanism once more, to see the type of an output
    selection = round(SELECTION * len(left)) - 1
    [(_, p, *_)] = pystatdp().detect_counterexample(
        replay,
        epsilon,
        {"epsilon": epsilon},
        databases=(LEFT, RIGHT),
        event_iterations=selection,
        detect_iterations=len(left) - selection - 2,
        cores=1,
        quiet=True,
    )
    return bool(p < LINE), f"p = {p:.3g}"
