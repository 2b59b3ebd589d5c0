"""A subject with one oddity each, named after it, gets its verdict and the cause, and takes no other along."""

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict, per_call

PAIR = (np.zeros(5), np.r_[1.0, np.zeros(4)])


def honest(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def raises_on_one_side(data, size, rng):
    outputs = honest(data, size, rng)
    if data[0] == 0 and (outputs > 3).any():
        raise OverflowError("too big")
    return outputs


def nan_on_one_side(data, size, rng):
    outputs = honest(data, size, rng)
    if data[0] == 1:
        outputs[rng.random(size) < 0.05] = np.nan
    return outputs


def wrong_length_later(data, size, rng):
    return np.zeros(size + (size > 100))


def mutates_call_by_call(data, rng):
    data += 1
    return data.sum() + rng.laplace()


def global_generator(data, size, rng):
    return data.sum() + np.random.default_rng().laplace(size=size)


class CountsItsCalls:
    calls = 0

    def __call__(self, data, size, rng):
        self.calls += 1
        return honest(data, size, rng) + self.calls


class RaisesInItsLaw:
    def __call__(self, data, size, rng):
        return honest(data, size, rng)

    def law(self, data):
        raise RuntimeError("no law")


EXHIBITS = {  # the verdict, and words of the reason
    honest: (Verdict.PASS, "floating point: not audited"),
    raises_on_one_side: (Verdict.FAIL, "guesses were right"),
    nan_on_one_side: (Verdict.FAIL, "guesses were right"),
    wrong_length_later: (Verdict.INCONCLUSIVE, "outputs, expected"),
    per_call(mutates_call_by_call): (Verdict.INCONCLUSIVE, "changed its dataset, which later calls"),
    global_generator: (Verdict.INCONCLUSIVE, "the same seed gave different outputs"),
    CountsItsCalls(): (Verdict.INCONCLUSIVE, "depend on earlier calls"),
    RaisesInItsLaw(): (Verdict.INCONCLUSIVE, "cannot be evaluated: RuntimeError: no law"),
}


@pytest.fixture(scope="module")
def report():
    settings = dict(claim=PrivacyClaim(1.0), pairs=[PAIR], tolerance=1.0)
    checks = [PrivacyCheck(name=str(place), mechanism=each, **settings) for place, each in enumerate(EXHIBITS)]
    return audit.run(checks, budget=40_000, workers=2, timeout=60)


@pytest.mark.parametrize("place", range(len(EXHIBITS)))
def test_each_exhibit_gets_its_verdict_and_its_cause(report, place):
    verdict, words = [*EXHIBITS.values()][place]
    result = report[str(place)]
    assert (result.verdict, words in result.reason) == (verdict, True), result.reason
