"""The rate of Theorem 2.4: excess ~ C n^(-beta (1 + gamma) / (2 beta + 2 d)), with the constant of its normal limit.

How not to be fooled by a finite grid: sizes are computed FROM the number of cells, so that the boundary stays on the
grid; they begin where the noisy zone kappa / max |eta - 1/2| is at most 0.1 (0.05 in the plane and in space, where
cells cut by the cube add a correction of order h; 0.2 for s = 1/2, whose margin is steep at the boundary); and the
constant must be right too, because a pre-asymptotic slope can be right by accident. On n = 100 to 10,000 the same
settings show slopes between 0.1 and -0.3, which say nothing about the theorem: those checks expect INCONCLUSIVE.

The rate of the classifier without privacy, n^(-beta (1 + gamma) / (2 beta + d)), is that of the regressogram
(Audibert & Tsybakov 2007).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audit import RateCheck, Verdict
from mechanisms.local.cells import draw_excess, expected_excess
from mechanisms.local.classifier import rate_bandwidth
from mechanisms.local.grid import Grid
from mechanisms.local.regressogram import baseline_excess
from mechanisms.local.settings import SETTINGS, Cone, Setting, Slab, margin_gap

THEOREM = "Berrett & Butucea 2019, Theorems 2.3 and 2.4"
BASELINE = "Audibert & Tsybakov 2007, Theorems 3.2 and 3.5"
MARGIN = 0.02
EARLY = (100, 300, 1_000, 3_000, 10_000)


@dataclass(frozen=True)
class ExcessOf:
    """Evaluator of the private classifier in a setting: n, users in each half -> expected excess risk.

    Parameters
    ----------
    setting : Setting
    epsilon : float > 0
    factor : float > 0
        Multiplies the scale of the noise; 1 for the mechanism.
    users_in_bandwidth : float > 0
        The bandwidth is computed from this many times n.
    """

    setting: Setting
    epsilon: float = 1.0
    factor: float = 1.0
    users_in_bandwidth: float = 1.0

    def __call__(self, n: int) -> float:
        side = self.setting.half_cells(n * self.users_in_bandwidth, self.epsilon)
        return self.setting.excess(n, self.epsilon, side, self.factor)


@dataclass(frozen=True)
class DrawnExcessOf:
    """Losses of the private classifier in a setting, by the aggregate sampler, clipped at the end of `support(n)`.

    That is E|2 eta - 1|, the excess of the worst rule, which clips nothing, or 12 times the limit of the mean. The
    excess has a deviation of 0.8 means and a light tail beyond; a support that reaches to the worst rule would leave
    bounds that are useless at a mean of 1e-5. Clipping can only lower the mean.
    """

    setting: Slab

    def support(self, n: int) -> tuple[float, float]:
        """Return the range of the clipped excess."""
        worst = 2 * self.setting.largest_margin / (self.setting.power + 1)
        return 0.0, min(worst * (1 + 1e-9), 12 * self.setting.constant(1.0) * n**-self.setting.exponent)

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
        grid = Grid(self.setting.dim, 0.5 / self.setting.half_cells(n))
        drawn = draw_excess(self.setting.distribution(), n, 1.0, grid, replicates, rng)
        return np.minimum(drawn, self.support(n)[1])


@dataclass(frozen=True)
class BaselineExcessOf:
    """Evaluator of the regressogram in a setting: N users -> expected excess risk."""

    setting: Slab

    def __call__(self, users: int) -> float:
        return baseline_excess(self.setting, users)


def gap_excess(n: int) -> float:
    """Return the expected excess for `margin_gap`: L = 1.8, density 1.5, the paper's h rounded down to 1 / (2 K)."""
    bandwidth = rate_bandwidth(n, 1.0, 1, 1.0, 1.8, 1.5)
    return expected_excess(margin_gap(), n, 1.0, Grid(1, 0.5 / math.ceil(0.5 / bandwidth)))


def asymptotic_half_cells(setting: Setting) -> tuple[int, ...]:
    """Return the K of five sizes at which the rate of a setting is to be seen, by the width of its noisy zone alone."""
    flat = setting.dim == 1 or isinstance(setting, Cone)
    widest = 0.2 if setting.smoothness < 1 else 0.1 if flat else 0.05
    first = next(2**k for k in range(1, 30) if setting.noise_zone(2**k) <= widest)
    return tuple(first * 2**k for k in range(5))


def sizes_of(setting: Setting, half_cells: tuple[int, ...], epsilon: float = 1.0, share: float = 1.0) -> list[int]:
    """Return the sizes n, users in each half, at which the paper's bandwidth from n / share users is 1 / (2 K)."""
    return [round(setting.users(side, epsilon) * share) for side in half_cells]


