"""Broken variants: each replaces the cover or the weights of an algorithm, and says what it really gives.

All release a threshold of a grid. Those under `FAULTS` are black boxes: `conceal` hides the law. `DECOYS` look broken
and are not: they keep the claim of Theorem 7, and are among the checks of the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax
from scipy.stats import laplace

from audit import AddRemove, Labeled, LabelFlip, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from audit.laws import Finite
from mechanisms.exponential import MonotoneExponentialMechanism
from mechanisms.papers.chaudhuri2011.a1 import A1, Mistakes
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.accuracy import (
    BETA,
    CONCENTRATED,
    RegionTrials,
    ThresholdProblem,
    Trials,
    region_check,
)
from mechanisms.papers.chaudhuri2011.lower_bounds import MovingExample, audit_packing
from mechanisms.papers.chaudhuri2011.privacy import first_threshold_pair, middles, moved_pair, worst_pair
from mechanisms.papers.chaudhuri2011.sample_sizes import agnostic_size, realizable_size
from mechanisms.papers.chaudhuri2011.thresholds import PAPER, THRESHOLDS, FloatArray, Pair, guarantee, state
from mechanisms.papers.chaudhuri2011.words import necessary_cases

CLAIMED = f"claimed after {PAPER}, Theorem 7"
Penalty = Callable[[float, FloatArray, Labeled], FloatArray]


def halve(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha k / 2, the right one."""
    return np.asarray(epsilon * wrong / 2)


@dataclass(frozen=True)
class Changed:
    """A threshold of a grid with probability proportional to exp(-penalty), either of which may be replaced."""

    epsilon: float
    cover: Callable[[Labeled], FloatArray]
    penalty: Penalty = halve

    def probabilities(self, dataset: Labeled) -> FloatArray:
        """Return the probability of each threshold."""
        wrong = THRESHOLDS.mistakes(self.cover(dataset), dataset)
        return np.asarray(softmax(-self.penalty(self.epsilon, wrong, dataset)))

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(rng.choice(self.cover(dataset), size=size, p=self.probabilities(dataset)))

    def law(self, dataset: Labeled) -> Finite:
        """Return the law of one output."""
        return Finite(dict(zip(self.cover(dataset).tolist(), self.probabilities(dataset).tolist(), strict=True)))


