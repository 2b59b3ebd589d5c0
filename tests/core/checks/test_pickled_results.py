"""A result is data: it can be pickled, also where the code under audit cannot."""

import pickle
from functools import partial

import pytest

import audit
from audit import AuditError, PrivacyClaim
from tests.core.mechanisms import PAIR, laplace

MECHANISMS = {
    "lambda": lambda data, size, rng: laplace(data, size, rng),
    "per call": audit.per_call(lambda data, rng: laplace(data, 1, rng)[0]),
    "partial": partial(lambda data, size, rng, shift: shift + laplace(data, size, rng), shift=1),
}


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_a_pickled_result_says_the_same(mechanism):
    result = audit.check_privacy(mechanism, PrivacyClaim(0.3), [PAIR], budget=2_000, workers=0)
    read = pickle.loads(pickle.dumps(result))
    assert read.to_dict() == result.to_dict()
    assert str(read) == str(result)
    with pytest.raises(AuditError, match="is not in this pickled result"):
        read.check.mechanism(PAIR[0], 1, None)


def test_code_that_can_be_pickled_stays():
    result = audit.check_privacy(laplace, PrivacyClaim(1.0), [PAIR], budget=500, workers=0)
    assert pickle.loads(pickle.dumps(result)).check.mechanism is laplace
