"""Consistency and rate tables of the locally private classifier, beside reference values.

    python -m benchmarks.local_classification            all tables, about half a minute
    python -m benchmarks.local_classification survey     some tables, by name

But for `survey`, which fits the classifier to real answers, all numbers are expectations computed without simulation,
eps = 1, n users in each half. The reference values were computed before this package existed, by another
implementation of the same formulas in double precision, and are kept to the digits that it printed; a star marks a
number that differs from its reference by more than one unit in the last digit.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq

from mechanisms.distributions.zoo import smooth
from mechanisms.learners import LocalVoteClassifier, PrivacyLeakWarning
from mechanisms.papers.berrett2019.faults import NINE_TENTHS
from mechanisms.papers.berrett2019.lower_bound import LeastFavorableFamily, line_family, plane_family
from mechanisms.papers.berrett2019.mechanism import BinaryArray, far_pair
from mechanisms.papers.berrett2019.settings import LINE, SETTINGS, SLABS
from mechanisms.papers.berrett2019.theorems import (
    RiskOn,
    VotesOfTwoUsers,
    ball_cases,
    baseline_excess,
    coin_flip_excess,
    constant_eta_excess,
    deviation,
    excess_bound,
    gap_excess,
    tail,
    tail_bound,
    theorem_constant,
)
from mechanisms.real_data import column

DECADES = tuple(10.0**k for k in range(3, 13))

CONSISTENCY = {
    "smooth": ".169 .096 .033 8.9e-3 2.7e-3 8.3e-4 2.6e-4 8.3e-5 2.6e-5 8.3e-6",
    "step": ".228 .134 .043 .011 6.1e-3 3.2e-3 4.7e-4 4.0e-4 5.4e-4 1.1e-4",
    "atoms": ".189 .075 .022 7.2e-3 2.4e-3 7.5e-4 2.3e-4 7.1e-5 2.2e-5 7.2e-6",
    "cantor-rank": ".160 .069 .021 3.9e-3 5.1e-4 2.5e-5 1.4e-5 4e-11 2e-13 0",
    "cantor-parity": ".400 .400 .400 .402 .407 .424 .286 .183 .013 0",
    "mixture": ".322 .297 .244 .181 .139 .128 .111 .100 .045 .032",
    "pure-noise": "0 0 0 0 0 0 0 0 0 0",
    "fat-cantor": ".458 .395 .292 .202 .156 .093 .080 .054 .045 .042",
    "sin(1/x)": ".328 .198 .114 .094 .072 .047 .032 .024 .019 .014",
    "flat-margin": ".124 .080 .036 .013 5.4e-3 2.3e-3 9.6e-4 4.1e-4 1.7e-4 7.2e-5",
    "sqrt-density": ".208 .114 .046 .011 2.5e-3 1.7e-3 2.6e-4 3.0e-4 3.8e-4 2.2e-4",
    "cauchy-parity": ".327 .306 .270 .215 .153 .106 .077 .056 .042 -",
}

# slopes of log excess against log n between K/2 and K, from K = 4 on
SLOPES = {
    "d=1 s=1": "-.162 -.370 -.543 -.508 -.500 -.500",
    "d=1 s=2": "-.058 -.141 -.300 -.401 -.378 -.375",
    "d=1 s=5": "-.015 -.040 -.095 -.207 -.311 -.305 -.300",
    "d=1 s=1/2": "-.057 -.077 -.113 -.173 -.266 -.384 -.477 -.501 -.501 -.500",
    "d=2 s=1": "-.103 -.238 -.361 -.350 -.339 -.336 -.335 -.334",
    "d=2 s=2": "-.037 -.092 -.198 -.269 -.256 -.252 -.251 -.250",
    "d=2 s=1/2": "-.034 -.047 -.069 -.104 -.160 -.231 -.286 -.302 -.301 -.301 -.300",
    "d=3 s=1": "-.073 -.172 -.270 -.270 -.258 -.254 -.252 -.251",
    "d=3 s=1/2": "-.024 -.034 -.049 -.075 -.114 -.165 -.205 -.216 -.216 -.215",
    "d=2 cone": "- - - - - - - -",
}

# excess / (L h^beta)^(1+gamma) in the limit: predicted by the normal law, and computed
CONSTANTS = {"d=1 s=1": (10, 10.085), "d=1 s=2": (2.280, 2.280), "d=1 s=5": (0.620, 0.620), "d=1 s=1/2": (137.3, 137.4)}

BASELINE = {"d=1 s=1": -0.667, "d=1 s=2": -0.5, "d=1 s=1/2": -0.75, "d=2 s=1": -0.5, "d=2 s=1/2": -0.5, "d=3 s=1": -0.4}


def show(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table with columns as wide as they need."""
    widths = [max(len(row[k]) for row in [head, *rows] if k < len(row)) for k in range(len(head))]
    print(f"\n{title}")
    for first, *others in [head, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=False)]
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip())


