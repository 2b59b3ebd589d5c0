"""Reference comparisons: one claim each, on this package's mechanism, libraries, and programs in C and JavaScript.

`dp-audit compare mechanisms.comparisons` runs them. Every claim has epsilon = 1, so that errors can be compared; the
laws stated for libraries are those of their documentation. Needs the extra `libraries`; a program is left out where its
compiler or interpreter is missing. Laplace noise is that of Dwork, McSherry, Nissim & Smith (2006), noise on integers
that of Ghosh, Roughgarden & Sundararajan (2009), and randomized response that of Warner (1965), as each library has it.

    noisy count         20 among 100 records; sensitivity 1 when a record is added or removed
    noisy mean          50 records in [0, 1], their number public; sensitivity 1 / 50 when a record is replaced
    histogram           5,000 records in 1,000 cells; l1 sensitivity 1 when a record is added or removed
    randomized response the truth of one bit with probability e / (1 + e)

PyDP's BoundedMean keeps the number of records secret: it promises epsilon when one is added or removed. Replacing a
record is one of each, so that it gets epsilon = 1/2 for the same claim, by group privacy (Dwork & Roth 2014, Theorem
2.2). An output of the histogram is 1,000 numbers, and libraries need 5 to 20 milliseconds for it: few are drawn, and
the verdicts rest on the stated laws, with every cell of the sampler tested against them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from audit import AddRemove, Comparison, Implementation, Local, PrivacyClaim, Substitution
from audit.extensions.adapters import Documented, LibraryObject
from mechanisms.comparisons.libraries import (
    build_diffprivlib,
    build_opendp_response,
    build_pydp,
    diffprivlib_noise,
    opendp_laplace,
    pydp_laplace,
)
from mechanisms.comparisons.programs import laplace_count, randomized_response
from mechanisms.geometric import GeometricMechanism
from mechanisms.laplace import SOURCE, LaplaceMechanism
from mechanisms.queries import BoundedMean, Histogram, count_positive
from mechanisms.randomized_response import KeepOrResample, RandomizedResponse

CERTIFIED = 100_000  # outputs per dataset where a law is stated; the game's bound comes close to it
RESOLVED = 200_000  # where none is: the resolution must be within the tolerance
CELLS, DRAWN = 1_000, 500  # of the histogram, and its outputs per dataset: half a million numbers


def as_floats(query: Any, dataset: Any) -> Any:
    """Return an answer as floats, which decides the noise that a library adds."""
    return np.asarray(query(dataset), dtype=float)[()]


def positives(dataset: Any) -> np.ndarray:
    """Return the records that are counted."""
    return np.asarray(dataset)[np.asarray(dataset) > 0]


@dataclass(frozen=True)
class AsBits:
    """A mechanism whose outputs are brought into the form 0 or 1."""

    mechanism: Any
    own_randomness: bool = True

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.array(self.mechanism(dataset, size, rng), dtype=int)


_RECORDS, _ONES = np.arange(CELLS * 5) % CELLS, (np.arange(100) % 5 == 0).astype(int)
_UNITS = np.r_[0.0, np.linspace(0.0, 1.0, 49)]
_MEAN, _COUNTS, _WARNER = BoundedMean(0.0, 1.0), Histogram(tuple(range(CELLS))), RandomizedResponse((0, 1), 1.0)
_BINARY = LibraryObject(
    partial(build_diffprivlib, "Binary", epsilon=1.0, value0="0", value1="1"), str, method="randomise"
)
_COUNT, _WHOLE = LaplaceMechanism(count_positive, 1.0, 1.0), GeometricMechanism(count_positive, 1, 1.0)
_NOISY_MEAN = LaplaceMechanism(_MEAN, _MEAN.sensitivity(len(_UNITS)), 1.0)
_BINS, _REAL_BINS = GeometricMechanism(_COUNTS, 1, 1.0), LaplaceMechanism(partial(as_floats, _COUNTS), 1.0, 1.0)
_REAL_COUNT = LaplaceMechanism(partial(as_floats, count_positive), 1.0, 1.0)


def _claim(relation: Any, source: str = SOURCE) -> PrivacyClaim:
    return PrivacyClaim(1.0, 0.0, relation, source)


def _stated(name: str, mechanism: Any, budget: int = CERTIFIED, **settings: Any) -> Implementation:
    """Return a library's mechanism, whose law is stated."""
    return Implementation(name=name, mechanism=mechanism, budget=budget, **settings)


