"""Comparisons by swapping: are the partners in (P, Q) and (P', Q') more alike than in (P, Q') and (P', Q)?

Let f be any function of an output: the indicator of its value, or its rank. The score

    < f(P) - f(P'), f(Q) - f(Q') >

changes its sign when Q and Q' are swapped, which leaves the joint law of independent, identically distributed outputs
as it is. So it is positive as often as negative; and comparisons without an output in common have independent signs.
With the indicator it counts equal values: [P=Q] + [P'=Q'] - [P=Q'] - [P'=Q]. Collisions that the law of discrete
outputs brings about occur on either side of the difference, and cancel. For groups, f is summed over the group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.checks.randomness.evidence import Comparison
from audit.game.scorers.atoms import atom_keys
from audit.subjects import Outputs

_MOST_COORDINATES = 8  # beyond these a vector counts as a whole


@dataclass(frozen=True)
class Values:
    """Outputs as codes and ranks; both depend on the order of the outputs in no other way than by following it.

    Parameters
    ----------
    codes : int array, shape (size, c)
        Equal values have equal codes; one column a coordinate, or one for the outputs as they are.
    ranks : float array, shape (size,)
        Centred ranks of the outputs, of the sums of vectors, of the codes of symbols.
    """

    codes: np.ndarray
    ranks: np.ndarray

    @classmethod
    def of(cls, outputs: Outputs) -> Values:
        """Code and rank."""
        whole = _codes_of(atom_keys(outputs))
        numbers = outputs.numbers if outputs.is_scalar else outputs.numbers.sum(axis=1)
        ranks = _codes_of(np.where(np.isfinite(numbers), numbers, whole)).astype(float)
        if outputs.is_scalar or outputs.symbolic.any():
            return cls(whole[:, None], ranks - ranks.mean())
        columns = [_codes_of(column) for column in outputs.numbers.T[:_MOST_COORDINATES]]
        if len(columns) < outputs.numbers.shape[1]:
            columns.append(whole)
        return cls(np.stack(columns, axis=1), ranks - ranks.mean())

    def __getitem__(self, rows: slice | np.ndarray) -> Values:
        return Values(self.codes[rows], self.ranks[rows])

    def __len__(self) -> int:
        return len(self.ranks)


Scores = tuple[np.ndarray, np.ndarray]  # the scores, and what they would be if each Q were its P


def equality(values: Values, p: np.ndarray, q: np.ndarray, p2: np.ndarray, q2: np.ndarray) -> Scores:
    """Scores of single outputs by equal values; the arguments are rows, shape (k,) each."""

    def equal(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray((values.codes[a] == values.codes[b]).sum(axis=1))

    return equal(p, q) + equal(p2, q2) - equal(p, q2) - equal(p2, q), values.codes.shape[1] - equal(p, p2)


def concordance(values: Values, p: np.ndarray, q: np.ndarray, p2: np.ndarray, q2: np.ndarray) -> Scores:
    """Scores of single outputs by their ranks."""
    gap = values.ranks[p] - values.ranks[p2]
    return gap * (values.ranks[q] - values.ranks[q2]), gap**2


def group_equality(p: Values, q: Values, p2: Values, q2: Values) -> tuple[float, float]:
    """Score of four groups of outputs by the numbers of equal values."""

    def equal(a: Values, b: Values) -> int:
        return int((a.codes[:, None, :] == b.codes[None, :, :]).sum())

    score = equal(p, q) + equal(p2, q2) - equal(p, q2) - equal(p2, q)
    return score, equal(p, p) + equal(p2, p2) - 2 * equal(p, p2)


def group_concordance(p: Values, q: Values, p2: Values, q2: Values) -> tuple[float, float]:
    """Score of four groups of outputs by their mean ranks; a difference of rounding size is none."""
    gap, other = (float(a.ranks.mean() - b.ranks.mean()) for a, b in ((p, p2), (q, q2)))
    gap, other = (0.0 if abs(x) < 1e-9 else x for x in (gap, other))
    return gap * other, gap**2


def count(kind: str, scores: Scores, lag: int | None = None) -> Comparison:
    """Count wins, losses, ties, and the comparisons that could be won."""
    found, most = (np.asarray(part) for part in scores)
    won, lost = int((found > 0).sum()), int((found < 0).sum())
    return Comparison(kind, won, lost, len(found) - won - lost, int((most > 0).sum()), lag)


def opposite(kind: str, comparison: Comparison) -> Comparison:
    """The comparison that is won where this one is lost: the partners of the one are those swapped in the other."""
    return Comparison(kind, comparison.lost, comparison.won, comparison.tied, comparison.able)


def _codes_of(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(values, return_inverse=True)[1]).reshape(-1)
