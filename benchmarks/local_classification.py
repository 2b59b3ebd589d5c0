"""Consistency and rate tables of the locally private classifier.

    python -m benchmarks.local_classification            all tables, about half a minute
    python -m benchmarks.local_classification survey     some tables, by name

But for `survey`, which fits the classifier to real answers, all numbers are expectations computed without simulation,
eps = 1, n users in each half.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable

import numpy as np
from scipy import special
from scipy.optimize import brentq

from benchmarks.tables import print_tables, show
from mechanisms.distributions import smooth
from mechanisms.learners import LocalVoteClassifier, PrivacyLeakWarning
from mechanisms.papers.berrett2019.faults import NINE_TENTHS
from mechanisms.papers.berrett2019.lower_bound import LeastFavorableFamily, line_family, plane_family
from mechanisms.papers.berrett2019.mechanism import BinaryArray, far_pair
from mechanisms.papers.berrett2019.theorems import (
    LINE,
    SETTINGS,
    RiskOn,
    ball_cases,
    constant_eta_excess,
    deviation,
    excess_bound,
    tail,
    tail_bound,
    theorem_constant,
)
from mechanisms.real_data import column

DECADES = tuple(10.0**k for k in range(3, 13))

CONSISTENCY = (
    "smooth", "step", "atoms", "cantor-rank", "cantor-parity", "pure-noise", "fat-cantor",
    "flat-margin", "sqrt-density", "cauchy-parity",
)  # fmt: skip
DOUBLINGS = {  # of K, at which the slope is shown
    "d=1 s=1": 6, "d=1 s=2": 6, "d=1 s=5": 7, "d=1 s=1/2": 10, "d=2 s=1": 8, "d=2 s=2": 8, "d=2 s=1/2": 11,
    "d=3 s=1": 8, "d=3 s=1/2": 10,
}  # fmt: skip


def row_of(name: str, values: Iterable[float]) -> list[str]:
    """Return a row of numbers to three digits."""
    return [name, *(f"{value:.3g}" for value in values)]


def consistency_table() -> None:
    """Print the excess at h = n^(-1/4) on the zoo."""
    rows = [row_of(name, map(RiskOn(name).excess, DECADES)) for name in CONSISTENCY]
    show("Excess risk, d = 1, h = n^(-1/4)", ["", *(f"{n:.0e}" for n in DECADES)], rows)


def bandwidth_table() -> None:
    """Print the excess on `smooth` for bandwidths that shrink too fast."""
    sizes = [10.0**k for k in range(3, 8)]
    rows = [row_of(f"h = n^-{power:g}", map(RiskOn("smooth", power).excess, sizes)) for power in (0.7, 0.5, 0.25)]
    title = f"Bandwidths on `smooth`; guessing has {np.sum(smooth().absolute_mass(-np.inf, np.inf)) / 2:.4f}"
    show(title, ["", *(f"{n:.0e}" for n in sizes)], rows)


def slope_table() -> None:
    """Print local slopes over doublings of K, h = 1 / (2 K)."""
    rows = []
    for name, doublings in DOUBLINGS.items():
        setting = SETTINGS[name]
        sides = [2**k for k in range(1, doublings + 2)]
        logs = np.log([(setting.users(side), setting.excess(setting.users(side), 1.0, side)) for side in sides])
        slopes = np.diff(logs[:, 1]) / np.diff(logs[:, 0])
        rows.append(row_of(f"{name} ({-setting.exponent:.4f})", slopes.tolist()))
    longest = max(map(len, rows))
    show("Slopes between K/2 and K (predicted)", ["K", *(str(2**k) for k in range(2, longest + 1))], rows)


def constant_table() -> None:
    """Print limit constants."""
    rows = []
    for name, setting in SETTINGS.items():
        size = (setting.lipschitz * (0.5 / 8192) ** setting.smoothness) ** (1 + setting.margin_exponent)
        n = setting.users(8192)
        predicted = setting.constant(1.0) * n**-setting.exponent / size
        rows.append([name, f"{predicted:.4g}", f"{setting.excess(n, 1.0, 8192) / size:.5g}"])
    show("Excess / (L h^beta)^(1 + gamma)", ["", "predicted", "computed"], rows)


def collapse_table() -> None:
    """Print the excess at fixed n eps^2."""
    epsilons = (1.0, 0.5, 0.1, 0.01, 8.0)
    rows = []
    for product in (1e4, 1e6, 1e8):
        values = [LINE.excess(product / epsilon**2, epsilon) for epsilon in epsilons]
        rows.append([f"n eps^2 = {product:g}", *(f"{value:.5g}" for value in values)])
    show("One curve in n eps^2, d=1 s=1", ["eps", *(f"{epsilon:g}" for epsilon in epsilons)], rows)


def majority_excess(family: LeastFavorableFamily) -> float:
    """Return the average excess of the majority vote on every ball, which is not private; by the normal law."""
    lean = family.weight * family.bump
    deviation = math.sqrt(family.weight - lean**2)
    return float(2 * family.coin_flip_excess * special.ndtr(-math.sqrt(family.users) * lean / deviation))


def lower_bound_table() -> None:
    """Print bound, private and non-private excess on the least favorable families."""
    for title, family, powers in (
        ("d=1 gamma=0", line_family, (4, 6, 8, 10, 12, 14)),
        ("d=2 gamma=1", plane_family, (6, 8, 10, 12)),
    ):
        rows = []
        for power in powers:
            known = family(10.0**power)
            values = [known.lower_bound, known.private_excess(), majority_excess(known)]
            ratio = f"{values[0] / values[1]:.3f}"
            rows.append([*row_of(f"1e{power}", values), ratio, noise_given_away(known)])
        head = ["N", "bound", "private", "majority vote", "bound / private", "noise convicted"]
        show(f"Least favorable family {title}", head, rows)


def noise_given_away(family: LeastFavorableFamily) -> str:
    """Return the part of its noise with which the private rule's accuracy falls to the bound; a dash when none does."""
    least = 1e-4
    if family.private_excess(least) >= family.lower_bound:
        return "-"
    factor = brentq(lambda part: family.private_excess(part) - family.lower_bound, least, 1)
    return f"1/{1 / factor:.0f}"