def _by_google(name: str, build: Any, query: Any = np.asarray, note: str = "") -> Implementation:
    """Return one of PyDP's algorithms, for which no law is documented."""
    mechanism = LibraryObject(build, query, method="quick_result", entrywise=False)
    return Implementation(name=name, mechanism=mechanism, budget=RESOLVED, note=f"{note}no law is documented")


COMPARISONS = [
    Comparison(
        name="noisy count",
        claim=_claim(AddRemove()),
        pairs=[(_ONES, _ONES[1:])],
        truth=count_positive,
        implementations=[
            Implementation(name="dp-audit Laplace", mechanism=_COUNT),
            Implementation(name="dp-audit geometric", mechanism=_WHOLE),
            _stated("OpenDP make_laplace, int", opendp_laplace(_WHOLE)),
            _stated("diffprivlib Laplace", diffprivlib_noise(_REAL_COUNT)),
            _stated("diffprivlib Geometric", diffprivlib_noise(_WHOLE)),
            _stated("PyDP LaplaceMechanism", pydp_laplace(_REAL_COUNT)),
            _by_google("PyDP Count", partial(build_pydp, "Count", epsilon=1.0, dtype="int"), positives),
            *laplace_count(_COUNT.law),
        ],
    ),
    Comparison(
        name="noisy mean",
        claim=_claim(Substitution()),
        pairs=[(_UNITS, np.r_[1.0, _UNITS[1:]])],
        truth=_MEAN,
        implementations=[
            Implementation(name="dp-audit Laplace", mechanism=_NOISY_MEAN),
            _stated("OpenDP make_laplace, float", opendp_laplace(_NOISY_MEAN)),
            _stated("diffprivlib Laplace", diffprivlib_noise(_NOISY_MEAN)),
            _stated("PyDP LaplaceMechanism", pydp_laplace(_NOISY_MEAN)),
            _by_google(
                "PyDP BoundedMean",
                partial(build_pydp, "BoundedMean", epsilon=0.5, lower_bound=0, upper_bound=1, dtype="float"),
                note="epsilon = 1/2 for add/remove, which also hides the number of records; ",
            ),
        ],
    ),
    Comparison(
        name="histogram of 1,000 cells",
        claim=_claim(AddRemove()),
        pairs=[(_RECORDS, _RECORDS[1:])],
        truth=_COUNTS,
        implementations=[
            _stated(name, mechanism, DRAWN, method="exact")
            for name, mechanism in (
                ("dp-audit Laplace", LaplaceMechanism(_COUNTS, 1.0, 1.0)),
                ("dp-audit geometric", _BINS),
                ("OpenDP make_laplace, int", opendp_laplace(_BINS)),
                ("diffprivlib Geometric", diffprivlib_noise(_BINS)),
                ("PyDP LaplaceMechanism", pydp_laplace(_REAL_BINS)),
            )
        ],
        sample=800,
    ),
    Comparison(
        name="randomized response",
        claim=_claim(Local(), "Kairouz, Bonawitz & Ramage 2016"),
        pairs=[(1, 0)],
        truth=int,
        implementations=[
            Implementation(name="dp-audit response", mechanism=_WARNER),
            Implementation(name="dp-audit keep or resample", mechanism=KeepOrResample((0, 1), 1.0)),
            _stated(
                "OpenDP response, bool",
                Documented(AsBits(LibraryObject(build_opendp_response, bool)), _WARNER.law),
                40_000,
            ),
            Implementation(name="diffprivlib Binary", mechanism=Documented(AsBits(_BINARY), _WARNER.law)),
            *randomized_response(_WARNER.law),
        ],
    ),
]
