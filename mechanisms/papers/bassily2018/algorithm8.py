"""Algorithm 8, the private classifier: one soft-label query, by two partitions of [0, 1].

Section 5 of Bassily, Thakurta & Thakkar (2018), Definitions 5.1 to 5.3:

    U = scores of the teachers at x
    histogram of U on [0, tau], (tau, 2 tau], ...; if stable: answer the mid-point of the fullest bin
    draw a new noisy threshold
    histogram of U on the partition shifted by tau / 2; if stable: answer the mid-point of its fullest bin
    answer BOTTOM

"Stable" is a test of sparse vector (`algorithm3`), with fresh noise each time. An answer is a multiple of tau / 2: odd
multiples are mid-points of the first partition, even ones of the second, so that it shows which test passed. Codes are
these multiples.

Readings: the two half bins at the ends of the shifted partition are a class that cannot win; a histogram with a single
bin has an infinite distance. Departure: the distance is `safe`.
"""

from typing import Any

import numpy as np

from audit.errors import InvalidArgument
from mechanisms.papers.bassily2018.algorithm2 import BOTTOM
from mechanisms.papers.bassily2018.algorithm3 import NO_ANSWER
from mechanisms.parts.sparse_vector import TOP, Runs
from mechanisms.parts.vote import safe_distance, winner
from mechanisms.queries import held

Test = tuple[Any, Any]  # codes and distances, a number or an array for each query or run


def histograms(scores: Any, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Count scores in the bins of both partitions; shapes (m, bins) and (m, bins - 1), half bins left out.

    Parameters
    ----------
    scores : array, shape (teachers, m), entries in [0, 1]
    bins : int >= 1
        1 / tau.
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or not (np.all(table >= 0) and np.all(table <= 1)):
        raise InvalidArgument("`scores` must have shape (teachers, m) and entries in [0, 1]")  # they are private
    scaled = table * held(bins, "bins")
    first, second = np.maximum(np.ceil(scaled) - 1, 0), np.ceil(scaled - 0.5) - 1
    return _counted(first, bins), _counted(second, bins - 1)


def _counted(cells: np.ndarray, bins: int) -> np.ndarray:
    """Count entries 0, ..., bins - 1 of each column; others are not counted."""
    columns = cells.shape[1]
    inside = (cells >= 0) & (cells < bins)
    places = (cells + bins * np.arange(columns))[inside].astype(np.int64)
    return np.bincount(places, minlength=columns * bins).reshape(columns, bins)


def both_tests(scores: Any, bins: int) -> tuple[Test, Test]:
    """Return codes and distances of the first and of the shifted partition, shape (m,) each."""
    # With one bin the first test always passes, and nothing asks the second.
    plain, shifted = histograms(scores, bins)
    first = (2 * winner(plain) + 1, safe_distance(plain))
    return first, (2 * winner(shifted) + 2, safe_distance(shifted)) if bins > 1 else first


def classify(runs: Runs, first: Test, second: Test) -> np.ndarray:
    """Answer one query in all runs, shape (runs,): a code, BOTTOM, or NO_ANSWER where the counter is beyond 2 T."""
    # A test that fails is paid for and draws a new noisy threshold: an answer from the second partition adds 1 to the
    # counter, BOTTOM adds 2.
    size = runs.paid.size
    (plain, near), (shifted, far) = ([np.broadcast_to(part, size) for part in test] for test in (first, second))
    output = np.full(size, NO_ANSWER)
    asked = np.flatnonzero(runs.paid <= runs.noise.epochs - 2)
    output[asked] = plain[asked]
    again = asked[runs.ask(near[asked, None], asked)[:, 0] != TOP]
    passed = runs.ask(far[again, None], again)[:, 0] == TOP
    output[again] = np.where(passed, shifted[again], BOTTOM)
    return output