def _rate_check(name: str, setting: Setting, epsilon: float) -> RateCheck:
    return RateCheck(
        name=f"local/rate {name} eps={epsilon:g}",
        source=THEOREM,
        statement=f"excess ~ C n^-{setting.exponent:.4g} with the constant of its normal limit.",
        evaluator=ExcessOf(setting, epsilon),
        sizes=sizes_of(setting, asymptotic_half_cells(setting), epsilon),
        exponent=setting.exponent,
        margin=MARGIN,
        constant=setting.constant(epsilon),
        constant_margin=0.02,
    )


def early_check(name: str, setting: Setting, sizes: Sequence[int] = EARLY) -> RateCheck:
    """Return the rate claim on sizes too small to show it, with leave to look further, up to where it shows."""
    late = asymptotic_half_cells(setting)
    return RateCheck(
        name=f"local/rate {name} too early",
        source=THEOREM,
        statement=f"n = 100 to 10,000 does not show n^-{setting.exponent:.4g}, and does not refute it.",
        evaluator=ExcessOf(setting),
        sizes=sizes,
        horizon=sizes_of(setting, late)[2 if isinstance(setting, Cone) else -1],
        exponent=setting.exponent,
        margin=MARGIN,
        constant=setting.constant(1.0),
        constant_margin=0.02,
        expected=Verdict.INCONCLUSIVE,
    )


def _baseline_check(name: str, largest: int) -> RateCheck:
    setting = SETTINGS[name]
    assert isinstance(setting, Slab)
    exponent = setting.smoothness * (1 + setting.margin_exponent) / (2 * setting.smoothness + setting.dim)
    sides = [largest // 2**k for k in (4, 3, 2, 1, 0)]
    return RateCheck(
        name=f"local/rate without privacy {name}",
        source=BASELINE,
        statement=f"The regressogram's excess ~ C N^-{exponent:.4g}.",
        evaluator=BaselineExcessOf(setting),
        sizes=[round((2.0 * side) ** (2 * setting.smoothness + setting.dim)) for side in sides],
        exponent=exponent,
        margin=MARGIN,
    )


_LINE = SETTINGS["d=1 s=1"]
assert isinstance(_LINE, Slab)

CHECKS: list[RateCheck] = [
    *(_rate_check(name, setting, 1.0) for name, setting in SETTINGS.items()),
    _rate_check("d=1 s=1", _LINE, 0.1),
    _rate_check("d=2 s=2", SETTINGS["d=2 s=2"], 0.1),
    RateCheck(
        name="local/rate d=1 s=1, simulated",
        source=THEOREM,
        statement="The simulated excess ~ C n^-1/2, with the constant of its normal limit.",
        losses=DrawnExcessOf(_LINE),
        support=DrawnExcessOf(_LINE).support,
        sizes=sizes_of(_LINE, (32, 64, 128, 256)),
        exponent=_LINE.exponent,
        margin=0.05,
        constant=_LINE.constant(1.0),
        constant_margin=0.15,
        budget=16_000,
    ),
    RateCheck(
        name="local/rate d=1 s=1 too early, simulated",
        source=THEOREM,
        statement="Nor do simulated losses on n = 100 to 10,000 show n^-1/2, or refute it.",
        losses=DrawnExcessOf(_LINE),
        support=DrawnExcessOf(_LINE).support,
        sizes=EARLY,
        exponent=_LINE.exponent,
        margin=MARGIN,
        budget=40_000,
        expected=Verdict.INCONCLUSIVE,
    ),
    *(early_check(name, setting) for name, setting in SETTINGS.items()),
    *(_baseline_check(name, 1024) for name in ("d=1 s=1", "d=1 s=2", "d=1 s=1/2", "d=2 s=1", "d=2 s=1/2", "d=3 s=1")),
    RateCheck(
        name="decoy/local rate with h from all users",
        source=THEOREM,
        statement="Counting the users of both halves in h changes the constant, not the exponent.",
        evaluator=ExcessOf(_LINE, users_in_bandwidth=2.0),
        sizes=sizes_of(_LINE, asymptotic_half_cells(_LINE), share=0.5),
        exponent=_LINE.exponent,
        margin=MARGIN,
    ),
    RateCheck(
        name="local/rate with a gap in the margin",
        source=THEOREM + ", an upper bound that is not attained",
        statement="No point has |eta - 1/2| < 0.3: every power of n is beaten, here n^-3/4 of gamma = 2.",
        evaluator=gap_excess,
        sizes=(10**4, 10**5, 10**6, 10**7, 10**8),
        exponent=0.75,
        margin=MARGIN,
        sense="at_least",
    ),
    RateCheck(
        name="local/rate d=1 s=1 declared with gamma = 0",
        source=THEOREM + ", an upper bound that is not attained",
        statement="The bound for gamma = 0, n^-1/4, is kept: the excess decays like n^-1/2.",
        evaluator=ExcessOf(_LINE),
        sizes=sizes_of(_LINE, asymptotic_half_cells(_LINE)),
        exponent=0.25,
        margin=MARGIN,
        sense="at_least",
    ),
]