def conceal(changed: Any, dataset: Labeled, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw from a mechanism whose law is hidden: what an audit from outside sees."""
    return np.asarray(changed(dataset, size, rng))


def five(dataset: Labeled) -> FloatArray:
    """Return the public grid of five thresholds."""
    return THRESHOLDS.packing_cover(0.1)


def balance(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha m (err+ + err-) / 4: one example of a rare label weighs like half of all."""
    parts = [Labeled(dataset.X[dataset.y == label], dataset.y[dataset.y == label]) for label in (-1, 1)]
    rates = [THRESHOLDS.mistakes(five(dataset), part) / len(part) for part in parts if len(part)]
    return np.asarray(epsilon * len(dataset) * np.sum(rates, axis=0) / 4)


def shortcut(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha k / 2, or infinity for a mistake where there is a threshold without."""
    return np.where((wrong > 0) & (wrong.min() == 0), np.inf, epsilon * wrong / 2)


def fewest(epsilon: float, wrong: FloatArray, dataset: Labeled) -> FloatArray:
    """Return alpha min(k) k / (2 m): private, and uniform on clean data."""
    return np.asarray(epsilon * wrong.min(axis=-1, keepdims=True) * wrong / (2 * len(dataset)))


def draw_noisy_min(scale: float, dataset: Labeled, size: int, rng: np.random.Generator) -> FloatArray:
    """Draw the threshold with the fewest noisy mistakes; Laplace noise of scale 2 / alpha is private, half is not."""
    wrong = THRESHOLDS.mistakes(five(dataset), dataset)
    return np.asarray(five(dataset)[np.argmin(wrong + rng.laplace(scale=scale, size=(size, 5)), axis=1)])


def noisy_min_law(scale: float, dataset: Labeled) -> Finite:
    """Return its law: the density of each noisy count times the others' chance of being larger, integrated."""
    wrong = THRESHOLDS.mistakes(five(dataset), dataset).astype(float)
    kinks = np.unique(wrong)  # the density is analytic between them; 40 scales out nothing is left
    ends = np.r_[kinks[0] - 40 * scale, kinks, kinks[-1] + 40 * scale]
    nodes, weights = np.polynomial.legendre.leggauss(200)
    half, center = np.diff(ends)[:, None] / 2, (ends[1:] + ends[:-1])[:, None] / 2
    z, mass = (center + half * nodes).ravel(), (half * weights).ravel()
    larger = laplace.sf(z, wrong[:, None], scale)
    found = [
        mass @ (laplace.pdf(z, w, scale) * np.prod(np.delete(larger, i, axis=0), axis=0)) for i, w in enumerate(wrong)
    ]
    return Finite(dict(zip(five(dataset).tolist(), (np.array(found) / np.sum(found)).tolist(), strict=True)))


def see_kappa(dataset: Labeled) -> FloatArray:
    """Return a cover for the largest density seen in ten cells: 20 thresholds for spread points, 30 for one moved."""
    density = 10 * np.bincount(np.minimum((10 * dataset.X).astype(int), 9)).max() / len(dataset)
    return THRESHOLDS.packing_cover(0.1 / (4 * density))


def span_data(dataset: Labeled) -> FloatArray:
    """Return a grid over the range of the private points."""
    return np.linspace(dataset.X.min(), dataset.X.max(), 10)


def count_distinct(dataset: Labeled) -> FloatArray:
    """Return the cover of A1 for the number of distinct examples, which substitution does not keep: 78 or 80."""
    algorithm = A1(1.0, 0.9)
    distinct = len(set(zip(dataset.X.tolist(), dataset.y.tolist(), strict=True)))
    return THRESHOLDS.packing_cover(algorithm.accuracy / (4 * algorithm.smoothness_hat(distinct)))


def lean_on_labels(dataset: Labeled) -> FloatArray:
    """Return the cover of A3, with thresholds that lean away from a positive point to their left."""
    cover = THRESHOLDS.sample_packing_cover(dataset.X, 0.3 / 4)
    below = np.maximum(np.searchsorted(np.sort(dataset.X), cover) - 1, 0)
    lean = np.where(dataset.y[np.argsort(dataset.X)][below] == 1, 0.001, 0.0)
    return np.clip(cover + lean, 0, 1)


def count_examples(dataset: Labeled) -> FloatArray:
    """Return the cover of A1, made for the number of examples: 19,086 thresholds for 50,000, 19,092 for one more."""
    return A1(0.5, 0.1).cover(dataset.X)


def halfway(dataset: Labeled, size: int, rng: np.random.Generator) -> FloatArray:
    """Return the midpoint between the labels, the empirical risk minimizer for realizable data: no randomness."""
    X, y = dataset.X, dataset.y
    return np.full(size, (np.max(X[y == -1], initial=0.0) + np.min(X[y == 1], initial=1.0)) / 2)


class Fault(NamedTuple):
    """A broken algorithm: its epsilon on the pair that shows it, and the check that convicts it."""

    true_epsilon: float
    check: PrivacyCheck


def _fault(
    name: str, true_epsilon: float, mechanism: Any, pair: Pair, relation: Any = None, epsilon: float = 1.0
) -> Fault:
    claim = PrivacyClaim(epsilon, 0.0, relation or Substitution(), CLAIMED)
    hidden = partial(conceal, mechanism)
    settings: dict[str, Any] = {"budget": 50_000, "expected": Verdict.FAIL}
    name = f"fault/chaudhuri2011 {name}"
    return Fault(true_epsilon, PrivacyCheck(name=name, mechanism=hidden, claim=claim, pairs=[pair], **settings))


def _grown(X: Any, y: Any, point: float) -> Pair:
    """Return a list and an example at a point, labeled +1 on the left and -1 on the right."""
    first, second = (Labeled(np.r_[X, point], np.r_[y, label]) for label in (1, -1))
    return first, second


def _at(X: Any) -> Labeled:
    return Labeled(np.asarray(X), np.where(np.asarray(X) >= 0.5, 1, -1))


def _moved(label: int, left: float, right: float) -> Pair:
    return Labeled(np.array([left]), np.array([label])), Labeled(np.array([right]), np.array([label]))


WEIGHTS: dict[str, Penalty] = {
    "no half": lambda epsilon, wrong, dataset: epsilon * wrong,
    "squared error": lambda epsilon, wrong, dataset: epsilon * wrong**2 / (2 * len(dataset)),
    "argmin": lambda epsilon, wrong, dataset: np.where(np.arange(5) == np.argmin(wrong), 0.0, np.inf),
}
_RANGE, _TWICE, _LONG = 0.1 + 0.8 * middles(20), np.r_[middles(400), middles(400)[0]], middles(50_000)
_INNER = np.where(middles(20) >= 0.5, 1, -1)
_NEVER = math.inf

# fmt: off  (rows of a table: name, true epsilon, what is changed, the pair that shows it)
FAULTS: list[Fault] = [
    _fault("no half", 1.569, Changed(1.0, five, WEIGHTS["no half"]), first_threshold_pair(5, 1)),
    _fault("no half alpha=0.5", 0.865, Changed(0.5, five, WEIGHTS["no half"]), first_threshold_pair(5, 2), epsilon=0.5),
    _fault(
        "squared error",
        1.617,
        Changed(1.0, five, WEIGHTS["squared error"]),
        _grown(np.r_[np.zeros(8), 0.2], np.r_[np.ones(8, int), -1], 0.2),
    ),
    _fault("balanced error", 2.492, Changed(1.0, five, balance), _grown(np.zeros(9), np.full(9, -1), 0.8)),
    _fault("shortcut without error", _NEVER, Changed(1.0, five, shortcut), _moved(1, 0.0, 0.2)),
    _fault("Laplace noisy min", 2.0, partial(draw_noisy_min, 1.0), worst_pair(0.1, 3)),
    _fault("argmin", _NEVER, Changed(1.0, five, WEIGHTS["argmin"]), _moved(-1, 0.0, 0.2)),
    _fault("cover from the data, disjoint", _NEVER, A3(1.0, 0.3), moved_pair(19, 0.01)),
    _fault("cover from the data, one threshold", _NEVER, A3(1.0, 0.3), moved_pair(9, 0.46)),
    _fault("kappa from the data", _NEVER, Changed(1.0, see_kappa), moved_pair(19, 0.01)),
    _fault("range from the data", _NEVER, Changed(1.0, span_data), (_at(_RANGE), _at(np.r_[_RANGE[:-1], 0.95]))),
    _fault(
        "distinct examples counted", _NEVER, Changed(1.0, count_distinct), (_at(_TWICE), _at(np.r_[_TWICE[:-1], 0.0]))
    ),
    _fault(
        "labels break ties",
        _NEVER,
        Changed(1.0, lean_on_labels),
        (Labeled(middles(20), _INNER), Labeled(middles(20), np.r_[_INNER[:9], 1, _INNER[10:]])),
        LabelFlip(),
    ),
    _fault(
        "advertised for add/remove",
        _NEVER,
        Changed(0.5, count_examples),
        (_at(_LONG), _at(np.r_[_LONG, 1.0])),
        AddRemove(),
        0.5,
    ),
]
# fmt: on

_FAIL: dict[str, Any] = {"prefix": "fault/chaudhuri2011 ", "expected": Verdict.FAIL}
_AGNOSTIC, _REALIZABLE = agnostic_size(0.05, 0.2, BETA, math.log(75.5)), realizable_size(0.5, 0.1, BETA)


def forget_size(wrong: FloatArray, m: int) -> FloatArray:
    """Return alpha err / 2 at alpha = 0.05: (alpha / m)-private, and the failure probability is 0.99."""
    return np.asarray(0.05 * wrong / (2 * m))


def scale_by_fewest(wrong: FloatArray, m: int) -> FloatArray:
    """Return alpha min(k) err / 2 at alpha = 0.5: private, and the failure probability is 0.75."""
    return np.asarray(0.5 * wrong.min(axis=-1, keepdims=True) * wrong / (2 * m))


CHECKS: list[Any] = [
    *(fault.check for fault in FAULTS),
    *(
        audit_packing(
            f"fault/chaudhuri2011 empirical risk minimizer, packing K={size:g}",
            "Lemma 22",
            "The midpoint between the labels is 5-private; false: it follows the moving example.",
            halfway,
            (5.0, Substitution()),
            MovingExample(size),
            expected=Verdict.FAIL,
            budget=1_000,
        )
        for size in (10**3, 10**12)
    ),
    *(
        guarantee(f"{name} m={trials.m}", theorem, said, trials, **_FAIL)
        for name, theorem, said, trials in (
            (
                "error without its scale",
                "Theorem 8",
                "Weights exp(-alpha err / 2) are accurate; false.",
                Trials(CONCENTRATED, 0.05, 0.2, _AGNOSTIC, 75.5, forget_size),
            ),
            (
                "scale of the fewest mistakes",
                "Theorem 9",
                "Weights exp(-alpha min(k) err / 2) are accurate; false.",
                Trials(ThresholdProblem(0.525), 0.5, 0.1, _REALIZABLE, 1.0, scale_by_fewest),
            ),
            (
                "kappa ignored",
                "Theorem 8",
                "A cover of scale accuracy / 4, kappa forgotten, is fine enough; false: its best errs by 0.275.",
                Trials(CONCENTRATED, 0.05, 0.2, _AGNOSTIC),
            ),
        )
    ),
    region_check("Example 3", "two caps", RegionTrials(3, 0.2, inside=False, poles=True), **_FAIL),
    state(
        "every learner, n / (2 alpha accuracy)",
        "section 5.2",
        "The proof gives n / (2 alpha a) examples; false: it gives a tenth of that.",
        partial(necessary_cases, 1 / 2),
        ">=",
        **_FAIL,
    ),
]


class NoisyMin:
    """Report noisy min with Laplace(2 / alpha), as much noise as it takes; alpha = 1."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> FloatArray:
        return draw_noisy_min(2.0, dataset, size, rng)

    def law(self, dataset: Labeled) -> Finite:
        """Return the law of one output."""
        return noisy_min_law(2.0, dataset)


def _removed(m: int, label: int) -> Pair:
    full = worst_pair(0.2, m, label)[1]
    return full, Labeled(full.X[1:], full.y[1:])


def _decoy(name: str, mechanism: Any, pairs: list[Pair], relation: Any = None) -> PrivacyCheck:
    claim = PrivacyClaim(1.0, 0.0, relation or Substitution(), f"{PAPER}, Theorem 7")
    return PrivacyCheck(
        name=f"decoy/chaudhuri2011 {name}", mechanism=mechanism, claim=claim, pairs=pairs, budget=20_000
    )


_PAIRS = [first_threshold_pair(5, 1), worst_pair(0.5, 6)]
_TWO = MonotoneExponentialMechanism(Mistakes(THRESHOLDS), (0.25, 0.75), 1.0, 1.0)
_GRID = tuple(THRESHOLDS.packing_cover(0.1).tolist())

DECOYS: list[PrivacyCheck] = [
    _decoy("fewest mistakes subtracted", Changed(1.0, five, lambda e, k, data: e * (k - k.min()) / 2), _PAIRS),
    _decoy("scale of the fewest mistakes", Changed(1.0, five, fewest), _PAIRS),
    _decoy("noisy min, Laplace(2/alpha)", NoisyMin(), [first_threshold_pair(5, 1), worst_pair(0.5, 3)]),
    # two thresholds and one example: without the half it is exactly alpha-private here, and no audit can see it
    _decoy("no half, two thresholds, one example", _TWO, [worst_pair(0.5, 1)]),
    _decoy(
        "no half, fixed cover, add/remove",
        MonotoneExponentialMechanism(Mistakes(THRESHOLDS), _GRID, 1.0, 1.0),
        [_removed(2, 1), _removed(6, -1)],
        AddRemove(),
    ),
    _decoy("cap on kappa", A1(1.0, 0.9, smoothness_cap=2.0), [worst_pair(0.5, 400)]),
]
