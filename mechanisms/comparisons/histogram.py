"""A histogram of 5,000 records in 1,000 cells: l1 sensitivity 1 when a record is added or removed, 1-DP at scale 1.

Implements Dwork, McSherry, Nissim & Smith (2006) and Ghosh, Roughgarden & Sundararajan (2009), as each library has it.
An output is 1,000 numbers, and libraries need 5 to 20 milliseconds for it: few outputs are drawn, and the verdicts rest
on the stated laws, with every cell of the sampler tested against them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import AddRemove, Comparison, Implementation, PrivacyClaim
from mechanisms.comparisons.noise import diffprivlib_noise, opendp_laplace, pydp_laplace
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.queries import Histogram

CELLS = 1_000
RECORDS = np.arange(5 * CELLS) % CELLS
COUNTS = Histogram(tuple(range(CELLS)))
DRAWN = 500  # outputs per dataset: half a million numbers


def real_counts(dataset: Any) -> np.ndarray:
    """The counts as floats, which decides the noise that a library adds."""
    return COUNTS(dataset).astype(float)


def _tested(name: str, mechanism: Any) -> Implementation:
    return Implementation(name=name, mechanism=mechanism, budget=DRAWN, method="exact")


COMPARISON = Comparison(
    name="histogram of 1,000 cells",
    claim=PrivacyClaim(1.0, 0.0, AddRemove(), "Dwork & Roth 2014, Theorem 3.6"),
    pairs=[(RECORDS, RECORDS[1:])],
    truth=COUNTS,
    implementations=[
        _tested("dp-audit Laplace", LaplaceMechanism(COUNTS, 1.0, 1.0)),
        _tested("dp-audit geometric", GeometricMechanism(COUNTS, 1, 1.0)),
        _tested("OpenDP make_laplace, int", opendp_laplace(COUNTS, 1.0, of_integers=True)),
        _tested("diffprivlib Geometric", diffprivlib_noise(COUNTS, "Geometric", 1.0)),
        _tested("PyDP LaplaceMechanism", pydp_laplace(real_counts, 1.0)),
    ],
    sample=800,
)
