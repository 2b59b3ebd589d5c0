"""The scorers that compete on the training outputs; `SCORERS` is the registration."""

from audit.empirical.scorers.atoms import Atoms
from audit.empirical.scorers.base import Score, Scorer, Training
from audit.empirical.scorers.cells import Cells
from audit.empirical.scorers.coordinates import Coordinates
from audit.empirical.scorers.likelihood import Likelihood, stated_log_likelihood
from audit.empirical.scorers.monotone import Monotone

SCORERS: tuple[Scorer, ...] = (Likelihood(), Monotone(), Atoms(), Cells(), Coordinates())

__all__ = ["SCORERS", "Score", "Scorer", "Training", "stated_log_likelihood"]
