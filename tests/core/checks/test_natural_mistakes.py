"""What people type by mistake is refused at once, in words that say what to type instead."""

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, per_call
from audit.errors import AuditError

PAIRS = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]


def of_dataset(data):
    return data.sum()


def of_dataset_and_rng(data, rng):
    return data.sum() + rng.laplace()


def swapped(data, rng, size):
    return data.sum() + rng.laplace(size=size)


class Method:
    def release(self, data, size):
        return data.sum()


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (of_dataset, r"got of_dataset\(data\); .* give audit.per_call\(of_dataset\)"),
        (of_dataset_and_rng, r"got of_dataset_and_rng\(data, rng\); .* give audit.per_call"),
        (Method().release, r"got release\(data, size\); add a third parameter rng"),
        (swapped, "the size comes before the generator"),
        (3.0, "must be callable as"),
    ],
)
def test_a_wrong_signature_names_the_right_one(mechanism, said):
    with pytest.raises(AuditError, match=said):
        audit.check_privacy(mechanism, PrivacyClaim(1.0), PAIRS)


@pytest.mark.parametrize(
    ("claim", "pairs", "said"),
    [
        ((1.0, 1e-5), PAIRS, r"write audit.PrivacyClaim\(1.0, 1e-05\)"),
        (PrivacyClaim(1.0), PAIRS[0], r"write pairs=\[\(left, right\)\]"),
        (PrivacyClaim(1.0), [({"age": [1], "id": [1]}, {"age": [2], "id": [2]})], r"give pandas.DataFrame\(dict\)"),
    ],
)
def test_a_claim_or_a_pair_in_an_awkward_form_names_what_to_type(claim, pairs, said):
    with pytest.raises(AuditError, match=said):
        audit.check_privacy(per_call(of_dataset), claim, pairs)


@pytest.mark.parametrize("relation", ["add-remove", audit.AddRemove])
def test_a_relation_in_an_awkward_form_names_the_relations(relation):
    with pytest.raises(AuditError, match=r"AddRemove\(\), Substitution\(\)"):
        PrivacyClaim(1.0, relation=relation)


def passing_on(*arguments):
    return of_dataset_and_rng(*arguments)


def spent(data):
    raise RuntimeError("budget exhausted")


def mixed_types(data):
    return int(data.sum()) if np.random.default_rng().random() < 0.5 else np.random.default_rng().integers(2)


def raising(data, rng):
    if (output := data.sum() + rng.laplace()) < 0:
        raise ValueError("negative")
    return output


@pytest.mark.parametrize(
    ("function", "verdict", "said"),
    [
        (mixed_types, "FAIL", "its outputs are of several types, int, numpy.int64: convert them, if callers do"),
        (raising, "INCONCLUSIVE", "catch the exception, and return what callers see instead"),
        (lambda data: (number for number in data), "INCONCLUSIVE", "return list"),
        (lambda data: None, "INCONCLUSIVE", "does it return a value?"),
        (passing_on, "INCONCLUSIVE", "passing_on hides its parameters: put @functools.wraps(function) on it"),
        (spent, "INCONCLUSIVE", "audit.per_call(lambda data: make().release(data))"),
    ],
)
def test_an_output_in_an_awkward_form_names_what_to_type(function, verdict, said):
    result = audit.check_privacy(per_call(function), PrivacyClaim(1.1), PAIRS, budget=20_000, method="fixed", workers=0)
    assert result.verdict == verdict
    assert said in result.reason
