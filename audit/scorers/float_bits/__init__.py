"""Score the bits of floating-point outputs: rounding may show an answer that the noise should hide.

`bit_scorers` compete where floating point is audited (`floats="audit"` and the precision audit), and guess the two
exact answers and the scale of the noise. All only choose events, which the guess game certifies: a wrong guess costs
power, never validity.
"""

from audit.scorers.float_bits.patterns import bit_scorers

__all__ = ["bit_scorers"]