def bound_table() -> None:
    """Print how loose the explicit upper bound is, and the printed theorem for small L."""
    rows = []
    for name in ("d=1 s=1", "d=1 s=1/2", "d=2 s=1"):
        setting, ratios = SETTINGS[name], []
        for n in (1e6, 1e9, 1e12):
            side = setting.half_cells(n)
            ratios.append(setting.excess(n, 1.0, side) / excess_bound(setting, n, 1.0, 0.5 / side))
        rows.append(row_of(name, ratios))
    show("Excess / explicit upper bound", ["", "1e6", "1e9", "1e12"], rows)
    values = [constant_eta_excess(1.0, 1 / math.sqrt(L)) / (10 * L) for L in (1.0, 1e-1, 1e-2, 1e-3, 1e-4)]
    title = f"eta = 0.6, n = 1; A = {theorem_constant(1, 1.0, 1.0):.3g}"
    show(title, ["L", "1", ".1", ".01", ".001", "1e-4"], [row_of("excess / (C0 bracket)", values)])


def tail_table() -> None:
    """Print how loose the tail bound is, where it fails for large eps, and the mass bound in many dimensions."""
    n, mass, eta = 100_000, 0.5, 1.0
    sd = deviation(1, 1.0, n, mass, eta)
    counts = (1, 2, 3, 4)
    slack = [
        math.log(tail(1, 1.0, n, mass, eta, count * sd)[0]) / math.log(tail_bound(1, 1.0, n, count * sd))
        for count in counts
    ]
    rows = [row_of("true / proved exponent", slack)]
    show("Tail bound, d = 1, eps = 1, n = 1e5", ["sd", *map(str, counts)], rows)
    epsilons = (13.0, 17.0, 25.0, 40.0)
    broken = []
    for epsilon in epsilons:
        level = 5 * deviation(1, epsilon, n, mass, eta)
        broken.append(tail(1, epsilon, n, mass, eta, level)[0] / tail_bound(1, epsilon, n, level))
    rows = [row_of("tail / bound at 5 sd", broken)]
    show("The same for large eps", ["eps", *(f"{epsilon:g}" for epsilon in epsilons)], rows)
    balls = ball_cases((12, 20, 21, 22, 30), False)
    rows = [row_of("c0 mu (h/2)^d", (bound for *_, bound in balls)), ["P(cell)", *("1" for _ in balls)]]
    show("Printed mass bound for a ball", ["d", *(label.partition("=")[2] for label, *_ in balls)], rows)


