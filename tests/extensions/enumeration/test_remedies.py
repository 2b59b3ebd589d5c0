"""Each refusal names a remedy, each remedy is followed, and each has a line of the code."""

import math

import numpy as np
import pytest

import audit
from audit.extensions.enumeration import Answer
from audit.extensions.enumeration.remedies import REMEDIES, remedy_for


def largest(data, rng):
    best, arg = rng.laplace(), 0
    for index in (1, 2):
        noisy = rng.laplace()
        if noisy > best:
            best, arg = noisy, index
    return arg


def circle(data, rng):
    a, b, c, d = (rng.laplace() for _ in range(4))
    return [bool(a < b), bool(c < d), bool(a < d), bool(c < b)]


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
    "normal law was fixed, for comparison with": (
        lambda _, rng: bool(rng.normal() < rng.normal()),
        lambda _, rng: bool(rng.gumbel() < rng.gumbel()),
    ),
    "logistic law was fixed, for comparison with": (
        lambda _, rng: bool(rng.logistic() < rng.logistic()),
        lambda _, rng: round(rng.logistic()) < 1,
    ),
    "for comparison with another draw": (
        lambda _, rng: rng.random() ** 2 < rng.random(),
        lambda _, rng: bool(2 * rng.random() < rng.random()),
    ),
    "law was fixed, for the output": (lambda _, rng: rng.laplace(), lambda _, rng: round(rng.laplace())),
    "law was fixed": (lambda _, rng: f"{rng.laplace():.0f}", lambda _, rng: f"{math.floor(rng.laplace())}"),
    "for conversion to float": (
        lambda _, rng: next(map(float, [rng.random()])) < 0.5,
        lambda _, rng: float(rng.random()) < 0.5,
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
    "used otherwise after a comparison": (
        lambda _, rng: [bool((x := rng.laplace()) < rng.laplace()), bool(x < 1)],
        lambda _, rng: [bool(rng.laplace() < rng.laplace()), bool(rng.laplace() < 1)],
    ),
    "compared in a circle": (circle, largest),
    "were compared with one another": (lambda _, rng: max(rng.random() for _ in range(13)) > 2, geometric_max),
    "np.": (lambda _, rng: bool(np.sin(rng.random()) < 0.5), lambda _, rng: bool(np.exp(rng.random()) < 1.5)),
    "binomial with n": (
        lambda _, rng: rng.binomial(2000, 0.5),
        lambda _, rng: rng.binomial(9, 0.5) + rng.binomial(9, 0.5) > 0,
    ),
    "standard_normal into": (
        lambda _, rng: rng.standard_normal(dtype=np.float32) < 0,
        lambda _, rng: bool(rng.normal(size=1)[0] < 0),
    ),
    "standard_exponential into": (
        lambda _, rng: rng.standard_exponential(dtype=np.float32) < 1,
        lambda _, rng: bool(rng.exponential(size=1)[0] < 1),
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
    "Generator.": (lambda _, rng: rng.standard_t(3) < 0, lambda _, rng: bool(rng.laplace() < 0)),
}
OTHERS = {
    "source was seeded": ("random", lambda data, rng: rng.seed(1), lambda data, rng: rng.random() < 0.5),
    "state of the source": ("random", lambda data, rng: rng.getstate(), lambda data, rng: rng.random() < 0.5),
    "read of the whole stream": ("bytes", lambda data, stream: stream.read(), lambda data, stream: stream.read(1)),
    "RandomState.": ("random_state", lambda data, rng: rng.wald(1, 1), lambda data, rng: bool(rng.normal() < 0)),
}


def test_each_remedy_has_programs():
    assert {part for part, _ in REMEDIES} == {*PAIRS, *OTHERS, "not kept as a symbol"}
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


def test_the_remedy_for_a_symbol_is_followed():
    refused_and_accepted(
        "not kept as a symbol", lambda answer, rng: 2 * answer, lambda answer, rng: answer + rng.integers(3), Answer()
    )
