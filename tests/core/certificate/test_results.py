"""A result of every kind as text, in one line, and in a notebook."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import audit
from audit import PrivacyClaim, TradeOffClaim, Verdict, plugins
from audit.auditor import Auditor
from audit.certificate.render import check_fragment
from audit.pytest_plugin import Session, Settings
from audit.text import printable
from tests.extensions.training.runs.loops import CLAIM, recorded

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])
LONG = "a name that takes more room than one line of a terminal has, " * 3
DATA = dict(sizes=[64, 128, 256, 512], support=(0, 1))


def laplace(data, size, rng):
    return np.sum(data) + rng.laplace(size=size)


def losses(n, replicates, rng):
    return rng.random(replicates) * n**-0.5


class Counts:
    """A session without a budget."""

    def __init__(self, data, rng):
        self.data, self.rng = data, rng

    def ask(self):
        return laplace(self.data, 1, self.rng)[0]


RUNS = {  # by kind: the arguments of the function `check_...`
    "privacy": dict(mechanism=laplace, claim=PrivacyClaim(0.3), pairs=[PAIR], budget=4_000),
    "precision": dict(mechanism=laplace, claim=PrivacyClaim(1.0), pairs=[PAIR], budget=1_000),
    "interactive": dict(make=Counts, claim=PrivacyClaim(1.0), pairs=[PAIR], analyst=[("ask",)] * 4, budget=2_000),
    "estimator": dict(
        estimator=GaussianNB(), X=[[0.0], [1.0], [2.0], [3.0]], y=[0, 0, 1, 1], claim=PrivacyClaim(1.0), budget=60
    ),
    "randomness": dict(mechanism=laplace, dataset=PAIR[0], budget=2_000),
    "inequality": dict(values=lambda: [("a", 1.0, 2.0), ("b\nsecond line", 3.0, 2.0)]),
    "guarantee": dict(trials=lambda n, rng: rng.random(n) < 0.8, beta=0.05, budget=1_000),
    "consistency": dict(losses=losses, **DATA, tolerance=0.2, budget=1_000),
    "rate": dict(losses=losses, **DATA, exponent=2.0, budget=2_000),
    "lower_bound": dict(losses=losses, **DATA, bound=lambda n: 1.0, budget=2_000),
    "canaries": dict(scores_in=np.ones(60), scores_out=np.zeros(60), claim=PrivacyClaim(0.5)),
    "accounting": dict(
        accountant=lambda event, delta: event, events=[1.0], delta=1e-5, bracket=lambda event, delta: (0.9, 1.1)
    ),
    "packing": dict(
        learner=lambda record, size, rng: [record] * size, dataset_for=lambda index, rng: index, distance=1,
        claim=PrivacyClaim(1.0, relation=audit.Local()), hits=lambda index, output: output == index, family_size=10,
    ),
    "stability": dict(
        transformation=sum, bound=9, distance_in="symmetric", distance_out="absolute",
        datasets=audit.columns(audit.numbers(0, 10, integers=True), max_size=4), budget=200,
    ),
    "training": dict(run=lambda rng: recorded(1), claim=CLAIM),
}  # fmt: skip


KINDS = [kind.replace("-", "_") for kind in plugins.list_keys("kinds")]


@pytest.fixture(scope="module")
def results():
    return {kind: getattr(audit, f"check_{kind}")(**RUNS[kind], name=f"{kind}: {LONG}") for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_says_claim_reason_and_cost(results, kind):
    result = results[kind]
    first, second, *rest = str(result).split("\n  ")
    assert first == f"{result.verdict}: {result.check.stated}"
    assert second == printable(result.reason)
    assert rest[-1].startswith(f"{result.samples:,} {result.check.unit} in ")


@pytest.mark.parametrize("kind", KINDS)
def test_a_failing_test_prints_the_text(results, kind):
    auditor = Auditor(Session(0.05, 1_000, 0), "test_a.py::test_b", Settings())
    other = next(verdict for verdict in Verdict if verdict is not results[kind].verdict)
    with pytest.raises(pytest.fail.Exception) as failed:
        getattr(auditor, kind)(**RUNS[kind], expected=other)
    assert str(failed.value).startswith(f"{auditor.results[-1]}; the same audit alone:\n  pytest test_a.py::test_b ")


@pytest.mark.parametrize("kind", KINDS)
def test_the_short_form_fits_one_line(results, kind):
    result = results[kind]
    assert repr(result).startswith(f"<{type(result).__name__} {kind}: a name")
    assert len(repr(result)) <= 100
    assert "\n" not in repr(result)
    named = getattr(audit, f"check_{kind}")(**RUNS[kind], name="x")
    assert f"<{type(result).__name__} x: {named.verdict}, " in repr(named)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_the_check_as_its_certificate_does(results, kind):
    result = results[kind]
    shown = result._repr_html_()
    assert shown == check_fragment(result.record())
    assert result.verdict.value in shown
    assert result.name in shown


def test_the_verdicts_are_not_all_alike(results):
    assert {result.verdict for result in results.values()} == {Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE}


def test_a_witness_is_part_of_the_text(results):
    assert "\n  left  = np.array([" in str(results["privacy"])
    assert "\n  event: output " in str(results["privacy"])


def test_a_claim_that_no_certificate_holds_is_shown_as_text():
    claim = TradeOffClaim(lambda alpha: max(0.0, 1 - 2 * alpha))
    result = audit.check_privacy(laplace, claim, [PAIR], budget=2_000)
    assert result._repr_html_() is None
    assert str(result).startswith(str(result.verdict))
