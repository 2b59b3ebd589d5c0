"""A noisy mean of 50 records in [0, 1], their number public: sensitivity 1 / 50 when a record is replaced, 1-DP.

Implements Dwork, McSherry, Nissim & Smith (2006), as each library has it. PyDP's BoundedMean keeps the number of
records secret: it promises epsilon when one is added or removed. Replacing a record is one of each, so that it gets
epsilon = 1/2 for the same claim, by group privacy (Dwork & Roth 2014, Theorem 2.2).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import Comparison, Implementation, PrivacyClaim, Substitution
from audit.errors import MissingExtra
from audit.extensions.adapters import LibraryObject
from mechanisms.comparisons.noise import diffprivlib_noise, opendp_laplace, pydp_laplace
from mechanisms.laplace import LaplaceMechanism
from mechanisms.queries import BoundedMean

try:
    from pydp.algorithms.laplacian import BoundedMean as PyDPBoundedMean
except ImportError:
    raise MissingExtra.of("python-dp") from None

RECORDS = np.r_[0.0, np.linspace(0.0, 1.0, 49)]
MEAN = BoundedMean(0.0, 1.0)
SENSITIVITY = MEAN.sensitivity(len(RECORDS))
CERTIFIED = 60_000


def google_mean() -> Any:
    """PyDP's BoundedMean on [0, 1], epsilon = 1/2."""
    return PyDPBoundedMean(epsilon=0.5, lower_bound=0, upper_bound=1, dtype="float")


COMPARISON = Comparison(
    name="noisy mean",
    claim=PrivacyClaim(1.0, 0.0, Substitution(), "Dwork & Roth 2014, Theorem 3.6"),
    pairs=[(RECORDS, np.r_[1.0, RECORDS[1:]])],
    truth=MEAN,
    implementations=[
        Implementation(name="dp-audit Laplace", mechanism=LaplaceMechanism(MEAN, SENSITIVITY, 1.0)),
        Implementation(
            name="OpenDP make_laplace, float",
            mechanism=opendp_laplace(MEAN, SENSITIVITY, of_integers=False),
            budget=CERTIFIED,
        ),
        Implementation(
            name="diffprivlib Laplace",
            mechanism=diffprivlib_noise(MEAN, "Laplace", 1.0, SENSITIVITY),
            budget=CERTIFIED,
        ),
        Implementation(name="PyDP LaplaceMechanism", mechanism=pydp_laplace(MEAN, 1.0, SENSITIVITY), budget=CERTIFIED),
        Implementation(
            name="PyDP BoundedMean",
            mechanism=LibraryObject(google_mean, method="quick_result", entrywise=False),
            budget=200_000,
            note="epsilon = 1/2 for add/remove, which also hides the number of records; no law is documented",
        ),
    ],
)
