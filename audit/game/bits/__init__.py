"""Score the bits of floating-point outputs: rounding may show an answer that the noise should hide.

`PATTERN_SCORERS` need nothing but outputs; `bit_scorers(epsilon)` adds those that guess the two exact answers and the
scale of the noise. They only choose events, which the guess game certifies: a wrong guess costs power, never validity.
"""
