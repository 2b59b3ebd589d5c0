"""Learners that converge to the Bayes risk under differential privacy, and the claims made about them.

Bousquet, Kaplan, Kontorovich, Mansour, Moran, Sadigurschi & Stemmer (2022), Differentially-Private Bayes Consistency:
the stability histogram, the cube classifier and density estimator, their Voronoi versions in metric spaces, and the
semi-private and semi-supervised learners. `CHECKS` is gathered from the modules of this package.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
