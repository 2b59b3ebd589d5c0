"""Algorithm 1, the stability-based histogram: noisy counts of the labels that occur, from a threshold on.

Bousquet et al. (2022), section 2, after Korolova et al. (2009) and Bun, Nissim & Stemmer (2016):

    for each label with count c >= 1:   z = c + Lap(2 / epsilon)
        if z < (2 / epsilon) log(2 / delta) + 1: release 0, else release z
    for each label with count 0:        release 0, without noise

Departures: none in the steps. `release` gives the sparse map of infinitely many cells; delta may be given by its
logarithm. A label that occurs once is released with probability delta / 4, and a count that moves by one costs
epsilon / 2: exactly (epsilon, delta / 4) under substitution, (epsilon / 2, delta / 4) under add/remove.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from audit import AddRemove, InequalityCheck, PrivacyCheck
from audit.errors import InvalidArgument
from audit.laws import PrivacyLoss, Product
from audit.validate import open_probability, positive, real
from mechanisms.papers.bousquet2022.tables import promise, replace_first, state
from mechanisms.papers.rows import BOUSQUET, Cases
from mechanisms.parts.thresholded_count import released_counts, released_law
from mechanisms.queries import Histogram, admit, ask, distinct

WHERE = "Theorem 2.4"
EPSILONS = (0.01, 0.1, 0.25, 0.5, 1.0)
DELTAS = (0.1, 0.01, 1e-4, 1e-6, 1e-9)
FloatArray = np.ndarray


def noise_scale(epsilon: float) -> float:
    """Return 2 / epsilon, or raise where it is so large that a double no longer tells counts apart."""
    if 2 / positive(epsilon, "epsilon") > 2.0**53:
        raise InvalidArgument.of("epsilon", "be at least 2^-52", epsilon)
    return 2 / epsilon


def threshold(epsilon: float, log_delta: float) -> float:
    """Return (2 / epsilon) log(2 / delta) + 1, the least value that is released; log_delta < 0."""
    if not real(log_delta, "log_delta") < 0:
        raise InvalidArgument.of("log_delta", "be < 0", log_delta)
    return noise_scale(epsilon) * (math.log(2) - log_delta) + 1


def draw_counts(counts: Any, epsilon: float, log_delta: float, rng: np.random.Generator) -> FloatArray:
    """Draw one release of counts, shape (labels,); 0 is absent."""
    return released_counts(counts, noise_scale(epsilon), threshold(epsilon, log_delta), 1, rng)[0]


@dataclass(frozen=True)
class StabilityHistogram:
    """Noisy counts of the labels present, from a threshold on; exactly (epsilon, delta / 4)-DP under substitution."""

    epsilon: float  # > 0
    delta: float  # in (0, 1)
    labels: tuple[Hashable, ...] = (0, 1)  # at least two, distinct: one column each; a record outside is refused
    of: Callable[[Any], Any] = np.asarray  # dataset -> labels of its records: who releases this is drawn by it

    def __post_init__(self) -> None:
        noise_scale(self.epsilon)
        admit(self, delta=open_probability, labels=distinct)

    @property
    def scale(self) -> float:
        """Scale of the noise of each count."""
        return noise_scale(self.epsilon)

    @property
    def threshold(self) -> float:
        """Smallest noisy count that is released."""
        return threshold(self.epsilon, math.log(self.delta))

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> FloatArray:
        return released_counts(self.counts(dataset), self.scale, self.threshold, size, rng)

    def release(self, cells: list[tuple[int, ...]], rng: np.random.Generator) -> dict[tuple[int, ...], float]:
        """Return one release as a map from retained labels to noisy counts; labels are any tuples of integers."""
        # The map is sorted: its order follows the labels alone.
        counts = Counter(cells)
        if wrong := [cell for cell in counts if any(type(entry) is not int for entry in cell)]:
            raise InvalidArgument.of("cells", "hold tuples of integers", wrong[0])
        released = released_counts(list(counts.values()), self.scale, self.threshold, 1, rng)[0].tolist()
        return dict(sorted((cell, value) for cell, value in zip(counts, released, strict=True) if value))

    def counts(self, dataset: Any) -> np.ndarray:
        """Exact count of each label shown."""
        return ask(lambda records: Histogram(self.labels)(self.of(records)), dataset)

    def law(self, dataset: Any) -> Product:
        """Law of one output: independent labels, an atom at 0 each."""
        return released_law(self.counts(dataset), self.scale, self.threshold)

    def privacy_loss(self, left: Any, right: Any) -> PrivacyLoss:
        """Privacy loss of a pair, computed once for all claims about the same two laws."""
        return _loss_between(self.law(left), self.law(right))


@lru_cache(maxsize=16)
def _loss_between(left: Product, right: Product) -> PrivacyLoss:
    return left.loss_against(right)


def new_label_probability(epsilon: float, level: float) -> float:
    """Return the probability that a label that occurs once passes the threshold `level`: delta / 4 for the paper's."""
    return math.exp(-(level - 1) * positive(epsilon, "epsilon") / 2) / 2


