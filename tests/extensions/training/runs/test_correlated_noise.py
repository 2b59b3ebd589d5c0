"""Correlated noise: sensitivities by enumeration, certificates of turns, refusals."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest

from audit import TrainingCheck, TrainingClaim, run
from audit.certificate.verify import list_problems
from audit.errors import InvalidArgument
from audit.extensions.training.runs.epsilon import epsilon_of_claim
from audit.records.plain import from_plain, to_plain
from benchmarks.training.loops import CORRECT, FAULTS, recorded

TOLD = {"noise_multiplier": 2.0, "steps": 8, "clip": 1.0}


@pytest.mark.parametrize("separation", [1, 3, 4, 8])
@pytest.mark.parametrize("strategy", [(), (1.0, 0.5, 0.25), (1.0, *(0.5 * 0.8**k for k in range(7))), (2.0,) * 8])
def test_sensitivities_by_enumeration(strategy, separation):
    """The largest norm of a sum of columns that are far enough apart, over all sets of steps."""
    claim = TrainingClaim(sampling="separated", separation=separation, strategy=strategy, **TOLD)
    sets = (places for count in range(1, 9) for places in combinations(range(8), count))
    apart = [places for places in sets if all(later - place >= separation for place, later in pairwise(places))]
    truth = max(np.linalg.norm(claim.whitening[:, places].sum(axis=1)) for places in apart)
    assert claim.sensitivity == pytest.approx(truth)
    assert np.array_equal(claim.whitening, np.tril(claim.whitening))
    assert (np.diag(claim.whitening) == (strategy or (1.0,))[0]).all()


@pytest.mark.parametrize(
    ("name", "loops"),
    [("cyclic Poisson, two bands", CORRECT), ("cyclic: groups drawn anew", FAULTS),
     ("cyclic: Poisson from all records", FAULTS)],
)  # fmt: skip
def test_a_certificate_of_turns_is_whole(name, loops):
    recorder = recorded("logistic", 1, loops[name])
    check = TrainingCheck(name="turns", run=recorder, claim=recorder.claim, unchecked=("alone", "update"))
    certificate = run([check], workers=0).certificate
    assert not list_problems(certificate)


def test_a_claim_is_plain_data_and_says_what_it_needs():
    claim = TrainingClaim(sampling="separated", separation=5, strategy=np.array([1.0, 0.5]), **TOLD)
    assert from_plain(TrainingClaim, to_plain(claim)) == claim
    assert TrainingClaim(sampling="separated", separation=4, **TOLD).sensitivity == math.sqrt(2)
    assert epsilon_of_claim(claim, 100, 5) == epsilon_of_claim(claim, 100)
    turns = {"sampling": "separated", "separation": 5}
    for changed, said in (
        ({"sampling": "separated"}, "needs `separation`"),
        ({"rate": 0.1, "strategy": (1.0, 0.5)}, "needs sampling='separated'"),
        ({"sampling": "cyclic", "separation": 5}, "needs `rate`"),
        ({"sampling": "cyclic", "rate": 0.1, "separation": 2, "strategy": (1.0, 0.5, 0.1)}, "at most 2 bands"),
        *[({**turns, "strategy": wrong}, "`strategy` must hold coefficients")
          for wrong in ((0.5, 1.0), (1.0, -0.5), (0.0,), (1.0, math.nan), (math.inf, 1.0))],
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match=said):
            TrainingClaim(**TOLD, **changed)
