"""Each refusal names a remedy, each remedy is followed, and each has a line of the code."""

import numpy as np
import pytest

import audit
from audit.extensions.enumeration.following import REMEDIES, remedy_for


def geometric_max(data, rng):
    return max(int(rng.geometric(0.5)) for _ in range(2))


def two_of_three(data, rng):
    first = int(rng.choice(3, p=[0.5, 0.25, 0.25]))
    left = [index for index in range(3) if index != first]
    return first, int(rng.choice(left))


def of_indices(data, rng):
    return [data[index] for index in rng.permutation(3)]


# the part of a message, a refused program, and one with the remedy
PAIRS = {
    "for comparison with another draw": (
        lambda _, rng: rng.random() ** 2 < rng.random(),
        geometric_max,
    ),
    "for conversion to float": (
        lambda _, rng: float(rng.random()) < 0.5,
        lambda _, rng: rng.random() < 0.5,
    ),
    "possible values was fixed, for the output": (
        lambda _, rng: rng.random(),
        lambda _, rng: int(rng.random() * 2**6),
    ),
    "possible values was fixed": (lambda _, rng: {rng.integers(9999): 1}, lambda _, rng: {rng.integers(64): 1}),
    "integer parts was made an integer": (
        lambda _, rng: int(rng.random() * 10**6),
        lambda _, rng: int(np.clip(rng.random() * 10**6, 0, 100)),
    ),
    "np.": (lambda _, rng: bool(np.sin(rng.random()) < 0.5), lambda _, rng: bool(np.exp(rng.random()) < 1.5)),
    "binomial with n": (
        lambda _, rng: rng.binomial(2000, 0.5),
        lambda _, rng: rng.binomial(9, 0.5) + rng.binomial(9, 0.5) > 0,
    ),
    "random into an array": (
        lambda _, rng: rng.random(2, dtype=np.float32)[0] < 0.5,
        lambda _, rng: bool(rng.random(2)[0] < 0.5),
    ),
    "choice without replacement, with p": (
        lambda _, rng: rng.choice(3, 2, replace=False, p=[0.5, 0.25, 0.25]),
        two_of_three,
    ),
    "in NumPy's own order": (
        lambda _, rng: str(rng.choice(3, 2, replace=False, shuffle=False)),
        lambda _, rng: str(rng.choice(3, 2, replace=False)),
    ),
    "bytes of another number": (lambda _, rng: rng.bytes(1.0), lambda _, rng: rng.bytes(1)),
    "along another axis": (lambda _, rng: rng.permutation(np.eye(3), axis=1), of_indices),
    "Generator.": (lambda _, rng: rng.standard_t(3) < 0, lambda _, rng: rng.random() < 0.5),
}
OTHERS = {
    "source was seeded": ("random", lambda data, rng: rng.seed(1), lambda data, rng: rng.random() < 0.5),
    "state of the source": ("random", lambda data, rng: rng.getstate(), lambda data, rng: rng.random() < 0.5),
    "read of the whole stream": ("bytes", lambda data, stream: stream.read(), lambda data, stream: stream.read(1)),
    "RandomState.": ("random_state", lambda data, rng: rng.wald(1, 1), lambda data, rng: bool(rng.rand() < 0.5)),
}


def test_each_remedy_has_programs():
    own = {part for part, remedy in REMEDIES if "follow the noise" not in remedy}
    assert own == {*PAIRS, *OTHERS}
    assert remedy_for("not followed, by the limit of time") == ""


def refused_and_accepted(part, refused, accepted, data=(1, 2, 3), **settings):
    remedy = dict(REMEDIES)[part]
    law = audit.enumerate_law(refused, data, time_limit=1.0, **settings)
    (said,) = [reason for reason in law.not_followed if part in reason]
    assert said.endswith(f"; instead: {remedy}")
    assert ", line " in said or "for the output" in said  # of which no line is at fault
    law = audit.enumerate_law(accepted, data, **settings)
    assert (law.behind, law.residual < 1e-11) == ((), True), law.not_followed


@pytest.mark.parametrize("part", PAIRS)
def test_the_remedy_is_followed(part):
    refused_and_accepted(part, *PAIRS[part])


@pytest.mark.parametrize("part", OTHERS)
def test_the_remedy_of_other_sources_is_followed(part):
    source, refused, accepted = OTHERS[part]
    refused_and_accepted(part, refused, accepted, rng=source)
