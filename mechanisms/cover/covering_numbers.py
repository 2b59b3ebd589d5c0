"""Remark 28, run: A3 at a sample size that rests on covering numbers, on a class of 1,000 times the VC dimension.

From Chaudhuri & Hsu (2011, Remark 28): "The first term in the sample size requirement (which depends on VC dimension)
can be replaced by distribution-based quantities used for characterizing uniform convergence such as those based on
l1-covering numbers (Pollard, 1984)." With Pollard's Theorem II.24,

    P(sup_h |err(h, S) - err(h)| > u) <= 8 E N_1(u / 8, H, X) exp(-m u^2 / 128),

at u = a / 4, and the privacy part of Theorem 27 at a / 4, the proof of Theorem 27 gives an error of at most
noise + a with probability 1 - beta from

    m = max{(2048 / a^2) ln(16 E N_1(a / 32, H, X) / beta), (8 / (alpha a)) ln(2 E|G| / beta)}      on.

Words (`mechanisms.cover.words`) of 1,000 levels have VC dimension 1,000, but a level's atoms weigh half as much as
those of the level before: words that share the first k letters are 2^-k apart at most, and N_1(s) <= b^k where the
later atoms are at most a share s of the sample. That they are more has a probability far below b^-1000.

The learner is A3 with the words whose letters beyond such a k are 0 for a cover: k is a function of the unlabeled
points. It need not be a packing: only ln |G| enters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from audit import GuaranteeCheck, InequalityCheck, Labeled, LabelFlip, PrivacyCheck, PrivacyClaim
from audit.laws import Finite, Product
from mechanisms.cover.sample_sizes import label_private_size
from mechanisms.cover.words import PAPER, WordClass, WordLearner, label_flips

REMARK_28 = f"{PAPER}, Remark 28"
WORDS = WordClass(4, 1_000)
EPSILON, ACCURACY, BETA, NOISE = 0.1, 0.1, 0.1, 0.2
Cases = list[tuple[str, float, float]]


@dataclass(frozen=True)
class TruncatedWordLearner:
    """The exponential mechanism on words whose rare letters are 0; (epsilon, 0)-DP under label flip.

    Parameters
    ----------
    words : WordClass
    epsilon : float > 0
        alpha.
    scale : float in (0, 1)
        Share of the points that may lie on atoms of the levels that are left out; a / 4.
    """

    words: WordClass
    epsilon: float
    scale: float

    def kept(self, counts: NDArray[np.int64]) -> int:
        """Return how many levels keep their letters; counts of the atoms, shape (L, b), and a row of the rest."""
        beyond = np.r_[np.cumsum(counts[:-1].sum(axis=1)[::-1])[::-1], 0]
        return int(np.argmax(beyond <= self.scale * counts.sum()))

    def choose(self, counts: NDArray[np.int64], lead: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a word for one table of counts, shape (L + 1, b), and leads of its atoms, shape (..., L, b)."""
        found = WordLearner(self.words, self.epsilon).choose(lead, rng)
        found[..., self.kept(counts) :] = 0
        return found

    def _counts(self, dataset: Labeled) -> NDArray[np.int64]:
        """Count the atoms; the last row has the points outside."""
        levels, letters = self.words.levels, self.words.letters
        atoms = np.asarray(dataset.X, dtype=np.int64)
        places = np.where(atoms < 0, levels * letters, atoms)
        return np.bincount(places, minlength=(levels + 1) * letters).reshape(levels + 1, letters)

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        lead = WordLearner(self.words, self.epsilon).lead(dataset)
        return self.choose(self._counts(dataset), np.broadcast_to(lead, (size, *lead.shape)), rng)

    def law(self, dataset: Labeled) -> Product:
        """Law of a word: independent letters."""
        learner = WordLearner(self.words, self.epsilon)
        kept = self.kept(self._counts(dataset))
        rows = learner.chances(learner.lead(dataset)).tolist()[:kept]
        return Product(
            tuple(Finite(dict(enumerate(row))) for row in rows) + (Finite({0: 1.0}),) * (self.words.levels - kept)
        )


