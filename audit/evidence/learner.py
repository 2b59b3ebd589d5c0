"""The posterior probability that an output came from the left: experts on what outputs show, mixed and calibrated."""

from collections.abc import Callable
from functools import partial
from operator import itemgetter

import numpy as np
from scipy import special

from audit.evidence.experts import (
    LARGEST_STATED_RATIO,
    READ_COORDINATES,
    AtomExpert,
    EvenExpert,
    Expert,
    LinearExpert,
    StatedExpert,
)
from audit.evidence.line_experts import LineExperts
from audit.outputs.encode import Outputs

# The sequential game: tuned by `benchmarks.sequential`, `benchmarks.overhead`
EARLY_DOUBT = 5.0  # after this many steps half of the log-odds are used: experts do not know yet how little they saw
NAMED_SHARE = 0.01  # share of the mixture from which an expert is named
POSTERIOR_MARGIN = 1e-9  # posteriors stay this far from 0 and 1, so that no single output costs all the wealth
RETURNING_SHARE = 0.1  # share of weight that returns to the prior, divided by the number of outputs so far
CALIBRATION_WEIGHTS = (0.8, 0.1, 0.1)  # of the posterior, its success rate, and its success rate by sureness
SURENESS_EDGES = np.array([0.15, 0.35, 0.6, 0.9, 1.3, 2.0, 3.5])  # bins of |log-odds| for the success rates

Score = Callable[[Outputs], np.ndarray]


class Learner:
    """Experts on columns read from the outputs, whose layout the first outputs decide.

    The experts' predictions are mixed into one posterior, which is drawn toward one half while they saw little. It is
    then mixed with its own success rates so far, overall and by how sure it was.
    """

    def __init__(self, first: Outputs, score: Score | None) -> None:
        self._readers = _readers(first, score)
        self._experts = _experts(list(self._readers), None if first.is_scalar else first.numbers.shape[1], score)
        self._names = [name for _, expert in self._experts for name in expert.names]
        weights = [weight for _, expert in self._experts for weight in expert.weights]
        self._mixture, self._final = Mixture(np.log(weights)), Mixture(np.log(CALIBRATION_WEIGHTS))
        self._right, self._all = np.zeros((2, len(SURENESS_EDGES) + 1))  # guesses, by how sure they were
        self._steps = 0

    def predict_and_learn(self, left: Outputs, right: Outputs) -> tuple[np.ndarray, np.ndarray]:
        """Return posteriors at the outputs of either side, given earlier batches only; then learn from these."""
        columns = {name: np.concatenate([read(left), read(right)]) for name, read in self._readers.items()}
        sides = np.arange(len(left) + len(right)) < len(left)
        predictions = np.vstack([expert.predict(columns[name]) for name, expert in self._experts])
        mixed = self._mixture.predict(predictions)
        tempered = special.expit(special.logit(mixed) * self._steps / (self._steps + EARLY_DOUBT))
        bins = np.searchsorted(SURENESS_EDGES, np.abs(special.logit(tempered)))
        calibrated = self._calibrated(tempered, bins)
        posterior = self._final.predict(calibrated)
        self._mixture.learn(predictions, mixed, sides)
        self._final.learn(calibrated, posterior, sides)
        self._right += np.bincount(bins, weights=(tempered > 0.5) == sides, minlength=len(self._right))
        self._all += np.bincount(bins, minlength=len(self._all))
        self._steps += len(left)
        for name, expert in self._experts:
            expert.learn(columns[name], sides)
        return posterior[: len(left)], posterior[len(left) :]

    def describe(self, most: int = 3) -> str:
        """Return the experts that weigh most at the end, those asleep on most outputs accordingly less."""
        shares = self._mixture.shares
        order = [i for i in np.argsort(-shares)[:most] if shares[i] >= NAMED_SHARE]
        return ", ".join(f"{self._names[i]} ({shares[i]:.2f})" for i in order)

    def _calibrated(self, posterior: np.ndarray, bins: np.ndarray) -> np.ndarray:
        """Return the posterior as it is, and with its sureness replaced by past success rates; shape (3, n)."""
        overall = (self._right.sum() + 1.0) / (self._all.sum() + 2.0)
        by_bin = (self._right + 2 * overall) / (self._all + 2)
        rates = np.stack([np.full(len(posterior), overall), by_bin[bins]])
        return np.vstack([posterior, np.where(posterior > 0.5, rates, 1 - rates)])


