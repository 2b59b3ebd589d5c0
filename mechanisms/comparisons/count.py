"""A noisy count of 20 among 100 records: sensitivity 1 when a record is added or removed, 1-DP at scale 1.

Implements Dwork, McSherry, Nissim & Smith (2006) for continuous noise and Ghosh, Roughgarden & Sundararajan (2009) for
integers, each as its library has it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from audit import AddRemove, Comparison, Implementation, PrivacyClaim
from audit.errors import MissingExtra
from audit.extensions.adapters import LibraryObject
from mechanisms.comparisons.noise import NoisyAnswer, diffprivlib_noise, opendp_laplace, pydp_laplace
from mechanisms.comparisons.programs import laplace_count
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.queries import count_positive

try:
    from pydp.algorithms.laplacian import Count
except ImportError:
    raise MissingExtra.of("python-dp") from None

RECORDS = (np.arange(100) % 5 == 0).astype(int)
CERTIFIED = 100_000  # outputs per dataset where a law is stated; the game's bound comes close to it
RESOLVED = 200_000  # where none is: the resolution must be within the tolerance


def real_count(dataset: Any) -> float:
    """The count as a float, which decides the noise that a library adds."""
    return float(count_positive(dataset))


def positives(dataset: Any) -> np.ndarray:
    """The records that are counted."""
    return np.asarray(dataset)[np.asarray(dataset) > 0]


def google_count() -> Any:
    """PyDP's Count of integers, epsilon = 1."""
    return Count(epsilon=1.0, dtype="int")


COMPARISON = Comparison(
    name="noisy count",
    claim=PrivacyClaim(1.0, 0.0, AddRemove(), "Dwork & Roth 2014, Theorem 3.6"),
    pairs=[(RECORDS, RECORDS[1:])],
    truth=count_positive,
    implementations=[
        Implementation(name="dp-audit Laplace", mechanism=LaplaceMechanism(count_positive, 1.0, 1.0)),
        Implementation(name="dp-audit geometric", mechanism=GeometricMechanism(count_positive, 1, 1.0)),
        Implementation(
            name="OpenDP make_laplace, int",
            mechanism=opendp_laplace(count_positive, 1.0, of_integers=True),
            budget=CERTIFIED,
        ),
        Implementation(
            name="diffprivlib Laplace", mechanism=diffprivlib_noise(real_count, "Laplace", 1.0), budget=CERTIFIED
        ),
        Implementation(
            name="diffprivlib Geometric",
            mechanism=diffprivlib_noise(count_positive, "Geometric", 1.0),
            budget=CERTIFIED,
        ),
        Implementation(name="PyDP LaplaceMechanism", mechanism=pydp_laplace(real_count, 1.0), budget=CERTIFIED),
        Implementation(
            name="PyDP Count",
            mechanism=LibraryObject(google_count, positives, method="quick_result", entrywise=False),
            budget=RESOLVED,
            note="no law is documented, the audit is statistical",
        ),
        *laplace_count(NoisyAnswer(count_positive, 1.0, of_integers=False)),
    ],
)
