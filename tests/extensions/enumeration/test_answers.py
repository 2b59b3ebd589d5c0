"""Noise that is added to a symbol has one law for every answer; code that asks for the answer is not followed."""

import math

import numpy as np
import pytest

import audit
from audit.extensions.enumeration import Answer, enumerate_law
from benchmarks.enumeration import samplers


def test_the_law_is_that_of_every_answer():
    symbolic = enumerate_law(lambda answer, rng: answer + samplers.discrete_laplace(1, rng), Answer(), rng="random")
    known = enumerate_law(lambda answer, rng: answer + samplers.discrete_laplace(1, rng), -3, rng="random")
    assert not symbolic.behind
    moved = {output.offset - 3: probability for output, probability in symbolic.probabilities.items()}
    assert moved == dict(known.probabilities)


def shifted(answer, rng):
    return [rng.integers(2) - 1 + answer, answer - rng.integers(2)]


def in_an_array(answer, rng):
    return answer + np.array([1, int(rng.integers(2))])


@pytest.mark.parametrize("function", [shifted, in_an_array])
def test_other_forms(function):
    law = enumerate_law(function, Answer())
    assert (law.behind, law.residual) == ((), 0)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda answer: max(answer, 0), "lt"),
        (lambda answer: answer == 3, "eq"),
        (lambda answer: bool(answer), "bool"),
        (lambda answer: answer * 2, "mul"),
        (lambda answer: 0 - answer, "rsub"),
        (lambda answer: answer + 0.5, "a sum that may round"),
        (lambda answer: answer + answer, "a sum of two"),
        (lambda answer: f"{answer}", "format"),
        (lambda answer: [0][answer], "index"),
        (lambda answer: {answer}, "hash"),
        (lambda answer: answer.bit_length(), "bit_length"),
        (lambda answer: np.int64(1) + np.asarray(answer).astype(int), "int"),
        (lambda answer: math.floor(answer), "floor"),
    ],
)
def test_what_asks_for_the_answer_is_not_followed(use, said):
    law = enumerate_law(lambda answer, rng: (rng.integers(2), use(answer))[0], Answer())
    assert law.residual == 1
    assert any(said in reason for reason in law.not_followed)


def test_code_that_tells_a_symbol_from_a_number_proves_nothing():
    law = enumerate_law(lambda answer, rng: answer + rng.integers(2) if type(answer) is int else answer, Answer())
    assert law.behind
    assert law.residual == 1


CLAIM = audit.PrivacyClaim(1.0, relation=audit.Distance("l1", 2))
SETTINGS = audit.Enumeration(rng="random")


def test_one_law_proves_all_pairs_of_the_sensitivity():
    """Scale 2 keeps epsilon = 1 at distance 2 and no smaller one."""
    laplace = audit.per_call(lambda answer, rng: answer + samplers.discrete_laplace(2, rng))
    result = audit.check_privacy(laplace, CLAIM, datasets="integers", method=SETTINGS, workers=0)
    assert (result.verdict.value, result.basis) == ("PASS", "proof")
    assert len(result.check.pairs) == 2
    assert "every pair of integers at most 2 apart" in "; ".join(result.scope)
    assert result.exact_epsilon == pytest.approx(1.0, abs=1e-6)


def test_an_answer_that_is_clamped_is_no_symbol():
    clamped = audit.per_call(lambda answer, rng: max(0, answer + samplers.discrete_laplace(1, rng)))
    settings = audit.Enumeration(rng="random", residual=1e-3)
    result = audit.check_privacy(clamped, CLAIM, datasets="integers", method=settings, workers=0)
    assert result.verdict is audit.Verdict.INCONCLUSIVE
    assert "the answer was not kept as a symbol" in result.reason