def marked(value: float, reference: str) -> str:
    """Show a value as its reference is written, with a star when the two differ beyond the last digit."""
    if reference == "-":
        return f"{value:.3g}"
    target = float(reference)
    mantissa, _, power = reference.partition("e")
    unit = 10.0 ** (int(power or 0) - (len(mantissa.partition(".")[2]) if "." in mantissa else 0))
    close = abs(value - target) <= 1.01 * (unit if target else 5e-4)
    shown = "0" if target == 0 and close else f"{value:.3g}"
    return shown if close else shown + "*"


def paired(name: str, values: Sequence[float], references: str) -> list[list[str]]:
    """Return two rows: the values, and what they should be."""
    expected = references.split()
    ours = [marked(value, reference) for value, reference in zip(values, expected, strict=True)]
    return [[name, *ours], ["  reference", *expected]]


def consistency_table() -> None:
    """Print the excess at h = n^(-1/4) on the zoo."""
    rows = []
    for name, references in CONSISTENCY.items():
        risk = RiskOn(name)
        rows += paired(name, [risk.excess(n) for n in DECADES], references)
    show("Excess risk, d = 1, h = n^(-1/4)", ["", *(f"{n:.0e}" for n in DECADES)], rows)


def bandwidth_table() -> None:
    """Print the excess on `smooth` for bandwidths that shrink too fast."""
    sizes = [10.0**k for k in range(3, 8)]
    rows = paired("h = n^-0.7", [RiskOn("smooth", 0.7).excess(n) for n in sizes], ".250 .251 .253 .253 .254")
    rows += paired("h = n^-0.5", [RiskOn("smooth", 0.5).excess(n) for n in sizes], "- - - - -")
    rows += paired("h = n^-0.25", [RiskOn("smooth", 0.25).excess(n) for n in sizes], ".169 - - - -")
    title = f"Bandwidths on `smooth`; guessing has {coin_flip_excess(smooth()):.4f}"
    show(title, ["", *(f"{n:.0e}" for n in sizes)], rows)


def slope_table() -> None:
    """Print local slopes over doublings of K, h = 1 / (2 K)."""
    rows = []
    for name, references in SLOPES.items():
        setting = SETTINGS[name]
        sides = [2**k for k in range(1, len(references.split()) + 2)]
        logs = np.log([(setting.users(side), setting.excess(setting.users(side), 1.0, side)) for side in sides])
        slopes = np.diff(logs[:, 1]) / np.diff(logs[:, 0])
        pair = paired(name, slopes.tolist(), references)
        rows += [[f"{name} ({-setting.exponent:.4f})", *pair[0][1:]], pair[1]]
    longest = max(len(row) for row in rows)
    rows = [row + [""] * (longest - len(row)) for row in rows]
    show("Slopes between K/2 and K (predicted)", ["K", *(str(2**k) for k in range(2, longest + 1))], rows)


def constant_table() -> None:
    """Print limit constants."""
    rows = []
    for name, setting in SETTINGS.items():
        side = 1024 if name == "d=2 cone" else 8192
        size = (setting.lipschitz * (0.5 / side) ** setting.smoothness) ** (1 + setting.margin_exponent)
        n = setting.users(side)
        predicted = setting.constant(1.0) * n**-setting.exponent / size
        known = CONSTANTS.get(name)
        rows.append([name, f"{predicted:.4g}", f"{setting.excess(n, 1.0, side) / size:.5g}", str(known or "-")])
    show("Excess / (L h^beta)^(1 + gamma)", ["", "predicted", "computed", "reference"], rows)


