"""The resolution of the fit that an exact PASS prints is the distance at which the fit really rejects."""

import math

import numpy as np
import pytest
from scipy import stats

from audit import Local, PrivacyClaim, Verdict
from audit.checks.judge import PrivacyEvidence, judge
from audit.evidence.base import PrivacyTerms
from audit.evidence.stated_law import compare_with_law
from audit.execution.seeds import Stream
from audit.laws import Finite, Laplace, Product
from audit.outputs.encode import encode

SIZE, SIGNIFICANCE = 4_000, 0.05


class Stated:
    """A mechanism of which only the law counts: the outputs are given."""

    def __init__(self, law):
        self.law = law


def judged(law, outputs, pairs, epsilon):
    """The evidence and the judgment, when these outputs were drawn on every dataset."""
    claim, drawn = PrivacyClaim(epsilon, relation=Local()), encode(outputs, SIZE)
    terms = (claim, [(0.0, 0.0)] * pairs, [(drawn, drawn)] * pairs, claim.point, Stream(3), SIGNIFICANCE)
    stated = compare_with_law(Stated(lambda data: law), *terms)
    judgment = judge(PrivacyTerms(claim), PrivacyEvidence(2 * SIZE, (stated,)), SIGNIFICANCE)
    return stated.laws[0].fit_resolution, judgment


def displaced(distance, columns, rng):
    """Values without chance, whose distance from the standard Laplace law is given; in a random order."""
    ranks = (np.arange(SIZE) + 0.5) / SIZE
    moved = (ranks >= 0.5 - distance) & (ranks < 0.5)  # over the median, where it changes sums the least
    ranks[moved] += distance
    found = [stats.laplace.ppf(rng.permutation(ranks)) for _ in range(max(1, columns))]
    return np.stack(found, axis=1) if columns else found[0]


@pytest.mark.parametrize(("pairs", "columns"), [(1, 0), (3, 0), (1, 2)])
def test_resolution_is_the_distance_at_which_the_fit_rejects(pairs, columns):
    law, rng = (Product((Laplace(0.0, 1.0),) * columns) if columns else Laplace(0.0, 1.0)), np.random.default_rng(1)
    found, _ = judged(law, displaced(0.0, columns, rng), pairs, 1.0)
    tests = 3 * (columns + 4 if columns else 1)
    assert found == pytest.approx(math.sqrt(math.log(4 * pairs * tests / SIGNIFICANCE) / (2 * SIZE)))
    near, far = (judged(law, displaced(factor * found, columns, rng), pairs, 1.0)[1] for factor in (0.95, 1.05))
    assert near.verdict is Verdict.PASS
    assert f"within {found:.2g}" in near.reason
    assert far.verdict is Verdict.INCONCLUSIVE
    assert "disagree" in far.reason


def test_every_cell_of_a_finite_law_is_tested_within_the_resolution():
    cells, rng = 10, np.random.default_rng(2)
    law = Finite(dict.fromkeys(range(cells), 1 / cells))

    def moved(distance):
        """The first cell has too much."""
        masses = np.full(cells, (1 - 1 / cells - distance) / (cells - 1))
        masses[0] = 1 / cells + distance
        cuts = np.round(np.cumsum(masses) * SIZE).astype(int)
        return rng.permutation(np.searchsorted(cuts, np.arange(SIZE), side="right"))

    resolution, agreed = judged(law, moved(0.0), 1, 1.0)
    assert agreed.verdict is Verdict.PASS
    assert "disagree" in judged(law, moved(1.01 * resolution), 1, 1.0)[1].reason
