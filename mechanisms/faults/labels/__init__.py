"""Broken variants of the label encoders and of training on their releases, one fault each.

`bits` breaks the vector mechanism, `responses` randomized response and its prior, `noise` the Laplace release,
`learners` what is private and no longer useful. Every check expects FAIL; every class says what the fault really gives.
"""

from __future__ import annotations

from mechanisms import gather

CHECKS = gather(list(__path__), __name__)
