"""diffpriv_pure, low-order bits of Laplace noise."""

from __future__ import annotations

from wild.diffpriv_pure.audits import RELEASE

CHECKS = [
    RELEASE.entry(
        "laplace_noise",
        [([], [1.0])],
        'docstring of laplace_noise: "Lap(0, b) — pure ε-DP"',
        bits=True,
        query=sum,
        budget=20_000,
        tolerance=2.0,
    ),
]
