"""Words: a class for which the hypotheses of Lemma 24 and Theorem 10 hold, with a label-private learner on it.

Theorem 10 of Chaudhuri & Hsu (2011) asks for a doubling dimension above 2 at every scale from 12 a up to the diameter
(a: the accuracy), which no class of the paper has. Words have it. The domain has atoms (k, j), levels k < L and letters
j < b, of mass w_k / 2 each, w_k = 2^-k / b; one more atom, which all hypotheses label -1, has the rest. A hypothesis is
a word (c_0, ..., c_{L-1}); it labels the atoms (k, c_k) with +1. So rho_D(c, c') is the sum of w_k over the levels at
which the words differ.

Proof note. *VC dimension L*: one atom of every level is shattered; two atoms of one level are never both +1. *Doubling
dimension at least log2 b at every scale R in [w_{L-1}, 2 diameter)*: below 2 w_0 let w_k <= R < 2 w_k. The b words that
differ from the center of a ball at level k alone lie in it; any word differs at level k from all of them but one, by
w_k > R / 2, so that a ball of half the radius holds at most one of them. From 2 w_0 on the ball is the whole class, and
for b - 1 words there is one that differs from each of them at every level, at the diameter > R / 2.

The learner is the exponential mechanism on all b^L words with the number of mistakes for score. It falls apart into
one softmax a level, so that b^L may be huge; one label moves the number of mistakes by 1: alpha-label private.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from audit import Labeled, LabelFlip, PrivacyCheck, PrivacyClaim
from audit.laws import Finite, Product
from audit.validate import integer

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PAPER = "Chaudhuri & Hsu 2011"


@dataclass(frozen=True)
class WordClass:
    """Words of L letters out of b, and the distribution on their atoms.

    Parameters
    ----------
    letters : int >= 3
        b.
    levels : int >= 1
        L; the VC dimension.
    """

    letters: int
    levels: int

    def __post_init__(self) -> None:
        integer(self.letters, "letters", at_least=3)
        integer(self.levels, "levels", at_least=1)

    @cached_property
    def weights(self) -> FloatArray:
        """w_k, shape (L,)."""
        return np.asarray(2.0 ** -np.arange(self.levels) / self.letters)

    @property
    def diameter(self) -> float:
        """The sum of all w_k."""
        return float(self.weights.sum())

    def disagreement(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return rho_D of words, shape (..., L) each."""
        return np.asarray((first != second) @ self.weights)

    def counts(self, m: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw how often each atom occurs in samples of m points, shape (size, L, b)."""
        masses = np.repeat(self.weights / 2, self.letters)
        drawn = rng.multinomial(m, np.r_[masses, 1 - masses.sum()], size=size)
        return np.asarray(drawn[:, :-1].reshape(size, self.levels, self.letters))


@dataclass(frozen=True)
class WordLearner:
    """The exponential mechanism on all words; (epsilon, 0)-DP under label flip.

    A dataset is `Labeled`: X holds atoms k b + j, or -1 for the atom that all words label -1; y is in {-1, +1}.

    Parameters
    ----------
    words : WordClass
    epsilon : float > 0
        alpha.
    """

    words: WordClass
    epsilon: float

    def chances(self, lead: NDArray[Any]) -> FloatArray:
        """Return the probabilities of the letters, where `lead` holds labels +1 minus labels -1 of each atom."""
        return np.asarray(softmax(self.epsilon / 2 * lead, axis=-1))

    def choose(self, lead: NDArray[Any], rng: np.random.Generator) -> IntArray:
        """Draw a word for each table of leads, shape (..., L)."""
        noise = rng.gumbel(size=lead.shape)
        return np.asarray(np.argmax(self.epsilon / 2 * lead + noise, axis=-1))

    def learn(self, counts: IntArray, target: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a word for samples that `target` labels, shape (size, L)."""
        signs = np.where(np.arange(self.words.letters) == target[:, None], 1, -1)
        return self.choose(signs * counts, rng)

    def lead(self, dataset: Labeled) -> IntArray:
        """Return labels +1 minus labels -1 of each atom, shape (L, b)."""
        atoms, labels = np.asarray(dataset.X, dtype=np.int64), np.asarray(dataset.y, dtype=np.int64)
        inside = atoms >= 0
        found = np.zeros(self.words.levels * self.words.letters, dtype=np.int64)
        np.add.at(found, atoms[inside], labels[inside])
        return found.reshape(self.words.levels, self.words.letters)

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> IntArray:
        lead = self.lead(dataset)
        return self.choose(np.broadcast_to(lead, (size, *lead.shape)), rng)

    def law(self, dataset: Labeled) -> Product:
        """Law of a word: independent letters."""
        rows = self.chances(self.lead(dataset)).tolist()
        return Product(tuple(Finite(dict(enumerate(row))) for row in rows))


def label_flips() -> list[tuple[Labeled, Labeled]]:
    """Return flips of the label of an atom that is seen once, of one that is seen often, and of the one outside."""
    X = np.array([0, 1, 1, 1, 4, 7, 8, -1])
    y = np.array([1, 1, 1, -1, -1, 1, -1, -1])
    found = []
    for i in (0, 2, 7):
        changed = y.copy()
        changed[i] = -y[i]
        found.append((Labeled(X, y), Labeled(X, changed)))
    return found


CHECKS: list[Any] = [
    PrivacyCheck(
        name=f"cover/words alpha={epsilon:g}",
        mechanism=WordLearner(WordClass(4, 3), epsilon),
        claim=PrivacyClaim(epsilon, 0.0, LabelFlip(), f"{PAPER}, Theorem 26, on words"),
        pairs=label_flips(),
        budget=20_000,
    )
    for epsilon in (0.5, 2.0)
]
