"""Print the tables that are named on the command line; `smoke` unless told.

    smoke        three numbers of classes, ten trials each, under a minute
    full         few classes with 40 trials, the grid with 20, and the picture (matplotlib); half an hour of CPU
    figure-2     the settings of the paper's Figure 2, 1,000 trials a point; figure-3 and figure-4 are Appendix A's
    digits       scikit-learn's digits: epochs and decay chosen without the test parts; ten minutes of CPU
    cost         microseconds a label
    bounds       how loose Theorem 2 is

A trial draws 10,000 training and 1,000 test points; all methods see the same ones and are compared in pairs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import stats

from audit.errors import MissingExtra
from benchmarks.tables import print_tables, show
from mechanisms.papers.zhao2024.baselines import LaplaceEncoder, TwoStageEncoder, literal_posterior
from mechanisms.papers.zhao2024.comparisons import METHODS, N_TEST, Circle, Setting, load_digits, split
from mechanisms.papers.zhao2024.neighbors import LabelLearner
from mechanisms.papers.zhao2024.network import TargetNetwork
from mechanisms.papers.zhao2024.theorems import LARGE, SETTINGS
from mechanisms.papers.zhao2024.vector import VectorEncoder

SIGNIFICANCE = 0.001  # of one verdict, a side
NEAR = ("RR", "LP-2ST", "ALIBI uniform", "ALIBI, 5 rounds", "vector", "vector, 5 rounds")
CLASSES = (2, 5, 10, 20, 40, 60, 80, 100)
FIGURES = {"figure-2": (1.0, 200), "figure-3": (2.0, 100), "figure-4": (1.0, 100)}
PICTURE = Path(__file__).parents[2] / "docs" / "label-privacy-accuracy.svg"
EPOCHS, DECAYS, SPLITS = (8, 20, 50), (1e-4, 1e-3, 1e-2), 20
Scores = dict[str, np.ndarray]


def setting(K: int, sigma: float, epsilon: float, k: int) -> Setting:
    """Return a setting with 1,000 queries."""
    return Setting(K, sigma, epsilon, k, n_queries=1_000)


GRID = [
    setting(K, sigma, epsilon, k)
    for epsilon, k in ((1.0, 200), (1.0, 50), (1.0, 100), (2.0, 100), (2.0, 50), (2.0, 200))
    for K in CLASSES
    for sigma in sorted({0.05, 2 / K})
]


def order(first: np.ndarray, second: np.ndarray, margin: float = 0.0) -> str:
    """Judge "A's accuracy exceeds B's by more than `margin` in more trials than not".

    Gives "yes" or "no" when the exact binomial test of the paired trials rejects the opposite at `SIGNIFICANCE`, one
    side each, else "open".
    """
    difference = first - second
    sides = [int(np.sum(difference > margin)), int(np.sum(difference < margin))]
    found = [stats.binomtest(side, len(difference), 0.5, "greater").pvalue <= SIGNIFICANCE for side in sides]
    return "yes" if found[0] else "no" if found[1] else "open"


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the mean over trials, and the half-width of its 95 % Student interval (approximate: for reading)."""
    return float(values.mean()), float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))


def shown(values: np.ndarray) -> str:
    """Show mean and half-width, in thousandths."""
    return "{:.3f}±{:.3f}".format(*interval(values))


def run(place: Setting, trials: int, names: tuple[str, ...] = NEAR) -> Scores:
    """Return the accuracies of methods, shape (trials,); each setting has a seed of its own."""
    key = (place.n_classes, place.n_neighbors, round(1000 * place.sigma), round(1000 * place.epsilon))
    sources = np.random.default_rng(key).spawn(trials)
    rows = joblib.Parallel(n_jobs=2)(joblib.delayed(place.accuracies)(names, rng) for rng in sources)
    return dict(zip(names, np.array(rows).T, strict=True))


def print_accuracies(places: Sequence[Setting], trials: int) -> dict[Setting, Scores]:
    """Print mean accuracies with half-widths of 95 % intervals, and the verdict of every ordering."""
    found = {place: run(place, trials) for place in places}
    show("Accuracy, mean over trials", ["", *NEAR], [[str(p), *map(shown, s.values())] for p, s in found.items()])
    rows = []
    for place, scores in found.items():
        rivals = [order(scores["vector"], scores[name]) for name in NEAR[:4]]
        rows.append([str(place), *rivals, order(scores["vector, 5 rounds"], scores["ALIBI, 5 rounds"])])
    head = ["vector beats", *NEAR[:4], "5 rounds: ALIBI's"]
    show("Verdicts at margin 0, exact sign test at 0.001 each side", head, rows)
    return found