class Mixture:
    """Predictions of experts weighted by their likelihood; one that is asleep keeps its weight.

    A little weight keeps returning to the prior, so that a slow learner can take over.
    """

    def __init__(self, log_prior: np.ndarray) -> None:
        self._prior = special.softmax(log_prior)
        self._weights = self._prior.copy()
        self._outputs = 0
        self._awake = np.zeros(len(log_prior))

    @property
    def shares(self) -> np.ndarray:
        """Weights, times the share of the outputs on which each expert was awake, scaled to sum to 1; shape (K,)."""
        active = self._weights * self._awake
        return np.asarray(active / max(active.sum(), 1e-300))

    def predict(self, predictions: np.ndarray) -> np.ndarray:
        """Return the mixed probability of "left", shape (n,), from predictions of shape (K, n), NaN where asleep."""
        awake = ~np.isnan(predictions)
        weight = self._weights @ awake
        total = self._weights @ np.where(awake, predictions, 0.0)
        mixed = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), 0.5)
        return np.clip(mixed, POSTERIOR_MARGIN, 1 - POSTERIOR_MARGIN)

    def learn(self, predictions: np.ndarray, mixed: np.ndarray, left: np.ndarray) -> None:
        """Multiply the weights by the likelihood of the sides that came."""
        awake = ~np.isnan(predictions)
        own = np.where(left, predictions, 1 - predictions)
        ours = np.where(left, mixed, 1 - mixed)
        gains = np.log(np.maximum(np.where(awake, own, 1.0), 1e-12)) - np.where(awake, np.log(ours), 0.0)
        total = np.log(self._weights) + gains.sum(axis=1)
        posterior = np.exp(total - total.max())
        posterior /= posterior.sum()
        self._outputs += len(left)
        self._awake += awake.sum(axis=1)
        back = min(0.5, RETURNING_SHARE * len(left) / (self._outputs + 10))
        self._weights = (1 - back) * posterior + back * self._prior


def _experts(columns: list[str], width: int | None, score: Score | None) -> list[tuple[str, Expert]]:
    """Return the experts, each with the name of the column that it reads."""
    lines = columns[: columns.index("atoms")]
    experts: list[tuple[str, Expert]] = [(name, LineExperts(name, 1 / len(lines), every=not name)) for name in lines]
    experts += [("atoms", AtomExpert("repeated outputs")), ("kinds", AtomExpert("kinds of symbols"))]
    experts += [("kinds", EvenExpert())]
    if width:
        experts += [("vectors", LinearExpert())]
    if score is not None:
        experts += [("ratios", StatedExpert()), ("ratios", LineExperts("the stated ratio", 1.0, every=True))]
    return experts


def _readers(first: Outputs, score: Score | None) -> dict[str, Callable[[Outputs], np.ndarray]]:
    """Return how each column is read from outputs; the columns of numbers come first."""
    numbers: dict[str, Callable[[np.ndarray], np.ndarray]] = {"": lambda x: x}
    width = 0 if first.is_scalar else first.numbers.shape[1]
    if not first.is_scalar:
        numbers = {
            "the sum": lambda x: x.sum(axis=1),
            "the norm": lambda x: np.sqrt(np.square(x).sum(axis=1)),
            "the maximum": lambda x: x.max(axis=1, initial=-np.inf),
        }
        for i in range(min(width, READ_COORDINATES)):
            numbers[f"coordinate {i}"] = itemgetter((slice(None), i))
    readers: dict[str, Callable[[Outputs], np.ndarray]] = {
        name: partial(_numbers, read, ()) for name, read in numbers.items()
    }
    readers |= {"atoms": Outputs.keys, "kinds": _kinds}
    if width:
        readers["vectors"] = partial(_numbers, lambda x: x, (width,))
    if score is not None:
        readers["ratios"] = partial(_stated, score)
    return readers


def _numbers(read: Callable[[np.ndarray], np.ndarray], width: tuple[int, ...], outputs: Outputs) -> np.ndarray:
    """Return what is read, or nothing but NaN if the outputs have changed their shape."""
    shape = (len(outputs), *width)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            column = np.asarray(read(outputs.numbers), dtype=float)
    except (IndexError, ValueError):
        return np.full(shape, np.nan)
    return column if column.shape == shape else np.full(shape, np.nan)


def _stated(score: Score, outputs: Outputs) -> np.ndarray:
    ratios = np.asarray(score(outputs), dtype=float)
    return np.where(outputs.symbolic, np.nan, np.clip(ratios, -LARGEST_STATED_RATIO, LARGEST_STATED_RATIO))


def _kinds(outputs: Outputs) -> np.ndarray:
    """Return the kind of each symbol ("str", "raised ValueError", ...); numbers are of kind "number"."""
    kinds = np.full(len(outputs), "number", dtype=object)
    if outputs.symbols is not None:
        for row in np.flatnonzero(outputs.symbolic):
            kinds[row] = (outputs.symbols.at(int(row)) or "").split(":")[0]
    return kinds
