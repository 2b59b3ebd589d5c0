"""diffpriv_laplace, the sanitizer spends the whole budget on each count."""

from __future__ import annotations

from wild.diffpriv_laplace.audits import RELEASE, REPLACED

CHECKS = [
    RELEASE.entry(
        "sanitizer",
        [([0.1, 0.1, 0.9], [0.1, 0.9, 0.9])],
        'docstring of DiffPrivLaplaceSanitizer.count: "applying parallel composition on each"',
        relation=REPLACED,
        budget=100_000,
    ),
]
