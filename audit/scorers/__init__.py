"""Register the scorers that compete on the training outputs: `SCORERS` always, `SLOW_SCORERS` if those do not suffice.

`CONFIRMING_SCORERS` take the place of the latter where the outputs only confirm what another way of looking found.

A new scorer is a `Scorer` in a file of this folder, and its entry below.
"""

from audit.scorers.base import (
    Likelihood,
    LikelihoodRatio,
    RatioTable,
    Score,
    Scorer,
    Training,
    numeric_columns,
    stated_log_likelihood,
)
from audit.scorers.counts import CERTAIN, Atoms, Cells, Monotone, Residues, SeenValues
from audit.scorers.flags import Flags, SmoothedAtoms
from audit.scorers.rows import Coordinates, Directions, Nearness
from audit.scorers.structure import Structure
from audit.scorers.vectors import Vectors

SCORERS: tuple[Scorer, ...] = (
    *(Likelihood(), Monotone(), Atoms(), SmoothedAtoms(), Cells()),  # any output
    *(Nearness(), Directions(), Flags()),  # vectors
    *(Residues(), SeenValues()),  # numbers anywhere
)
SLOW_SCORERS: tuple[Scorer, ...] = (Coordinates(), Vectors(), Structure(Vectors()))
_LINEAR = Vectors(has_trees=False)
CONFIRMING_SCORERS: tuple[Scorer, ...] = (Coordinates(), _LINEAR, Structure(_LINEAR))  # trees want more rows

__all__ = [
    "CERTAIN", "CONFIRMING_SCORERS", "SCORERS", "SLOW_SCORERS", "LikelihoodRatio", "RatioTable", "Score", "Scorer",
    "Training", "numeric_columns", "stated_log_likelihood",
]  # fmt: skip
