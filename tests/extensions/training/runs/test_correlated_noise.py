"""Correlated noise: sensitivities by enumeration, whitening, certificates of turns, refusals."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest

from audit import TrainingCheck, TrainingClaim, run
from audit.certificate.verify import list_problems
from audit.errors import InvalidArgument
from audit.extensions.training import Strategy
from audit.extensions.training.runs.batches import _evenness
from audit.extensions.training.runs.epsilon import epsilon_of_claim
from audit.records.plain import from_plain, to_plain
from benchmarks.training.loops import CORRECT, FAULTS, STRATEGIES, recorded


def enumerated(matrix, separation, participations):
    """The largest norm of a sum of columns that are far enough apart, over all sets; their products are >= 0."""
    steps, best = matrix.shape[1], 0.0
    for count in range(1, participations + 1):
        for places in combinations(range(steps), count):
            if all(later - place >= separation for place, later in pairwise(places)):
                best = max(best, float(np.linalg.norm(matrix[:, places].sum(axis=1))))
    return best


@pytest.mark.parametrize("separation", [1, 3, 4, 8])
@pytest.mark.parametrize("participations", [1, 2, 3])
@pytest.mark.parametrize("kind", ["banded", "buffered", "tree", "rising"])
def test_sensitivities_by_enumeration(kind, participations, separation):
    strategy = {
        "banded": Strategy("banded", (1.0, 0.5, 0.25)),
        "buffered": Strategy("buffered", (0.5, 0.8)),
        "tree": Strategy("tree"),
        "rising": Strategy("banded", (0.5, 1.0)),
    }[kind]
    truth = enumerated(strategy._strategy(8), separation, participations)
    found = strategy.sensitivity(8, separation, participations)
    assert truth * (1 - 1e-12) <= found <= 1.15 * truth  # a bound where the worst steps are not known
    if kind in ("banded", "buffered", "rising"):
        assert found == pytest.approx(truth)


def test_sensitivity_of_columns_with_negative_products():
    """Two steps of opposite gradients: columns (1, -0.5, 0) and (0, 1, -0.5), of which the difference is longer."""
    signed = Strategy("banded", (1.0, -0.5))
    assert signed.sensitivity(3, 1, 2) == pytest.approx(math.sqrt(1 + 1.5**2 + 0.25))
    assert signed.sensitivity(3, 2, 2) == pytest.approx(math.sqrt(1.25 + 1))  # the last column has one number


@pytest.mark.parametrize("bins", [1, 3, 5])
@pytest.mark.parametrize(
    "strategy",
    [Strategy("banded", (1.0, 0.5, 0.25)), Strategy("tree"), Strategy("buffered", (0.5, 0.8)),
     Strategy("matrix", tuple(1.0 + i % 3 for i in range(36)))],
)  # fmt: skip
def test_sensitivity_of_bins_by_enumeration(strategy, bins):
    matrix = strategy._strategy(8)
    truth = max(np.linalg.norm(matrix[:, first::bins].sum(axis=1)) for first in range(bins))
    assert strategy.sensitivity_in_turn(8, bins) == pytest.approx(truth)
    signed = Strategy("banded", (1.0, -0.5))  # of opposite gradients the products of neighboring columns add up
    assert signed.sensitivity_in_turn(2, 1) == pytest.approx(math.hypot(1, 1.5))


def test_even_bins_by_the_multinomial_law():
    """Four records in two bins are two and two in 6 of 16 cases; the bound by Poisson numbers is above."""
    assert 6 / 16 <= _evenness(4, 2, 0.5) <= 0.5
    assert _evenness(600, 10, 0.5) < 1e-10


@pytest.mark.parametrize("name", STRATEGIES)
def test_whitened_noise_is_independent(name):
    """Whitening undoes the covariance of the noise; of a tree, that of differences of prefix sums."""
    strategy = STRATEGIES[name] or Strategy("banded", (1.0,))
    whitening = (
        strategy.whitening(12) if strategy.kind != "matrix" else Strategy("matrix", (1.0, 0.5, 2.0)).whitening(2)
    )
    assert np.allclose(whitening, np.tril(whitening))
    assert (np.diag(whitening) > 0).all()
    if strategy.kind == "tree":
        fresh = np.linalg.inv(whitening)
        sums = np.cumsum(fresh, axis=0)
        assert np.allclose((sums**2).sum(axis=1), [bin(step).count("1") for step in range(1, 13)])


@pytest.mark.parametrize(
    ("name", "loops"),
    [("cyclic Poisson, two bands", CORRECT), ("balls in bins", CORRECT), ("cyclic: groups drawn anew", FAULTS),
     ("cyclic: Poisson from all records", FAULTS), ("bins: drawn anew in each epoch", FAULTS)],
)  # fmt: skip
def test_a_certificate_of_turns_is_whole(name, loops):
    recorder = recorded("logistic", 1, loops[name])
    check = TrainingCheck(name="turns", run=recorder, claim=recorder.claim, unchecked=("alone", "update"))
    certificate = run([check], workers=0).certificate
    assert not list_problems(certificate)


def test_a_claim_is_plain_data_and_says_what_it_needs():
    told = {"noise_multiplier": 2.0, "steps": 20, "clip": 1.0}
    claim = TrainingClaim(sampling="separated", separation=5, strategy=Strategy("tree"), **told)
    assert from_plain(TrainingClaim, to_plain(claim)) == claim
    assert TrainingClaim(sampling="separated", separation=10, **told).sensitivity == math.sqrt(2)
    assert epsilon_of_claim(claim, 100, 5) == epsilon_of_claim(claim, 100)
    for changed, said in (
        ({"sampling": "separated"}, "needs `separation`"),
        ({"rate": 0.1, "strategy": Strategy("tree")}, "needs sampling='separated'"),
        ({"sampling": "separated", "separation": 5, "strategy": "tree"}, "`strategy` must be an"),
        ({"sampling": "cyclic", "separation": 5}, "needs `rate`"),
        ({"sampling": "cyclic", "rate": 0.1, "separation": 5, "strategy": Strategy("tree")}, "at most 5 bands"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            TrainingClaim(**told, **changed)


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [("banded", ()), ("banded", (0.0, 1.0)), ("buffered", (1.0,)), ("buffered", (1.0, 1.0)), ("tree", (1.0,)),
     ("matrix", (1.0, 2.0)), ("matrix", (math.nan,)), ("dense", ())],
)  # fmt: skip
def test_a_strategy_refuses(kind, numbers):
    with pytest.raises(InvalidArgument):
        Strategy(kind, numbers)
    with pytest.raises(InvalidArgument, match="fill 3 rows"):
        Strategy("matrix", (1.0,)).whitening(3)
