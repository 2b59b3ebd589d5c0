"""Hostile subjects: one oddity each, named after it, with the verdict it deserves and words of its cause."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Verdict, per_call

PAIR = (np.zeros(5), np.r_[1.0, np.zeros(4)])


def honest(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def raises_sometimes(data, size, rng):
    outputs = honest(data, size, rng)
    if (outputs > 6).any():
        raise OverflowError("too big")
    return outputs


def raises_on_one_side(data, size, rng):
    outputs = honest(data, size, rng)
    if data[0] == 0 and (outputs > 3).any():
        raise OverflowError("too big")
    return outputs


def nan_sometimes(data, size, rng):
    outputs = honest(data, size, rng)
    outputs[rng.random(size) < 0.01] = np.nan
    return outputs


def nan_on_one_side(data, size, rng):
    outputs = honest(data, size, rng)
    if data[0] == 1:
        outputs[rng.random(size) < 0.05] = np.nan
    return outputs


def wrong_length_later(data, size, rng):
    return np.zeros(size + (size > 100))


def unreadable(data, size, rng):
    return [object.__new__(object) if u < 0.5 else rng.bytes(rng.integers(4, 12)) for u in rng.random(size)]


def raises_what_no_file_can_hold(data, size, rng):
    raise ValueError("\udc80")


def mutates_its_dataset(data, size, rng):
    outputs = honest(data, size, rng)
    data += 1
    return outputs


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


@dataclass(frozen=True)
class Exhibit:
    """A subject, its verdict, and words that its reason holds."""

    subject: Any
    words: str
    verdict: Verdict = Verdict.INCONCLUSIVE

    @property
    def name(self) -> str:
        subject = getattr(self.subject, "function", self.subject)
        return getattr(subject, "__name__", type(subject).__name__)

    def check(self) -> PrivacyCheck:
        return PrivacyCheck(
            name=self.name,
            mechanism=self.subject,
            claim=PrivacyClaim(1.0),
            pairs=[PAIR],
            tolerance=1.0,
        )


EXHIBITS = [
    Exhibit(honest, "floating point: not audited", Verdict.PASS),
    Exhibit(raises_sometimes, "it raised"),
    Exhibit(raises_on_one_side, "guesses were right", Verdict.FAIL),
    Exhibit(nan_sometimes, "returned NaN"),
    Exhibit(nan_on_one_side, "guesses were right", Verdict.FAIL),
    Exhibit(wrong_length_later, "outputs where"),
    Exhibit(unreadable, "no score that competed sees"),
    Exhibit(raises_what_no_file_can_hold, "raised ValueError"),
    Exhibit(mutates_its_dataset, "changed the dataset"),
    Exhibit(per_call(mutates_call_by_call), "changed its dataset, which later calls"),
    Exhibit(global_generator, "the same seed gave different outputs"),
    Exhibit(CountsItsCalls(), "depend on earlier calls"),
    Exhibit(RaisesInItsLaw(), "cannot be evaluated: RuntimeError: no law"),
]