def privacy_table() -> None:
    """Print the privacy profile of the worst pair, and what too little noise costs."""
    epsilons = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    rows = []
    for dim in (1, 2, 3):
        array = BinaryArray(dim, 1.0, 0.4)
        left, right = (array.law(record) for record in far_pair(dim))
        rows.append(row_of(f"d={dim}", map(left.loss_against(right).delta, epsilons)))
    show("delta(eps) of one array, claim eps = 1", ["eps", *(f"{epsilon:g}" for epsilon in epsilons)], rows)
    rows = []
    for dim in (1, 2, 3):
        weak = NINE_TENTHS(dim)
        loss = weak.law(far_pair(dim)[0]).loss_against(weak.law(far_pair(dim)[1]))
        rows.append([f"d={dim}", f"{loss.epsilon(0):.4g}", f"{loss.tails(1.0, 'left')[0]:.2g}"])
    show("Nine tenths of the noise, claim eps = 1", ["", "exact eps", "P(loss > 1)"], rows)


def survey_table() -> None:
    """Print held-out accuracy against epsilon: any affair, from the rating of the marriage, 6,366 answers.

    The rating 1..5 is scaled to [0, 1] by the bounds of the questionnaire. Mean over 200 random halves to train on;
    the standard error of a mean is at most 0.005.
    """
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    ratings, affairs = (column("rate_marriage")[:, None] - 1) / 4, (column("affairs") > 0).astype(int)
    rng = np.random.default_rng(1978)
    epsilons = (0.5, 1, 2, 4, 8, 16, 64)
    scores: dict[str, list[float]] = {f"{epsilon:g}": [] for epsilon in epsilons}
    others: dict[str, list[float]] = {"no privacy": [], "always 0": []}
    for _ in range(200):
        order = rng.permutation(len(affairs))
        train, test = order[: len(order) // 2], order[len(order) // 2 :]
        for epsilon in epsilons:
            seed = int(rng.integers(2**63))
            learner = LocalVoteClassifier(epsilon, 0.25, (0.0, 1.0), None, [0, 1], seed)
            learner.fit(ratings[train], affairs[train])
            scores[f"{epsilon:g}"].append(learner.score(ratings[test], affairs[test]))
        answers = (4 * ratings[:, 0]).astype(int)  # a cube for each of the five
        votes = np.bincount(answers[train], 2 * affairs[train] - 1, minlength=5) >= 0
        others["no privacy"].append(float(np.mean(votes[answers[test]] == affairs[test])))
        others["always 0"].append(float(np.mean(affairs[test] == 0)))
    every = {**scores, **others}
    show(
        "Accuracy on the survey", ["eps", *every], [["accuracy", *(f"{np.mean(each):.3f}" for each in every.values())]]
    )


TABLES: dict[str, Callable[[], None]] = {
    "privacy": privacy_table,
    "tail": tail_table,
    "consistency": consistency_table,
    "bandwidths": bandwidth_table,
    "slopes": slope_table,
    "constants": constant_table,
    "collapse": collapse_table,
    "lower-bound": lower_bound_table,
    "upper-bound": bound_table,
    "survey": survey_table,
}


if __name__ == "__main__":
    print_tables(TABLES)