def baseline_table() -> None:
    """Print the exponent of the regressogram, N = 1e2 to 1e16, and the price of privacy."""
    rows = []
    for name, reference in BASELINE.items():
        setting = SLABS[name]
        sizes = 10.0 ** np.arange(2, 17)
        values = [baseline_excess(setting, users) for users in sizes]
        late = np.polyfit(np.log(sizes[4:]), np.log(values[4:]), 1)[0]
        rows.append([name, f"{late:.3f}", f"{reference:.3f}"])
    show("Slope of the regressogram, N = 1e6 to 1e16", ["", "computed", "reference"], rows)
    private = paired("private", [LINE.excess(n) for n in (1e4, 1e6, 1e8)], ".098 1.06e-2 1.0e-3")
    public = paired("regressogram", [baseline_excess(LINE, n) for n in (1e4, 1e6, 1e8)], "7.1e-4 3.3e-5 1.5e-6")
    show("Price of privacy, d=1 s=1", ["", "1e4", "1e6", "1e8"], [*private, *public])


def collapse_table() -> None:
    """Print the excess at fixed n eps^2."""
    known = {1e4: ".09846 .09834 .09831 .09831 -", 1e6: ".010590 .010581 .010578 .010578 -"}
    known[1e8] = "1.0087e-3 1.0084e-3 1.0083e-3 1.0083e-3 -"
    epsilons = (1.0, 0.5, 0.1, 0.01, 8.0)
    rows = []
    for product, references in known.items():
        values = [LINE.excess(product / epsilon**2, epsilon) for epsilon in epsilons]
        rows.append([f"n eps^2 = {product:g}", *(f"{value:.5g}" for value in values)])
        rows.append(["  reference", *references.split()])
    show("One curve in n eps^2, d=1 s=1", ["eps", *(f"{epsilon:g}" for epsilon in epsilons)], rows)


def lower_bound_table() -> None:
    """Print bound, private and non-private excess on the least favorable families."""
    for title, family, references in (
        ("d=1 gamma=0", line_family, {1e4: "4.35e-3 6.22e-3 -", 1e6: "1.37e-3 - 9.6e-4", 1e8: "4.4e-4 - 1.3e-4",
                                      1e10: "- - 5e-6", 1e12: "- - 5e-9", 1e14: "1.38e-5 1.97e-5 -"}),
        ("d=2 gamma=1", plane_family, {1e6: "1.44e-4 1.56e-4 -", 1e8: "3.0e-5 3.2e-5 -", 1e10: "6.6e-6 7.1e-6 -",
                                       1e12: "1.44e-6 1.56e-6 -"}),
    ):  # fmt: skip
        rows = []
        for users, reference in references.items():
            known = family(users)
            values = [known.lower_bound, known.private_excess(), known.majority_excess()]
            rows += [[f"{users:.0e}", *paired("", values, reference)[0][1:], f"{values[0] / values[1]:.3f}", reference]]
        factors = [noise_given_away(family(users)) for users in references]
        rows = [[*row[:-1], factor, row[-1]] for row, factor in zip(rows, factors, strict=True)]
        head = ["N", "bound", "private", "majority vote", "bound / private", "noise convicted", "reference"]
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
    known = {"d=1 s=1": "5e-4 1e-4 5e-5", "d=1 s=1/2": "1e-3 2e-4 2e-5", "d=2 s=1": "2e-4 7e-5 2e-5"}
    rows = []
    for name, references in known.items():
        setting = SETTINGS[name]
        ratios = []
        for n in (1e6, 1e9, 1e12):
            side = setting.half_cells(n)
            ratios.append(setting.excess(n, 1.0, side) / excess_bound(setting, n, 1.0, 0.5 / side))
        rows += paired(name, ratios, references)
    show("Excess / explicit upper bound", ["", "1e6", "1e9", "1e12"], rows)
    values = [constant_eta_excess(1.0, 1 / math.sqrt(L)) / (10 * L) for L in (1.0, 1e-1, 1e-2, 1e-3, 1e-4)]
    rows = paired("excess / (C0 bracket)", values, ".0099 .099 .99 9.9 99")
    show(f"eta = 0.6, n = 1; A = {theorem_constant(1, 1.0, 1.0):.3g}", ["L", "1", ".1", ".01", ".001", "1e-4"], rows)
    sizes = [10.0**k for k in range(2, 9)]
    rows = paired("margin gap", [gap_excess(int(n)) for n in sizes], ".26 .21 .14 .050 4.2e-3 9e-5 5e-8")
    show("A gap in the margin: faster than any power", ["n", *(f"{n:.0e}" for n in sizes)], rows)


