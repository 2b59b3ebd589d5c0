"""Goodness of fit with p-values that are valid in finite samples: no asymptotics decides anything."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from audit.base.arguments import integer, open_probability
from audit.base.errors import InvalidArgument
from audit.laws.privacy_loss import FloatArray


def as_reals(outputs: Any) -> FloatArray | None:
    """Return one-dimensional numeric outputs as floats; None if they are anything else, nan included."""
    array = np.asarray(outputs)
    if array.ndim != 1:
        return None
    if array.dtype.kind == "O":
        if not all(isinstance(item, numbers.Real) and not isinstance(item, bool) for item in array):
            return None
    elif array.dtype.kind not in "iuf":
        return None
    reals = array.astype(float)
    return None if np.isnan(reals).any() else reals


def require_outputs(outputs: Any) -> Any:
    """Return `outputs` as an array, or raise `InvalidArgument` if there are none: nothing would be tested."""
    array = np.asarray(outputs)
    if array.ndim == 0 or array.shape[0] == 0:
        raise InvalidArgument.of("outputs", "be an array of at least one output along its first axis", outputs)
    return array


def largest_gap(counts: NDArray[np.int64], cdf: FloatArray, cdf_left: FloatArray) -> float:
    """Return sup |F_n - F| from the counts at the sorted distinct values, F and its left limits there.

    Between two observed values F_n is constant and F rises from F(v_i) to F(v_i+1 -). The supremum is therefore reached
    at an observed value or at its left limit, whether F has atoms or not.
    """
    upto = np.cumsum(counts) / counts.sum()
    before = np.r_[0.0, upto[:-1]]
    return float(max(np.max(np.abs(upto - cdf)), np.max(np.abs(before - cdf_left))))


def dkw_pvalue(size: int, gap: float) -> float:
    """Return an upper bound of the probability that sup |F_n - F| reaches `gap`, over `size` i.i.d. draws from F.

    It is 2 exp(-2 n gap^2), the inequality of Dvoretzky, Kiefer & Wolfowitz with Massart's constant. It holds for every
    F, atoms included (Massart 1990, corollary 1 and its remark on discontinuous F).
    """
    return min(1.0, 2 * math.exp(-2 * size * gap * gap))


def dkw_width(size: int, significance: float, tests: int = 1) -> float:
    """Return the gap in distribution from which `dkw_pvalue`, one of `tests`, is at most significance / tests."""
    n = integer(size, "n", at_least=1)
    level = open_probability(significance, "significance")
    return min(1.0, math.sqrt(math.log(2 * tests / level) / (2 * n)))


def normal_pvalue(values: FloatArray) -> float:
    """Return the DKW p-value that `values` are i.i.d. standard normal."""
    distinct, counts = np.unique(values, return_counts=True)
    cdf = special.ndtr(distinct)
    return dkw_pvalue(values.size, largest_gap(counts, cdf, cdf))


def cells_pvalue(counts: NDArray[np.int64], masses: FloatArray) -> float:
    """Return the Bonferroni p-value of the exact two-sided binomial tests of all outcomes."""
    from scipy import stats

    size = int(counts.sum())
    low = stats.binom.cdf(counts, size, masses)
    high = stats.binom.sf(counts - 1, size, masses)
    return min(1.0, 2 * counts.size * float(np.min(np.minimum(low, high))))


def bonferroni(pvalues: list[float]) -> float:
    """Return the p-value of the intersection of several hypotheses: the least one times their number."""
    return min(1.0, len(pvalues) * min(pvalues))


def serial_pvalues(scores: FloatArray) -> list[float]:
    """Return the DKW p-values of the sums and of the differences of successive pairs of standard normals.

    (z_0 + z_1) / sqrt 2, (z_2 + z_3) / sqrt 2, ... are i.i.d. standard normal if the outputs are independent. Noise
    that one output shares with the next makes one of the two too wide and the other too narrow.
    """
    pairs = scores[: scores.size // 2 * 2].reshape(-1, 2)
    if pairs.size == 0:
        return [1.0, 1.0]
    return [normal_pvalue(combined / math.sqrt(2)) for combined in (pairs.sum(axis=1), pairs[:, 0] - pairs[:, 1])]


def normal_quantiles(uniforms: FloatArray) -> FloatArray:
    """Return the normal quantiles of uniforms, kept finite."""
    return np.asarray(special.ndtri(np.clip(uniforms, 2.0**-64, 1 - 2.0**-53)))
