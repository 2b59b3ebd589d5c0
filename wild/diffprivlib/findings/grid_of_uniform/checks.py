"""diffprivlib, low-order bits of uniform noise."""

from __future__ import annotations

from hypothesis import strategies as st

from wild.diffprivlib.searches import SCALE, noise_search

CHECKS = [
    noise_search("Uniform", "Privacy parameter delta for the mechanism", delta=st.floats(0.01, 0.5), sensitivity=SCALE),
]