def tail_table() -> None:
    """Print how loose the tail bound is, where it fails for large eps, and the mass bound in many dimensions."""
    n, mass, eta = 100_000, 0.5, 1.0
    sd = deviation(1, 1.0, n, mass, eta)
    counts = (1, 2, 3, 4)
    slack = [
        math.log(tail(1, 1.0, n, mass, eta, count * sd)[0]) / math.log(tail_bound(1, 1.0, n, count * sd))
        for count in counts
    ]
    shown = [f"{ratio:.3g}" for ratio in slack]
    rows = [["true / proved exponent", *shown], ["  reference", "11.8", "6.0", "4.7", "4.1"]]
    show("Tail bound, d = 1, eps = 1, n = 1e5", ["sd", *map(str, counts)], rows)
    epsilons = (13.0, 17.0, 25.0, 40.0)
    broken = []
    for epsilon in epsilons:
        level = 5 * deviation(1, epsilon, n, mass, eta)
        broken.append(tail(1, epsilon, n, mass, eta, level)[0] / tail_bound(1, epsilon, n, level))
    rows = paired("tail / bound at 5 sd", broken, ".0025 .096 2.7e3 2e16")
    show("The same for large eps", ["eps", *(f"{epsilon:g}" for epsilon in epsilons)], rows)
    balls = ball_cases((12, 20, 21, 22, 30), False)
    rows = [["c0 mu (h/2)^d", *(f"{bound:.3g}" for *_, bound in balls)], ["P(cell)", *("1" for _ in balls)]]
    show("Printed mass bound for a ball", ["d", *(label.partition("=")[2] for label, *_ in balls)], rows)


def privacy_table() -> None:
    """Print the privacy profile of the worst pair, and what the votes of two users still tell."""
    epsilons = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
    known = {
        1: ".1842 .1547 .1107 .0384 .0175 .00656 6.28e-4 0",
        2: ".1355 .1009 .0511 .0122 1.36e-3 4.50e-4 3.96e-5 0",
        3: ".0977 .0598 .0219 2.05e-3 4.84e-5 2.11e-6 1.58e-7 0",
    }
    rows = []
    for dim, references in known.items():
        array = BinaryArray(dim, 1.0, 0.4)
        left, right = (array.law(record) for record in far_pair(dim))
        loss = left.loss_against(right)
        rows += paired(f"d={dim}", [loss.delta(epsilon) for epsilon in epsilons], references)
    show("delta(eps) of one array, claim eps = 1", ["eps", *(f"{epsilon:g}" for epsilon in epsilons)], rows)
    rows = []
    for dim in known:
        weak = NINE_TENTHS(dim)
        loss = weak.law(far_pair(dim)[0]).loss_against(weak.law(far_pair(dim)[1]))
        rows.append([f"d={dim}", f"{loss.epsilon(0):.4g}", f"{loss.tails(1.0, 'left')[0]:.2g}"])
    show("Nine tenths of the noise, claim eps = 1", ["", "exact eps", "P(loss > 1)"], rows)
    rows = []
    for epsilon, is_flip in ((0.5, False), (1.0, False), (4.0, False), (1.0, True)):
        votes = VotesOfTwoUsers(epsilon)
        left, right = map(votes.law, votes.worst_pair(is_flip))
        claimed = epsilon / 2 if is_flip else epsilon
        exact = left.loss_against(right).epsilon(0)
        rows.append([f"eps={epsilon:g}{', flip' * is_flip}", f"{claimed:g}", f"{exact:.3f}"])
    show("Votes of two users", ["", "claimed", "exact"], rows)


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
    "baseline": baseline_table,
    "collapse": collapse_table,
    "lower-bound": lower_bound_table,
    "upper-bound": bound_table,
    "survey": survey_table,
}


def main() -> None:
    """Print the tables that are named on the command line, or all."""
    chosen = sys.argv[1:] or list(TABLES)
    unknown = [name for name in chosen if name not in TABLES]
    if unknown:
        raise SystemExit(f"no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    for name in chosen:
        TABLES[name]()


if __name__ == "__main__":
    main()
