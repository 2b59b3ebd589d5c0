"""A search over the parameters of a mechanism whose law is enumerated at each setting."""

import numpy as np
from hypothesis import strategies as st

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from tests.extensions.search.test_searched_parameters import run, short_search  # noqa: F401 - a fixture of every test


def test_laws_that_are_enumerated_take_part():
    """A response that tells the truth too often for one number of answers: its law is followed exactly."""

    def response(data, size, rng, *, answers):
        return np.where(rng.integers(answers, size=size) == 0, 1 - data, data)

    made = PrivacyCheck(
        name="exact",
        mechanism=response,
        claim=PrivacyClaim(1.4, relation=Local()),
        pairs=[(0, 1)],
        parameters={"answers": st.integers(2, 6)},
        method="enumerate",
    )
    result = run(made)
    assert (result.verdict, result.basis) == (Verdict.FAIL, "proof")
    assert result.evidence.searched.setting["answers"] > 5