def log_covering_number(words: WordClass, scale: float, m: float) -> float:
    """Return an upper bound of ln E N_1(scale, H, X): b^k, and b^L where later atoms are a larger share."""
    share = words.weights * words.letters / 2
    later = np.r_[np.cumsum(share[::-1])[::-1], 0.0]
    kept = int(np.argmax(later <= scale / 2))
    p = float(later[kept])
    divergence = scale * math.log(scale / p) + (1 - scale) * math.log((1 - scale) / (1 - p))
    one = math.log(words.letters)
    return float(logsumexp([kept * one, words.levels * one - m * divergence]))


def remark_size(words: WordClass, epsilon: float, accuracy: float, beta: float) -> int:
    """Return m of Remark 28 with Pollard's covering numbers, whatever the VC dimension."""
    m = 1e6
    for _ in range(50):
        deviation = 2048 / accuracy**2 * (math.log(16 / beta) + log_covering_number(words, accuracy / 32, m))
        privacy = 8 / (epsilon * accuracy) * (math.log(2 / beta) + log_covering_number(words, accuracy / 4, m))
        m, last = max(deviation, privacy), m
        if m == last:
            return math.ceil(m)
    raise ArithmeticError(f"no fixed point, at {m:g}")


def size_cases() -> Cases:
    """Compare the size of the remark with that of Theorem 27 for V = 1,000, and with itself for more levels."""
    size, cover = remark_size(WORDS, EPSILON, ACCURACY, BETA), log_covering_number(WORDS, ACCURACY / 8, 1e7)
    with_vc = label_private_size(EPSILON, ACCURACY, BETA, NOISE, WORDS.levels, cover)
    few = remark_size(WordClass(WORDS.letters, 20), EPSILON, ACCURACY, BETA)
    return [("V = 1000", float(size), float(with_vc)), ("50 times the levels", float(size), 1.001 * few)]


@dataclass(frozen=True)
class NoisyTrials:
    """Trials: the learner errs by at most noise + accuracy on m points, each label flipped with probability `NOISE`."""

    learner: TruncatedWordLearner
    m: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        words, found = self.learner.words, []
        target = rng.integers(words.letters, size=(replicates, words.levels))
        masses = np.repeat(words.weights / 2, words.letters)
        for word in target:
            drawn = rng.multinomial(self.m, np.r_[masses, 1 - masses.sum()])
            table = np.zeros((words.levels + 1, words.letters), dtype=np.int64)
            table[:-1], table[-1, 0] = drawn[:-1].reshape(words.levels, words.letters), drawn[-1]
            signs = np.where(np.arange(words.letters) == word[:, None], 1, -1)
            lead = signs * (table[:-1] - 2 * rng.binomial(table[:-1], NOISE))
            found.append(self.learner.choose(table, lead, rng))
        return np.asarray((1 - 2 * NOISE) * words.disagreement(np.array(found), target) <= ACCURACY)


def remark_check(name: str, scale: float, **settings: Any) -> GuaranteeCheck:
    """Return a check of the guarantee with a cover of some scale, at the size of the remark."""
    m = remark_size(WORDS, EPSILON, ACCURACY, BETA)
    said = "; false for a coarser cover" if settings else ""
    return GuaranteeCheck(
        name=name,
        source=REMARK_28,
        statement=f"A3 errs by at most 0.3, with 0.2 of the labels flipped, from m = {m} on, V = 1,000{said}.",
        trials=NoisyTrials(TruncatedWordLearner(WORDS, EPSILON, scale), m),
        beta=BETA,
        slack=0.1,
        budget=200,
        **settings,
    )


CHECKS: list[Any] = [
    remark_check("cover/accuracy of A3 by covering numbers", ACCURACY / 4),
    InequalityCheck(
        name="cover/size by covering numbers",
        source=REMARK_28,
        statement="It is below that of Theorem 27 for V = 1,000, and does not grow with the VC dimension.",
        values=size_cases,
    ),
    PrivacyCheck(
        name="cover/A3 by covering numbers alpha=1",
        mechanism=TruncatedWordLearner(WordClass(4, 3), 1.0, 0.3),
        claim=PrivacyClaim(1.0, 0.0, LabelFlip(), f"{PAPER}, Theorem 26, on words"),
        pairs=label_flips(),
        budget=20_000,
    ),
]
