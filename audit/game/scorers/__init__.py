"""Register the scorers that compete on the training outputs: `SCORERS` always, `SLOW_SCORERS` if those do not suffice.

A new scorer is a `Scorer` in a file of this folder, and its entry below.
"""

from audit.game.scorers.atoms import Atoms
from audit.game.scorers.base import Score, Scorer, Training
from audit.game.scorers.coordinates import Coordinates, Distances
from audit.game.scorers.flags import Flags, Votes
from audit.game.scorers.likelihood import Likelihood, stated_log_likelihood
from audit.game.scorers.released_values import ReleasedValues
from audit.game.scorers.scalars import Cells, Monotone
from audit.game.scorers.structure import STRUCTURE_SCORERS
from audit.game.scorers.vectors import Vectors

SCORERS: tuple[Scorer, ...] = (
    Likelihood(),
    Monotone(),
    Atoms(),
    Cells(),
    Distances(),
    Flags(),
    Votes(),
    ReleasedValues(),
)
SLOW_SCORERS: tuple[Scorer, ...] = (Coordinates(), Vectors(), *STRUCTURE_SCORERS)

__all__ = ["SCORERS", "SLOW_SCORERS", "Score", "Scorer", "Training", "stated_log_likelihood"]
