"""Laws of small programs, against what follows by hand. Nothing here is random."""

import math
import random
import secrets
from fractions import Fraction

import numpy as np
import pytest

import audit
from audit.errors import InvalidArgument
from audit.extensions.enumeration import enumerated, real_outputs

HALF = Fraction(1, 2)


def law_of(function, dataset=None, **settings):
    return audit.enumerate_law(function, dataset, **settings)


def bernoulli_exp(rng, gamma):
    """Canonne, Kamath and Steinke (2020), algorithm 1, for gamma <= 1."""
    k = 1
    while rng.random() < gamma / k:
        k += 1
    return k % 2 == 1


def discrete_laplace(scale, rng):
    """Canonne, Kamath and Steinke (2020), algorithm 2, for an integer scale."""
    while True:
        u = rng.randrange(scale)
        if not bernoulli_exp(rng, u / scale):
            continue
        v = 0
        while bernoulli_exp(rng, 1.0):
            v += 1
        x = u + scale * v
        negative = rng.random() < 0.5
        if not (negative and x == 0):
            return -x if negative else x


def test_a_comparison_splits_at_the_exact_threshold():
    third = law_of(lambda data, rng: rng.random() < 1 / 3)
    assert third.probabilities == {
        True: Fraction(math.ceil(Fraction(1 / 3) * 2**53), 2**53),
        False: 1 - third.probabilities[True],
    }
    assert third.residual == 0
    strict = law_of(lambda data, rng: (rng.random() <= 0.5, 1 - rng.random() == 0.0))
    assert strict.probabilities[True, False] == HALF + Fraction(1, 2**53)


def test_arithmetic_is_that_of_floating_point_numbers():
    """1 - u rounds nothing, u + 1.0 does: 1 + k 2^-53 is 1.0 for k = 0, and for k = 1 by the tie to even."""
    assert law_of(lambda data, rng: rng.random() + 1.0 == 1.0).probabilities[True] == Fraction(2, 2**53)
    assert law_of(lambda data, rng: 1.0 - rng.random() == 1.0).probabilities[True] == Fraction(1, 2**53)
    assert law_of(lambda data, rng: rng.random() == 0.0).residual == 0
    assert law_of(lambda data, rng: int(rng.random() * 3)).probabilities[0] == Fraction(math.ceil(2**53 / 3), 2**53)


def heads(data, rng):
    count = 0
    while rng.random() < 0.5:
        count += 1
    return count


def test_a_geometric_sequence_is_followed_to_the_residual():
    law = law_of(heads, residual=1e-9)
    assert all(p == Fraction(1, 2 ** (k + 1)) for k, p in law.probabilities.items())
    assert 0 < law.residual <= Fraction(1, 10**9)
    assert law.not_followed == {"not followed, by the limit of residual": law.residual}
    drawn = law_of(lambda data, rng: rng.geometric(0.5))
    assert drawn.not_followed["the tail of geometric"] == Fraction(1, 2**80)


def test_discrete_laplace_is_that_of_the_theorem():
    """P(x) = tanh(1 / 2t) e^(-|x| / t); thresholds in floating point are off by 2^-53 each."""
    law = law_of(discrete_laplace, 2, rng="random", residual=1e-10)
    center = math.tanh(1 / 4)
    for x in range(-20, 21):
        assert float(law.probabilities[x]) == pytest.approx(center * math.exp(-abs(x) / 2), abs=2e-10)
    assert law.residual <= Fraction(1, 10**10)
    assert law.notes == ()


@pytest.mark.parametrize("residual", [0.5, 0.1, 0.01])
def test_what_a_limit_leaves_out_is_in_the_residual(residual):
    whole, part = (law_of(heads, residual=least) for least in (1e-10, residual))
    assert whole.residual < part.residual <= residual
    assert part.residual == 1 - sum(part.probabilities.values())
    assert all(p <= whole.probabilities.get(x, 0) + whole.residual for x, p in part.probabilities.items())


ORDERS = ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0])
SHUFFLED = {tuple(order): Fraction(1, 6) for order in ORDERS}


def shuffled(data, rng):
    values = [0, 1, 2]
    rng.shuffle(values)
    return tuple(values)


@pytest.mark.parametrize(
    ("function", "source", "expected"),
    [
        (shuffled, "random", SHUFFLED),
        (shuffled, "numpy", SHUFFLED),
        (shuffled, "random_state", SHUFFLED),
        (lambda data, rng: tuple(rng.sample(range(3), 3)), "random", SHUFFLED),
        (lambda data, rng: tuple(map(int, rng.permutation(3))), "numpy", SHUFFLED),
        (lambda data, rng: tuple(map(int, rng.choice(3, 3, replace=False))), "numpy", SHUFFLED),
        (lambda data, rng: rng.choice("ab"), "random", {"a": HALF, "b": HALF}),
        (lambda data, rng: rng.choices("ab", [3, 1])[0], "random", {"a": Fraction(3, 4), "b": Fraction(1, 4)}),
        (lambda data, rng: rng.randint(1, 100) <= 10, "random", {True: Fraction(1, 10), False: Fraction(9, 10)}),
        (lambda data, rng: int(rng.integers(2**40)) < 1, "numpy", None),
        (lambda data, rng: rng.integers(2**40) < 2**39, "numpy", {True: HALF, False: HALF}),
        (lambda data, rng: +rng.integers(2**40) < 2**39, "numpy", {True: HALF, False: HALF}),
        (lambda data, rng: int(rng.choice(2, p=[0.75, 0.25])), "numpy", {0: Fraction(3, 4), 1: Fraction(1, 4)}),
        (lambda data, rng: int(rng.binomial(2, 0.5)), "numpy", {0: Fraction(1, 4), 1: HALF, 2: Fraction(1, 4)}),
        (lambda data, rng: int((rng.random(2) < 0.5).sum()), "numpy", {0: Fraction(1, 4), 1: HALF, 2: Fraction(1, 4)}),
        (lambda data: secrets.randbelow(3), "random", dict.fromkeys(range(3), Fraction(1, 3))),
        (lambda data: secrets.choice("ab"), "random", {"a": HALF, "b": HALF}),
        (lambda data: random.SystemRandom().random() < 0.5, "random", {True: HALF, False: HALF}),
        (lambda data: random.randrange(2), "random", {0: HALF, 1: HALF}),
        (lambda data: bool(np.random.default_rng().random() < 0.5), "random", {True: HALF, False: HALF}),
        (lambda data: bool(np.random.rand() < 0.5), "random", {True: HALF, False: HALF}),  # noqa: NPY002
    ],
)
def test_sources_have_their_laws(function, source, expected):
    law = law_of(function, rng=source)
    assert law.behind == ()
    if expected is None:  # 2^40 values, all of which would be told apart
        assert law.residual == 1
        assert "4096 integer parts" in next(iter(law.not_followed))
    else:
        assert dict(law.probabilities) == expected
        assert law.residual == 0


