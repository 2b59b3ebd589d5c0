"""The stability-based histogram: noisy counts of the labels that occur, kept above a threshold.

Implements Bousquet et al. (2022), Algorithm 1 and Theorem 2.4 (after Korolova et al. 2009 and Bun, Nissim & Stemmer
2016): with b = 2 / epsilon and threshold t = b log(2 / delta) + 1, a label with count c >= 1 is released as
c + Laplace(b) when that is at least t and as 0 otherwise; a label with count 0 is 0 and draws no noise.

Departures from the text: none in the steps. The universe of labels may be infinite; for the audit the output is
viewed on a finite list of labels, as an array with 0 for "absent" (a released value is never 0, since t > 1), and a
record outside the list is refused. `release` gives the sparse map of the text.

The text proves (epsilon, delta) under substitution. Exactly: (epsilon, delta / 4) under substitution and
(epsilon / 2, delta / 4) under add/remove, since a new label is released with probability delta / 4 and each count
that moves by one costs epsilon / 2. Each has its own checks.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from audit import AddRemove, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Laplace, PrivacyLoss, Product
from audit.outputs.fingerprint import identify
from audit.validate import open_probability, positive
from mechanisms.parts.thresholded_count import released_counts, released_law
from mechanisms.queries import Histogram, distinct

SOURCE = "Bousquet et al. 2022, Theorem 2.4"
EPSILONS = (0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class StabilityHistogram:
    """Noisy counts of the labels present, thresholded; exactly (epsilon, delta / 4)-DP under substitution.

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    labels : sequence of at least two distinct hashable values
        Labels shown by the array output, one column each.
    """

    epsilon: float
    delta: float
    labels: tuple[Hashable, ...] = (0, 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        object.__setattr__(self, "delta", open_probability(self.delta, "delta"))
        object.__setattr__(self, "labels", distinct(self.labels, "labels"))

    @property
    def scale(self) -> float:
        """Scale of the noise of each count."""
        return 2 / self.epsilon

    @property
    def threshold(self) -> float:
        """Smallest noisy count that is released."""
        return self.scale * math.log(2 / self.delta) + 1

    def counts(self, dataset: Any) -> np.ndarray:
        """Exact count of each label shown."""
        return Histogram(self.labels)(dataset)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return released_counts(self.counts(dataset), self.scale, self.threshold, size, rng)

    def release(self, data: Any, rng: np.random.Generator) -> dict[Hashable, float]:
        """Return one release as a map from retained labels, of any universe, to noisy counts, sorted by label.

        The map does not keep the order in which labels occur in the data. Labels that compare equal should be
        equal in type as well: the map has one of them. 0.0 has no sign.

        Raises
        ------
        InvalidArgument
            For a label that is NaN: it equals no other, so that its records are never counted together.
        """
        counts = Counter(map(_without_sign, data.tolist() if isinstance(data, np.ndarray) else data))
        released = released_counts(list(counts.values()), self.scale, self.threshold, 1, rng)[0].tolist()
        return dict(sorted_by_label((label, value) for label, value in zip(counts, released, strict=True) if value))

    def law(self, dataset: Any) -> Product:
        """Law of one output: independent labels, an atom at 0 each."""
        return released_law(self.counts(dataset), self.scale, self.threshold)

    def privacy_loss(self, left: Any, right: Any) -> PrivacyLoss:
        """Privacy loss of a pair, computed once for all claims about the same two laws."""
        return _privacy_loss(self.law(left), self.law(right))


@dataclass(frozen=True)
class ThresholdWithoutOne(StabilityHistogram):
    """Decoy: threshold b log(2 / delta), without the + 1.

    A new label passes with probability e^(epsilon / 2) delta / 4, which is at most delta for epsilon <= 2 log 4.
    """

    @property
    def threshold(self) -> float:
        """Smallest noisy count that is released."""
        return self.scale * math.log(2 / self.delta)


@dataclass(frozen=True)
class ThresholdLogOneOverDelta(StabilityHistogram):
    """Decoy: log(1 / delta) for log(2 / delta); a new label passes with probability delta / 2."""

    @property
    def threshold(self) -> float:
        """Smallest noisy count that is released."""
        return self.scale * math.log(1 / self.delta) + 1


@dataclass(frozen=True)
class AllLabelsNoThreshold(StabilityHistogram):
    """Decoy: no threshold, but noise on EVERY label of a finite public list; (epsilon, 0)-DP."""

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        counts = self.counts(dataset)
        return counts + rng.laplace(scale=self.scale, size=(size, counts.size))

    def law(self, dataset: Any) -> Product:
        """Law of one output."""
        return Product(tuple(Laplace(float(count), self.scale) for count in self.counts(dataset)))


def sorted_by_label(items: Iterable[tuple[Any, float]]) -> list[tuple[Any, float]]:
    """Sort by label: numbers or texts by value, labels of other types by type and content."""
    released = list(items)
    kinds = {type(label) for label, _ in released}
    if kinds <= {int, float, bool} or kinds == {str}:  # any two of these are in an order
        return sorted(released, key=lambda item: item[0])
    return sorted(released, key=lambda item: (type(item[0]).__qualname__, _content(item[0])))


def _without_sign(label: Any) -> Any:
    """Return a label with +0.0 for -0.0, which it equals: the map holds the one that came first."""
    if type(label) is tuple:
        return tuple(map(_without_sign, label))
    if isinstance(label, (float, np.floating)):
        if math.isnan(label):
            raise InvalidArgument.of("data", "hold no label that is NaN", label)
        return label + type(label)(0.0)
    return label


def _content(label: Any) -> Any:
    """Return what sorts labels of one type: tuples of whole numbers by value, all others by their whole content."""
    if type(label) is tuple and all(type(entry) is int for entry in label):
        return "", label
    return identify(label), ()


@lru_cache(maxsize=16)
def _privacy_loss(left: Product, right: Product) -> PrivacyLoss:
    return left.loss_against(right)


def records(*counts: int) -> np.ndarray:
    """Dataset with the given number of records of label 0, 1, ..."""
    return np.repeat(np.arange(len(counts)), counts)


def move_first(data: np.ndarray, label: int) -> np.ndarray:
    """The same dataset with its first record moved to another label."""
    return np.r_[label, data[1:]]


def substitution_pairs(threshold: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return a pair of each type: a singleton and a new label, two large counts, a large count and a new label.

    The first leaks delta / 4, the second epsilon; the third lies between and leaks both.
    """
    large = math.ceil(2 * threshold)
    return [(data, move_first(data, 1)) for data in (records(1, 0), records(large, large), records(large, 0))]


