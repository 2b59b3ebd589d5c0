"""Sparse vector, paid below the threshold, with too little noise or with more released than the flags.

The reference point is the printed noise at (1, 1e-6), T = 10, m = 1000: lam = 68.14, w = 2918.5. Faults that do not
exceed the claim there, since the printed constants leave room, are convicted on one epoch at lam = 1, which is
(2, 0)-DP when right. The faults of `mechanisms.faults.sparse_vector` at lam = 1 complete these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution, Verdict
from audit.laws import Finite, Laplace, Product
from mechanisms.quadrature import laplace_cdf, laplace_density
from mechanisms.queries import vector_answer
from mechanisms.stability.bounds import release_probability
from mechanisms.stability.calibration import Calibration, printed
from mechanisms.stability.epochs import EPOCH, LEVELS, MOVES, RUN, SIDES, Levels, StoppingTimes, around

BUDGET = 200_000
REFERENCE = printed(1.0, 1e-6, 10, 1000)
ONE_EPOCH = Calibration(1.0, 20.0, 1)


@dataclass(frozen=True)
class QueryNoiseTooSmall(StoppingTimes):
    """Query noise of scale lam instead of 2 lam.

    True privacy: one epoch is (3 / lam, 0)-DP. Hidden at the reference point, where the run is at most
    (0.483, 1e-6)-DP; on one epoch, ten queries that fall and one that rises, 0.0730 against 0.0046: 2.77 for 2.
    """

    query_scale: float = 1.0


@dataclass(frozen=True)
class NoQueryNoise(StoppingTimes):
    """Only the threshold is noisy.

    True privacy: no finite epsilon; delta is (1 - e^(-1 / lam)) / 2 at every epsilon: 0.0073 at the reference point.
    """

    query_scale: float = 0.0


@dataclass(frozen=True)
class OneQueryNoise(StoppingTimes):
    """One draw of the query noise serves all queries of an epoch.

    True privacy: no finite epsilon; delta is about 1 / (6 lam) at every epsilon: 0.0024 at the reference point.
    """

    def epoch_law(self, dataset: Any) -> Finite:
        """Law of one stopping time: the first level that the one margin reaches."""
        lowest = np.minimum.accumulate(self.levels(dataset))
        still = [1.0, *(1 - release_probability(level, 1.0) for level in lowest)]
        return Finite(dict(enumerate([*-np.diff(still), still[-1]])))

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        levels, shape = self.levels(dataset), (size, self.epochs)
        margin = rng.laplace(size=shape) - rng.laplace(scale=self.query_scale, size=shape)
        falls = levels <= margin[..., None]
        return np.where(falls.any(axis=-1), falls.argmax(axis=-1), levels.size)


@dataclass(frozen=True)
class CutoffOff(StoppingTimes):
    """Never stops: as many epochs as there are queries to pay for.

    True privacy: no finite epsilon in the end; mu-Gaussian in the limit, mu^2 = 0.339 / lam^2 a BOTTOM. At the printed
    noise for T = 1 (lam = 21.55) epsilon = 1 at delta = 1e-6 is passed near 77 BOTTOMs; 150 of them give at least 1.42.
    With the noise for T = 10 it takes 770, so that an audit of 100 BOTTOMs would find 0.34.
    """


@dataclass(frozen=True)
class ValueOnTop:
    """Releases distance plus noise with each TOP.

    True privacy: mu-Gaussian in the limit, m releases of Laplace noise of scale 2 lam: no finite epsilon as m grows; at
    the reference point 0.281, 0.976, 3.44 for m = 100, 1000, 10,000 at delta = 1e-6; 3.43 for m = 1000 with the printed
    noise for T = 1, as in the check.
    """

    queries: Levels
    lam: float

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers = vector_answer(self.queries, dataset)
        return answers + rng.laplace(scale=2 * self.lam, size=(size, answers.size))

    def law(self, dataset: Any) -> Product:
        """Law of the released values, all of them far above the threshold."""
        return Product(tuple(Laplace(float(answer), 2 * self.lam) for answer in vector_answer(self.queries, dataset)))


@dataclass(frozen=True)
class ValueOnBottom(StoppingTimes):
    """Releases distance plus noise with the BOTTOM, the noise of the test itself; as 1000 times the index, plus it.

    True privacy: no finite epsilon; the loss reaches (m - 1) / (2 lam) and 7.3 at the reference point for m = 1000.
    Hidden there in (epsilon, delta): one epoch has delta(0.1) = 1.3e-8. Here one epoch of 11 queries at lam = 1 that is
    claimed (2, 0): a high value says that the threshold was higher, which ten TOPs before it make unlikely.
    """

    law = None  # type: ignore[assignment]  # outputs carry a value

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        levels, threshold = self.levels(dataset), rng.laplace(size=(size, 1))
        noisy = levels + rng.laplace(scale=self.query_scale, size=(size, levels.size))
        falls = noisy <= threshold
        stop = np.where(falls.any(axis=1), falls.argmax(axis=1), levels.size)
        value = np.take_along_axis(noisy, np.minimum(stop, levels.size - 1)[:, None], axis=1)[:, 0]
        return np.where(stop < levels.size, 1000.0 * stop + value, -1000.0)

    def log_likelihood(self, dataset: Any, outputs: np.ndarray) -> np.ndarray:
        """Log-density of each output, on a grid of threshold noise: good enough to choose an event by."""
        levels, grid = self.levels(dataset), np.linspace(-40.0, 40.0, 16_001)
        stops = np.floor((outputs + 500) / 1000).astype(int)
        density = np.empty(outputs.shape)
        running = laplace_density(grid) * (grid[1] - grid[0])
        for j, level in enumerate(levels):
            here = stops == j
            value = outputs[here] - 1000 * j
            lower = np.interp(value, grid, np.cumsum(running[::-1])[::-1])  # the threshold was at least the value
            density[here] = laplace_density((value - level) / self.query_scale) * lower
            running = running * laplace_cdf((level - grid) / self.query_scale)
        density[stops < 0] = running.sum()
        return np.log(np.maximum(density, 1e-300))


def fault_check(
    name: str, mechanism: Any, claimed: tuple[float, float], pairs: Any = (SIDES,), source: str = RUN, **settings: Any
) -> PrivacyCheck:
    """Return a check of a fault that expects conviction, under substitution."""
    return PrivacyCheck(
        name=f"fault/stability {name}",
        mechanism=mechanism,
        claim=PrivacyClaim(*claimed, Substitution(), f"claimed after {source}"),
        pairs=pairs,
        expected=Verdict.FAIL,
        **{"budget": 20_000, **settings},
    )


def _late(prefix: int) -> Levels:
    """Prefix queries that fall around w + 1/2, a last one that rises around w."""
    return around(20.0, 1.0, np.r_[np.full(prefix, 0.5), 0.0], np.r_[np.full(prefix, 0.5), -0.5])


def _epoch(kind: type[StoppingTimes], queries: Levels) -> StoppingTimes:
    return kind(queries, ONE_EPOCH.threshold, ONE_EPOCH.lam)


def _run(kind: type[StoppingTimes], queries: Levels) -> StoppingTimes:
    return kind(queries, REFERENCE.threshold, REFERENCE.lam)


_SWAPPED = Levels((2919.0, 2918.0), (2918.0, 2919.0))
_UNLIMITED = printed(1.0, 1e-6, 1, 1000)
_MANY = around(_UNLIMITED.threshold, _UNLIMITED.lam, LEVELS, MOVES)
_FAR = Levels((5000.0,) * 1000, (5001.0,) * 1000)

CHECKS: list[PrivacyCheck] = [
    fault_check(
        "query noise too small lam=1", _epoch(QueryNoiseTooSmall, _late(10)), (2.0, 0.0), source=EPOCH, method="fixed"
    ),
    fault_check("no query noise, printed", _run(NoQueryNoise, _SWAPPED), (1.0, 1e-6), budget=50_000, method="fixed"),
    fault_check("no query noise, by its law", _run(NoQueryNoise, _SWAPPED), (1.0, 1e-6), method="exact"),
    fault_check("one query noise, printed", _run(OneQueryNoise, _SWAPPED), (1.0, 1e-6), budget=50_000, method="fixed"),
    fault_check(
        "cutoff off, 150 epochs",
        CutoffOff(_MANY, _UNLIMITED.threshold, _UNLIMITED.lam, 150),
        (1.0, 1e-6),
        budget=1_000,
        method="exact",
    ),
    fault_check("value on top m=1000", ValueOnTop(_FAR, _UNLIMITED.lam), (1.0, 1e-6), budget=10_000, method="fixed"),
    fault_check("value on bottom lam=1", _epoch(ValueOnBottom, _late(10)), (2.0, 0.0), source=EPOCH, budget=BUDGET),
]
