"""Score the bits of floating-point outputs: rounding may show an answer that the noise should hide.

`FINE_SCORERS` compete in every privacy audit where few training outputs show fine structure that differs. `bit_scorers`
are those of the precision audit, which also guess the two exact answers and the scale of the noise. All only choose
events, which the guess game certifies: a wrong guess costs power, never validity.
"""

from audit.scorers import FineScorer
from audit.scorers.float_bits.combs import Combs
from audit.scorers.float_bits.patterns import bit_scorers
from audit.scorers.float_bits.screened import FINE_PATTERNS
from audit.scorers.float_bits.seeds import SeedScorer
from audit.scorers.float_bits.support import SeenValueScorer

FINE_SCORERS: tuple[FineScorer, ...] = (Combs("residues"), *FINE_PATTERNS, SeenValueScorer(), SeedScorer())

__all__ = ["FINE_SCORERS", "bit_scorers"]