def test_mechanisms_of_every_form():
    def sized(data, size, rng):
        return data + (rng.random(size) < 0.5)

    assert {int(k): p for k, p in law_of(sized, 3).probabilities.items()} == {3: HALF, 4: HALF}
    flip = audit.per_call(lambda data, rng: bool(rng.random() < 0.5) ^ data)
    assert law_of(flip, True).probabilities == {True: HALF, False: HALF}

    class Library:
        def __init__(self):
            self._rng = random.SystemRandom()

        def randomize(self, value):
            return value ^ (self._rng.random() < 0.25)

    assert law_of(Library().randomize, True).probabilities[False] == Fraction(1, 4)


def test_an_exception_is_an_output():
    def raises(data, rng):
        if rng.random() < 0.25:
            raise ValueError("too small")
        return 0

    assert set(law_of(raises).texts.values()) == {Fraction(1, 4), Fraction(3, 4)}


def test_what_cannot_be_followed_is_left_over_by_name():
    law = law_of(lambda data, rng: 1 - rng.random() if rng.random() < 0.5 else 0)
    assert law.probabilities == {0: HALF}
    ((said, share),) = law.not_followed.items()
    assert said == "a number with 9007199254740992 possible values was fixed, for the output"
    assert share == HALF

    def student(data, rng):
        return rng.standard_t(3)

    ((said, share),) = law_of(student).not_followed.items()
    assert said == f"Generator.standard_t (student, line {student.__code__.co_firstlineno + 1})"
    assert share == 1


def of_its_type(data, rng):
    u = rng.random()
    return u < 0.25 if type(u) is float else u < 0.75


def of_a_dtype(data, rng):
    return rng.random(1).dtype == np.float64


def refused_by_a_function(data, rng):
    return float.hex(rng.random() - 0.5)


def test_a_run_that_is_lost_at_its_first_number_says_why():
    (reason,) = law_of(lambda data, rng: rng.standard_cauchy()).not_followed
    assert reason.startswith("Generator.standard_cauchy")


@pytest.mark.parametrize("function", [of_its_type, of_a_dtype, refused_by_a_function])
def test_a_stand_in_that_behaves_otherwise_proves_nothing(function):
    """Code that looks at the type, and errors that only the stand-in causes: a run with known numbers tells."""
    law = law_of(function)
    said = "the same choices did not lead to the same output"
    assert said in law.not_followed
    assert [reason.partition(" (")[0] for reason in law.behind] == [said] * (function is not refused_by_a_function)


def test_a_subject_cannot_catch_the_end_of_a_run():
    def catches(data, rng):
        try:
            return rng.normal()
        except BaseException:
            return 0

    assert law_of(catches).probabilities == {}


@pytest.mark.parametrize("settings", [{"residual": 0.0}, {"time_limit": -1.0}, {"rng": "dice"}])
def test_settings_outside_their_sets_are_refused(settings):
    with pytest.raises(InvalidArgument, match=next(iter(settings))):
        law_of(shuffled, **settings)


def test_branches_of_equal_mass_end_the_exploration():
    """Of 2^7 paths that never meet, the residual leaves some out."""

    def tree(data, rng):
        found = 1
        for _ in range(7):
            found = 2 * found + (rng.random() < 0.5)
        return found

    law = law_of(tree, residual=1 / 3)
    assert set(law.probabilities.values()) == {Fraction(1, 2**7)}
    assert 1 - law.residual == Fraction(len(law.probabilities), 2**7) >= Fraction(2, 3)


def test_code_that_goes_on_without_drawing_is_stopped(monkeypatch):
    monkeypatch.setattr(real_outputs, "_GRACE", 0.2)  # seconds of the processor for outputs, which never come

    def hangs(data, rng):
        while rng.random() < 0.5:
            while rng.randrange(1) == 0:
                pass
        return 0

    law = law_of(hangs, rng="random", time_limit=0.3)
    assert law.probabilities in ({}, {0: HALF})
    assert law.residual >= HALF


def test_a_probability_is_printed_whole_while_its_denominator_has_few_bits():
    whole, long = (Fraction(1, 2**bits + 1) for bits in (256, 512))
    assert (enumerated._text(whole), enumerated._text(1 - long)) == (str(whole), str(1 - Fraction(1, 2**256)))