def mean_error(counts: ArrayLike, epsilon: float, log_delta: float) -> FloatArray:
    """Return E|released - count| for each count >= 0, in closed form."""
    # With b = 2 / epsilon and t = threshold - c: c (1 - e^(-t/b) / 2) + e^(-t/b) (t + b) / 2 for t >= 0, and b +
    # e^(-|t|/b) (threshold - b) / 2 for t < 0; 0 for c = 0.
    c, b, level = np.asarray(counts, dtype=float), 2 / epsilon, threshold(epsilon, log_delta)
    t = level - c
    decay = np.exp(-np.abs(t) / b) / 2
    error = np.where(t >= 0, c * (1 - decay) + decay * (t + b), b + decay * (level - b))
    return np.where(c == 0, 0.0, error)


def records(*counts: int) -> np.ndarray:
    """Return the given numbers of records of label 0, 1, ..."""
    return np.repeat(np.arange(len(counts)), counts)


@BOUSQUET.states("theorem 2.4 a new label passes with delta/4", sense="==")
def delta_cases() -> Cases:
    """A new label passes with probability delta / 4."""
    settings = [(e, d) for e in EPSILONS for d in DELTAS]
    return [(f"eps={e:g} delta={d:g}", new_label_probability(e, threshold(e, math.log(d))), d / 4) for e, d in settings]


def error_cases(constant: float, epsilons: tuple[float, ...], deltas: tuple[float, ...], has_log: bool = True) -> Cases:
    """Compare the worst E|released - count|, counts up to three thresholds, with K min(log(1/delta), count) / epsilon.

    Without the logarithm, with K count / epsilon.
    """
    for epsilon, delta in ((e, d) for e in epsilons for d in deltas):
        counts = np.arange(1, math.ceil(3 * threshold(epsilon, math.log(delta))) + 1)
        least = np.minimum(math.log(1 / delta), counts) if has_log else counts
        error, bound = mean_error(counts, epsilon, math.log(delta)), constant * least / epsilon
        worst = int(np.argmax(error / bound))
        where = f"eps={epsilon:g} delta={delta:g} count={counts[worst]}"
        yield where, float(error[worst]), float(bound[worst])


def _private(epsilon: float, delta: float = 0.1) -> list[PrivacyCheck]:
    mechanism = StabilityHistogram(epsilon, delta)
    most, sharp = math.ceil(2 * mechanism.threshold), f"{WHERE}, constants computed exactly"
    large = records(most, 0)
    # A singleton and a new label leak delta / 4, two large counts epsilon, a large count and a new label both.
    pairs = [(data, replace_first(data, 1)) for data in (records(1, 0), records(most, most), large)]
    pairs = pairs[: 3 if epsilon == 1 else 2]
    grown = [(large, large[1:]), (large, np.append(large, 1))]  # one more record in a large count, and a new label
    return [
        promise("theorem 2.4 as printed", mechanism, epsilon, pairs, delta),
        promise("theorem 2.4 sharp", mechanism, epsilon, pairs, delta / 4, where=sharp),
        promise(
            "theorem 2.4 sharp add-remove", mechanism, epsilon / 2, grown, delta / 4, relation=AddRemove(), where=sharp
        ),
    ]


_ERROR = "E|released - count| <= 2.25 min(log(1/delta), count) / epsilon for epsilon <= 1, delta <= 0.1."
_SHORT = "E|released - count| <= K count / epsilon, for K = 1.18 with epsilon <= 1 and delta <= 0.1, and for K = 1."

CHECKS: list[PrivacyCheck | InequalityCheck] = [
    *BOUSQUET.rows(__name__),
    *(check for epsilon in (0.25, 0.5, 1.0, 2.0) for check in _private(epsilon)),
    _private(1.0, 1e-6)[0],
    state("theorem 2.4 error with K=2.25", _ERROR, partial(error_cases, 2.25, EPSILONS, DELTAS)),
    state("theorem 2.4 one constant for every delta is false", _ERROR, partial(error_cases, 2.25, (1.0,), (0.5, 0.9))),
    state("theorem 2.4 one constant for every epsilon is false", _ERROR, partial(error_cases, 2.25, (5.0,), (0.1,))),
    state("equation 6 with K=1.18", _SHORT, partial(error_cases, 1.18, EPSILONS, DELTAS, False)),
    state("equation 6 with K=1 is false", _SHORT, partial(error_cases, 1.0, EPSILONS, (0.01, 0.5), False)),
]
