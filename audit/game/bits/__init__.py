"""Score the bits of floating-point outputs: rounding may show an answer that the noise should hide.

`FINE_SCORERS` compete in every privacy audit where few training outputs show fine structure that differs. `bit_scorers`
are those of the precision audit, which also guess the two exact answers and the scale of the noise. All only choose
events, which the guess game certifies: a wrong guess costs power, never validity.
"""

from audit.game.bits.combs import Combs
from audit.game.bits.patterns import bit_scorers
from audit.game.bits.screened import FINE_PATTERNS
from audit.game.bits.seeds import SeedScorer
from audit.game.bits.support import SeenValueScorer
from audit.game.scorers import FineScorer

FINE_SCORERS: tuple[FineScorer, ...] = (Combs("residues"), *FINE_PATTERNS, SeenValueScorer(), SeedScorer())

__all__ = ["FINE_SCORERS", "bit_scorers"]