def print_full() -> None:
    """Print everything, 20 trials a cell and 40 for few classes, and draw the picture."""
    print_accuracies([setting(K, 0.3, 1.0, 20) for K in (2, 3, 4, 5, 6, 8, 10)], 40)
    draw_picture(print_accuracies(GRID, 20), PICTURE)


def print_figure(name: str) -> None:
    """Print the points of one of the paper's figures, point by point: Bayes, accuracies, and the orderings."""
    epsilon, k = FIGURES[name]
    names = ("RR", "LP-2ST", "ALIBI uniform", "vector")
    for K in (5, 10, 40, 100):
        for sigma in sorted({0.05, 2 / K}):
            place, circle = setting(K, sigma, epsilon, k), Circle(K, sigma)
            scores, (X, y) = run(place, 1_000, names), circle.sample(10**6, np.random.default_rng(0))
            bayes = np.argmax(X @ circle.centers.T, axis=1)  # the nearest center
            means = "  ".join(f"{method} {shown(values)}" for method, values in scores.items())
            said = ", ".join(order(scores["vector"], scores[rival]) for rival in names[:3])
            print(f"{place}  Bayes {np.mean(bayes == y):.3f}  {means}  vector ahead: {said}", flush=True)


def draw_picture(found: Mapping[Setting, Scores], path: Path) -> None:
    """Draw a panel for every (epsilon, k), two in a row, at sigma = 2 / K; write SVG."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.of("matplotlib", "dev") from None
    panels = sorted({(place.epsilon, place.n_neighbors) for place in found})
    figure = Figure(figsize=(7, 8), layout="constrained")
    axes = figure.subplots(3, 2, sharex=True, sharey=True).ravel()
    colors = dict(zip(NEAR, ("tab:red", "tab:orange", "tab:olive", "tab:green", "tab:blue", "tab:purple"), strict=True))
    for axis, (epsilon, k) in zip(axes, panels, strict=True):
        places = [p for p in found if (p.epsilon, p.n_neighbors) == (epsilon, k) and p.sigma == 2 / p.n_classes]
        for name, color in colors.items():
            points = np.array([interval(found[place][name]) for place in places]).T
            axis.errorbar([place.n_classes for place in places], *points, color=color, label=name)
        axis.set_title(f"sigma = 2 / K, epsilon = {epsilon:g}, k = {k}", fontsize=11)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.supxlabel("classes K")
    figure.supylabel("accuracy")
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "label privacy"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def read_curve(name: str, epsilon: float, data: Any, epochs: int, decay: float, rng: Any) -> dict[int, float]:
    """Return the accuracy on the held-out part after each of `EPOCHS` up to a number."""
    X, y, queries, truth = data
    kind, iterated = METHODS.get(name.removesuffix(", sigmoid"), (TwoStageEncoder, 0))
    first = {"model": partial(TargetNetwork, "softmax", 128, 20, decay)} if name == "LP-2ST" else {}
    encoder, seed = kind(10, epsilon, **first), int(rng.integers(2**63))
    head = "sigmoid" if "sigmoid" in name else encoder.head
    learner = LabelLearner(encoder, TargetNetwork(head, 128, epochs, decay, iterated=bool(iterated)), seed)
    released = encoder.release_all(X, y, seed, rng)

    def refine(rows: Any, prior: Any) -> np.ndarray:
        return encoder.posterior(released[rows], prior)

    training: Any = learner.model.training(X, encoder.targets(released), rng, refine)  # type: ignore[attr-defined]
    return {done: float(np.mean(learner.predict(queries) == truth)) for done in training if done in EPOCHS}


def tune(name: str, epsilon: float, seed: int) -> float:
    """Return the test accuracy of a split at the setting that did best on a validation part of its training images."""
    X, y = load_digits()
    train, test = split(y, N_TEST, np.random.default_rng((2, seed)))
    fitted, valid = (train[part] for part in split(y[train], N_TEST, np.random.default_rng((3, seed))))
    within, whole = (X[fitted], y[fitted], X[valid], y[valid]), (X[train], y[train], X[test], y[test])
    sources = [np.random.default_rng((stage, seed, round(100 * epsilon))) for stage in (1, 2)]
    found = {
        (done, decay): share
        for decay in DECAYS
        for done, share in read_curve(name, epsilon, within, max(EPOCHS), decay, sources[0]).items()
    }
    epochs, decay = max(found, key=found.__getitem__)
    return read_curve(name, epsilon, whole, epochs, decay, sources[1])[epochs]


def print_digits() -> None:
    """Print accuracies on the digits, and the verdict of every ordering."""
    names = ("vector", "RR", "RR, sigmoid", "LP-2ST", "ALIBI uniform", "ALIBI, 5 rounds")
    for epsilon in (0.3, 0.5, 1.0, 2.0):
        jobs = (joblib.delayed(tune)(name, epsilon, seed) for name in names for seed in range(SPLITS))
        scores = dict(zip(names, np.reshape(joblib.Parallel(n_jobs=2)(jobs), (len(names), SPLITS)), strict=True))
        vector = scores["vector"]
        rows = [[n, shown(s), shown(vector - s), order(vector, s)] for n, s in scores.items()]
        show(
            f"Digits, eps = {epsilon:g}, {SPLITS} splits", ["", "accuracy", "vector minus it", "vector beats it"], rows
        )


def time_label(action: Callable[[], object], labels: int) -> float:
    """Return the microseconds a label of the fastest of five runs."""
    best = math.inf
    for _ in range(5):
        started = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - started)
    return 1e6 * best / labels


def print_costs() -> None:
    """Print microseconds a label, each run on as many labels as hold 2e6 numbers, and the exponent of K from 100 on."""
    classes, found = np.array([10, 30, 100, 300, 1_000, 3_000, 10_000]), {}
    for K in classes.tolist():
        rng, labels = np.random.default_rng(K), np.zeros(2_000_000 // K, dtype=np.int64)
        vector, laplace = VectorEncoder(K, 1.0), LaplaceEncoder(K, 1.0)
        released = laplace.release(labels, rng)
        few = released[: max(1, 2_000_000 // K**2)]
        literal = partial(literal_posterior, few, np.ones(few.shape), laplace.scale)
        found[K] = {
            "vector": time_label(partial(vector.release, labels, rng), len(labels)),
            "Laplace": time_label(partial(laplace.release, labels, rng), len(labels)),
            "posterior": time_label(partial(laplace.posterior, released), len(labels)),
            "posterior, by definition": time_label(literal, len(few)) if K <= 1_000 else math.nan,
        }
    rows = []
    for name in found[10]:
        times = np.array([found[K][name] for K in found])
        at = (classes >= 100) & np.isfinite(times)
        slope = np.polyfit(np.log(classes[at]), np.log(times[at]), 1)[0]
        rows.append([name, *(f"{cost:.3g}" for cost in times), f"{slope:.2f}"])
    show("Microseconds a label", ["K", *map(str, classes), "exponent"], rows)


def print_bounds() -> None:
    """Print how loose Theorem 2 is: the mean excess over 2,000 points, and the mean bound."""
    rows = []
    for place in (*SETTINGS, LARGE):
        excess, bound = (float(values.mean()) for values in place.excess(2_000, np.random.default_rng(24)))
        rows.append([str(place), f"{excess:.4f}", f"{bound:.4f}", f"{bound / excess:.1f}" if excess > 0 else "-"])
    show("Excess and its bound by Theorem 2", ["", "excess", "bound", "ratio"], rows)


def print_smoke() -> None:
    """Print three numbers of classes, ten trials each."""
    print_accuracies([setting(K, 2 / K, 1.0, 200) for K in (10, 40, 100)], 10)


TABLES: dict[str, Callable[[], None]] = {
    "smoke": print_smoke,
    "full": print_full,
    **{name: partial(print_figure, name) for name in FIGURES},
    "digits": print_digits,
    "cost": print_costs,
    "bounds": print_bounds,
}


if __name__ == "__main__":
    print_tables(TABLES, ["smoke"])
