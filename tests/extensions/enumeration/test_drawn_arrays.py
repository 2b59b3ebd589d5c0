"""What is asked of an array of draws waits, and their sum is one fork; each guard is needed."""

from fractions import Fraction

import numpy as np
import pytest

import audit
from audit.extensions.enumeration import drawn_arrays, exploring

BITS = (0, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1)


def reports(data, rng):
    return np.where(rng.random(len(data)) < 0.75, data, 1 - np.array(data))


FORMS = {
    "exclusive or": lambda data, rng: int(np.sum(np.array(data) ^ (rng.random(len(data)) < 0.25))),
    "where": lambda data, rng: reports(data, rng).sum(),
    "mean": lambda data, rng: reports(data, rng).mean() * len(data),
    "converted": lambda data, rng: ((np.array(data) + (rng.random(len(data)) >= 0.75).astype(int)) % 2).sum(),
    "non-zeros": lambda data, rng: np.count_nonzero(np.equal(data, rng.random(len(data)) < 0.75)),
}


def convolved(data):
    """Return the law of the sum, by hand: one user after the other."""
    law = [Fraction(1)]
    for bit in data:
        one = Fraction(3, 4) if bit else Fraction(1, 4)
        law = [(1 - one) * same + one * up for same, up in zip([*law, 0], [0, *law], strict=True)]
    return law


@pytest.mark.parametrize("form", FORMS)
def test_sums_have_the_law_of_the_convolution(form):
    law = audit.enumerate_law(FORMS[form], BITS)
    assert (law.behind, law.states) == ((), 1)
    assert [law.probabilities[total] for total in range(len(BITS) + 1)] == convolved(BITS)


def test_a_hundred_users_have_a_law():
    law = audit.enumerate_law(FORMS["where"], BITS[:2] * 50, time_limit=30.0)
    assert (law.behind, law.residual < 1e-11) == ((), True)
    assert float(law.probabilities[50]) == pytest.approx(float(convolved(BITS[:2] * 50)[50]))


def asked_afterwards(data, rng):
    keep = rng.random(14) < 0.75
    return int(keep.sum()), bool(keep[0])


def summed_twice(data, rng):
    numbers = rng.random(14)
    return int((numbers < 0.75).sum()), int((numbers < 0.5).sum())


@pytest.mark.parametrize("program", [asked_afterwards, summed_twice])
def test_draws_of_a_sum_are_linked(program, monkeypatch):
    """Without the link each is asked anew: fewer than 0.5, and more than 0.75 at once."""
    assert audit.enumerate_law(program, 0).residual == 1
    monkeypatch.setattr(drawn_arrays, "SumGroup", lambda *arguments: None)
    monkeypatch.setattr(exploring.Explorer, "_unconfirmed", lambda self, text: None)
    law = audit.enumerate_law(program, 0)
    assert {(14, False), (0, 14)} & set(law.probabilities)
