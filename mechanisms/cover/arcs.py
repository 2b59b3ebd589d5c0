"""Examples 2 and 3 on the circle: A1 where the points lie in two opposite arcs, at the sample size of Theorem 8.

From Chaudhuri & Hsu (2011), Section 4.3, with n = 2: a band |u . x| <= w around the equator is a pair of opposite arcs
of half-width asin(w), and two caps |u . x| > w are one of half-width acos(w). The smoothness is pi / (2 half-width),
exactly, in place of the bounds of Lemmas 20 and 21. The target's boundary runs through the middle of the arcs, half-way
between two boundaries of the cover that kappa = 1 would give: without kappa no hypothesis of the cover cuts the arcs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from audit import GuaranteeCheck, Labeled, Verdict
from mechanisms.cover.sample_sizes import agnostic_size
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.cover.thresholds import FloatArray

CIRCLE = LinearSeparatorClass(2)
EPSILON, ACCURACY, BETA = 0.5, 0.3, 0.1
_FINE = 20_001  # points of one arc on which the error of a hypothesis is integrated


@dataclass(frozen=True)
class ArcTrials:
    """Test whether A1 comes within `ACCURACY` on m points of two opposite arcs, labels without noise.

    Parameters
    ----------
    half : float in (0, pi / 2]
        Half-width of the arcs.
    smoothness : float >= 1, optional
        kappa that the cover is made for; the true one unless given.
    """

    half: float
    smoothness: float | None = None

    @property
    def true_smoothness(self) -> float:
        """kappa: the circle over the arcs."""
        return math.pi / (2 * self.half)

    @property
    def m(self) -> int:
        """Sample size of Theorem 8 for the true kappa."""
        return agnostic_size(EPSILON, ACCURACY, BETA, math.log(self.true_smoothness))

    @property
    def target(self) -> FloatArray:
        """Normal of the target, half-way between two normals of the cover for kappa = 1."""
        turn = math.pi / CIRCLE.cover_size(ACCURACY / 4)
        return np.array([math.cos(turn), math.sin(turn)])

    def points(self, offsets: FloatArray, sides: FloatArray) -> FloatArray:
        """Return the points at offsets in [-1, 1], as parts of the half-width, on the arc of a side, -1 or 1."""
        w, along = self.target, np.array([-self.target[1], self.target[0]])
        angle = offsets * self.half
        return np.asarray(sides[:, None] * np.cos(angle)[:, None] * along + np.sin(angle)[:, None] * w)

    def draw(self, rng: np.random.Generator) -> Labeled:
        """Draw m examples."""
        x = self.points(rng.uniform(-1, 1, self.m), rng.choice([-1.0, 1.0], self.m))
        return Labeled(x, np.where(x @ self.target >= 0, 1, -1))

    def errors(self, cover: FloatArray) -> FloatArray:
        """Return the error of each hypothesis, by symmetry that on one arc."""
        x = self.points(np.linspace(-1, 1, _FINE), np.ones(_FINE))
        return np.asarray(np.mean((cover @ x.T >= 0) != (x @ self.target >= 0)[None, :], axis=1))

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        cover = CIRCLE.packing_cover(ACCURACY / (4 * (self.smoothness or self.true_smoothness)))
        bad = self.errors(cover) > ACCURACY
        draws = (softmax(-EPSILON / 2 * CIRCLE.mistakes(cover, self.draw(rng))) for _ in range(replicates))
        return np.asarray([rng.random() >= chances[bad].sum() for chances in draws])


def _check(example: str, where: str, trials: ArcTrials) -> GuaranteeCheck:
    ignored = trials.smoothness is not None
    said = f"A1 errs by at most {ACCURACY:g} on points in {where}, with probability 0.9, from m = {trials.m} on."
    return GuaranteeCheck(
        name=f"cover/accuracy of A1 in {where}{', kappa ignored' if ignored else ''} m={trials.m}",
        source=f"Chaudhuri & Hsu 2011, {example}",
        statement=f"{said} This is false with a cover for kappa = 1." if ignored else said,
        trials=trials,
        beta=BETA,
        slack=0.1,
        budget=100,
        expected=Verdict.FAIL if ignored else Verdict.PASS,
    )


BAND, CAPS = math.asin(0.1), math.acos(0.9)

CHECKS: list[GuaranteeCheck] = [
    _check("Example 2", "a band", ArcTrials(BAND)),
    _check("Example 3", "two caps", ArcTrials(CAPS)),
    _check("Example 2", "a band", ArcTrials(BAND, smoothness=1.0)),
]
