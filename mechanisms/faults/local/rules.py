"""Classifiers that keep epsilon and lose what the theorems promise; and one that keeps the accuracy and loses epsilon.

Each is evaluated without simulation noise, on the settings of `mechanisms.local`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import ConsistencyCheck, LowerBoundCheck, RateCheck, Verdict
from mechanisms.local.consistency import THEOREM as CONSISTENCY
from mechanisms.local.consistency import distribution_named, weighted_risk
from mechanisms.local.lower_bound import FAMILIES, SIZES, OnFamily, support
from mechanisms.local.lower_bound import THEOREM as LOWER
from mechanisms.local.rates import MARGIN, ExcessOf
from mechanisms.local.rates import THEOREM as RATE
from mechanisms.local.settings import SETTINGS, Setting

UP_TO = tuple(10**k for k in range(3, 10))


@dataclass(frozen=True)
class NoHalf:
    """T = W - U, the factor 1/2 forgotten: predicts 1 only where eta = 1.

    True privacy: that of the arrays. Broken: consistency; excess 0.2546 on `smooth`, that of predicting 0 always.
    """

    name: str

    def __call__(self, n: int) -> float:
        return weighted_risk(self.name, n, label_weight=1.0, bit_weight=-1.0, signed_labels=False)


@dataclass(frozen=True)
class SignLabels:
    """Labels in {-1, 1} under the formula for {0, 1}: E T is the integral of 2 eta - 3/2, the rule decides at 3/4.

    True privacy: that of the arrays. Broken: consistency; excess 0.0559 on `smooth`.
    """

    name: str

    def __call__(self, n: int) -> float:
        return weighted_risk(self.name, n, label_weight=1.0, bit_weight=-0.5, signed_labels=True)


@dataclass(frozen=True)
class PowerBandwidth:
    """The classifier with h = n^-exponent, rounded to 1 / (2 K), in a setting.

    With 1 / (2 beta + d), the bandwidth of the classifier without privacy, n eps^2 h^(2d) grows for d = 1 only: the
    exponent is 1/3 in place of 1/2 for d = 1, and the excess stands still near a coin flip's for d = 2 and 3. With half
    the right exponent, 1 / (4 (beta + d)), cells are too wide: d = 1 shows 1/4.
    """

    setting: Setting
    exponent: float

    def __call__(self, n: int) -> float:
        return self.setting.excess(n, 1.0, max(1, round(0.5 * n**self.exponent)))


def _consistency_check(name: str, evaluator: Any, statement: str, expected: Verdict = Verdict.FAIL) -> ConsistencyCheck:
    return ConsistencyCheck(
        name=name,
        source=CONSISTENCY,
        statement=statement,
        evaluator=evaluator,
        bayes_risk=distribution_named("smooth").bayes_risk,
        tolerance=0.01,
        sizes=UP_TO,
        expected=expected,
    )


def _rate_check(name: str, setting: Setting, evaluator: Any, sizes: list[int], statement: str) -> RateCheck:
    return RateCheck(
        name=f"fault/local {name}",
        source=RATE,
        statement=statement,
        evaluator=evaluator,
        sizes=sizes,
        exponent=setting.exponent,
        margin=MARGIN,
        constant=setting.constant(1.0),
        constant_margin=0.02,
        expected=Verdict.FAIL,
    )


def _bandwidth_check(name: str, where: str, exponent: float, half_cells: tuple[int, ...]) -> RateCheck:
    setting = SETTINGS[where]
    sizes = [round((2.0 * side) ** (1 / exponent)) for side in half_cells]
    statement = f"h = n^-{exponent:.3g} gives the rate n^-{setting.exponent:.3g}; false."
    return _rate_check(f"{name} {where}", setting, PowerBandwidth(setting, exponent), sizes, statement)


def _noise_check(where: str, factor: float, half_cells: tuple[int, ...]) -> RateCheck:
    """Noise of scale 2 * 4^d / eps, the square of 2^d: the exponent stays, the constant is too large."""
    setting = SETTINGS[where]
    sizes = [round(setting.users(side)) for side in half_cells]
    statement = f"Noise of scale 2 * 4^{setting.dim} / eps keeps the constant; false: {factor:g} times the noise."
    return _rate_check(f"noise 4^d {where}", setting, ExcessOf(setting, factor=factor), sizes, statement)


def majority_losses(family: str, users: int, replicates: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the excess of the majority vote on the balls of a least favorable family."""
    return FAMILIES[family](users).draw_majority_excess(replicates, rng)


_POWERS = (16, 32, 64, 128, 256)
_LATE = (64, 128, 256, 512, 1024)
_WIDE = (128, 256, 512, 1024, 2048)

CHECKS: list[ConsistencyCheck | RateCheck | LowerBoundCheck] = [
    _consistency_check("fault/local no half", NoHalf("smooth"), "T = W - U is consistent; false."),
    _consistency_check("fault/local sign labels", SignLabels("smooth"), "T = W - U/2 with labels +-1; false."),
    *(
        _bandwidth_check("bandwidth without privacy", where, 1 / (2 * SETTINGS[where].smoothness + dim), sides)
        for where, dim, sides in (("d=1 s=1", 1, _LATE), ("d=2 s=1", 2, _POWERS), ("d=3 s=1", 3, _POWERS))
    ),
    _bandwidth_check("bandwidth too wide", "d=1 s=1", 1 / 8, _POWERS),
    _bandwidth_check("bandwidth too wide", "d=2 s=1", 1 / 12, _POWERS),
    _noise_check("d=1 s=1", 2.0, _WIDE),
    _noise_check("d=2 s=1", 4.0, _WIDE),
    _noise_check("d=3 s=1", 8.0, _WIDE),
    *(
        LowerBoundCheck(
            name=f"fault/local majority vote passed off as private {family}",
            source=LOWER,
            statement="Majority vote on the balls keeps the bound for private rules; false: it is not private.",
            evaluator=OnFamily(family, "majority_excess"),
            bound=OnFamily(family, "lower_bound"),
            sizes=SIZES[family],
            expected=Verdict.FAIL,
        )
        for family in FAMILIES
    ),
    LowerBoundCheck(
        name="fault/local a hundredth of the noise, by its accuracy",
        source=LOWER,
        statement="A hundredth of the noise keeps the bound for eps; false: each user has 100 eps.",
        evaluator=OnFamily("d=1 gamma=0", "private_excess", (0.01,)),
        bound=OnFamily("d=1 gamma=0", "lower_bound"),
        sizes=(10**6, 10**8, 10**10),
        expected=Verdict.FAIL,
    ),
    LowerBoundCheck(
        name="fault/local majority vote passed off as private, simulated",
        source=LOWER,
        statement="Majority vote on the balls keeps the bound for private rules; false: it is not private.",
        losses=partial(majority_losses, "d=1 gamma=0"),
        support=partial(support, "d=1 gamma=0"),
        bound=OnFamily("d=1 gamma=0", "lower_bound"),
        sizes=(10**6, 10**8),
        budget=6_000,
        expected=Verdict.FAIL,
    ),
]