def add_remove_pairs(threshold: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """One more record in a large count, and a new label."""
    large = records(math.ceil(2 * threshold), 0)
    return [(large, large[1:]), (large, np.append(large, 1))]


def _printed(epsilon: float, delta: float, pairs: list[Any]) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"stability histogram/as printed eps={epsilon:g} delta={delta:g}",
        mechanism=StabilityHistogram(epsilon, delta),
        claim=PrivacyClaim(epsilon, delta, Substitution(), SOURCE),
        pairs=pairs,
    )


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    tag, mechanism = f"eps={epsilon:g} delta={delta:g}", StabilityHistogram(epsilon, delta)
    pairs = substitution_pairs(mechanism.threshold)[: 3 if epsilon == 1 else 2]
    sharp = f"{SOURCE}, constants computed exactly"
    return [
        _printed(epsilon, delta, pairs),
        PrivacyCheck(
            name=f"stability histogram/sharp {tag}",
            mechanism=mechanism,
            claim=PrivacyClaim(epsilon, delta / 4, Substitution(), sharp),
            pairs=pairs,
        ),
        PrivacyCheck(
            name=f"stability histogram/sharp add-remove {tag}",
            mechanism=mechanism,
            claim=PrivacyClaim(epsilon / 2, delta / 4, AddRemove(), sharp),
            pairs=add_remove_pairs(mechanism.threshold),
        ),
    ]


def _decoy_checks() -> list[PrivacyCheck]:
    claim = PrivacyClaim(1.0, 0.1, Substitution(), SOURCE)
    decoys = {
        "threshold without + 1": ThresholdWithoutOne(1.0, 0.1),
        "log(1/delta) threshold": ThresholdLogOneOverDelta(1.0, 0.1),
    }
    thresholds = [
        PrivacyCheck(
            name=f"decoy/stability histogram {name} eps=1 delta=0.1",
            mechanism=mechanism,
            claim=claim,
            pairs=substitution_pairs(mechanism.threshold)[:1],
        )
        for name, mechanism in decoys.items()
    ]
    everything = AllLabelsNoThreshold(0.5, 0.1)
    return [
        *thresholds,
        PrivacyCheck(
            name="decoy/stability histogram all labels and no threshold eps=0.5",
            mechanism=everything,
            claim=PrivacyClaim(0.5, 0.0, Substitution(), "Bousquet et al. 2022, Theorem 2.3"),
            pairs=substitution_pairs(everything.threshold)[1:],
        ),
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for epsilon in EPSILONS for check in _checks(epsilon, 0.1)),
    _printed(1.0, 1e-6, substitution_pairs(StabilityHistogram(1.0, 1e-6).threshold)[:2]),
    *_decoy_checks(),
]
