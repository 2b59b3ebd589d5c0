"""The scorers that compete on the training outputs: `SCORERS` always, `LAST_RESORT` where those do not suffice."""

from audit.empirical.scorers.atoms import Atoms
from audit.empirical.scorers.base import Score, Scorer, Training
from audit.empirical.scorers.cells import Cells
from audit.empirical.scorers.coordinates import Coordinates
from audit.empirical.scorers.distances import Distances
from audit.empirical.scorers.likelihood import Likelihood, stated_log_likelihood
from audit.empirical.scorers.monotone import Monotone
from audit.empirical.scorers.patterns import Flags, Votes
from audit.empirical.scorers.releases import Releases
from audit.empirical.scorers.structure import STRUCTURE_SCORERS
from audit.empirical.scorers.vectors import Vectors

SCORERS: tuple[Scorer, ...] = (
    Likelihood(),
    Monotone(),
    Atoms(),
    Cells(),
    Distances(),
    Flags(),
    Votes(),
    Releases(),
)
LAST_RESORT: tuple[Scorer, ...] = (Coordinates(), Vectors(), *STRUCTURE_SCORERS)

__all__ = ["LAST_RESORT", "SCORERS", "Score", "Scorer", "Training", "stated_log_likelihood"]
