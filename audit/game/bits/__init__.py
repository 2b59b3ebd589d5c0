"""Score the bits of floating-point outputs: rounding may show an answer that the noise should hide.

`PATTERN_SCORERS` need nothing but outputs; `bit_scorers(epsilon)` adds those that guess the two exact answers and the
scale of the noise. They only choose events, which the guess game certifies: a wrong guess costs power, never validity.
"""

from typing import Any

from audit.game.bits.patterns import PATTERN_SCORERS, Grids
from audit.game.bits.reachability import InverseCdf, RoundTrips
from audit.game.scorers import Scorer


def bit_scorers(epsilon: float, query: Any = None) -> tuple[Scorer, ...]:
    """Return the scorers of the precision audit.

    `epsilon`, to which the noise is said to be calibrated, helps to guess its scale. `query(dataset)` is the exact
    answer, where the caller knows it; else simple statistics are tried.
    """
    return (*PATTERN_SCORERS, Grids(query), RoundTrips(query), InverseCdf(epsilon, query))
