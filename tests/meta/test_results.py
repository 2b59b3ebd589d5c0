"""What a result of each kind shows: as text, in one line, in a failing test and in a notebook."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import audit
from audit import PrivacyClaim, Verdict, plugins
from audit.auditor import Auditor, summarize
from audit.certificate.render import check_fragment
from audit.certificate.summary import find_view
from audit.defaults import Options, Settings
from tests.core.mechanisms import PAIR, laplace
from tests.extensions.training.runs.loops import CLAIM, recorded

LONG = "a name that takes more room than one line of a terminal has, " * 3
DATA = dict(sizes=[64, 128, 256, 512], support=(0, 1))


class Counts:
    """A session without a budget."""

    def __init__(self, data, rng):
        self.data, self.rng = data, rng

    def ask(self):
        return laplace(self.data, 1, self.rng)[0]


def losses(n, replicates, rng):
    return rng.random(replicates) * n**-0.5


RUNS = {
    "privacy": dict(mechanism=laplace, claim=PrivacyClaim(0.3), pairs=[PAIR], budget=4_000),
    "estimator": dict(
        estimator=GaussianNB(), X=[[0.0], [1.0], [2.0], [3.0]], y=[0, 0, 1, 1], claim=PrivacyClaim(0.1), budget=20
    ),
    "interactive": dict(make=Counts, claim=PrivacyClaim(1.0), pairs=[PAIR], analyst=[("ask",)] * 4, budget=2_000),
    "randomness": dict(mechanism=laplace, dataset=PAIR[0], budget=1_000),
    "stability": dict(
        transformation=sum, bound=9, distance_in="symmetric", distance_out="absolute",
        datasets=audit.columns(audit.numbers(0, 10, integers=True), max_size=4), budget=200,
    ),
    "canaries": dict(scores_in=np.ones(60), scores_out=np.zeros(60), claim=PrivacyClaim(0.5)),
    "accounting": dict(
        accountant=lambda event, delta: event, events=[1.0], delta=1e-5, bracket=lambda event, delta: (0.9, 1.1)
    ),
    "training": dict(run=lambda rng: recorded(1), claim=CLAIM),
    "inequality": dict(values=lambda: [("a", 1.0, 2.0), ("b\nsecond line", 3.0, 2.0)]),
    "guarantee": dict(trials=lambda n, rng: rng.random(n) < 0.8, beta=0.05, budget=1_000),
    "consistency": dict(losses=losses, **DATA, tolerance=0.2, budget=1_000),
    "rate": dict(losses=losses, **DATA, exponent=2.0, budget=2_000),
}  # fmt: skip


def test_all_kinds_are_here():
    assert list(RUNS) == [kind.replace("-", "_") for kind in plugins.list_keys("kinds")]


@pytest.mark.parametrize("kind", RUNS)
def test_a_failing_test_prints_the_text_and_a_notebook_shows_the_check_as_its_certificate_does(kind):
    result = getattr(audit, f"check_{kind}")(**RUNS[kind], name=f"{kind}: {LONG}")
    assert find_view(result.record()).main_finding != "–" or not result.record().get("found")
    shown = result._repr_html_()
    assert shown == check_fragment(result.record())
    assert result.verdict.value in shown
    assert result.name in shown
    auditor = Auditor(Options(0.05, 1_000, 0), "test_a.py::test_b", Settings())
    other = next(verdict for verdict in Verdict if verdict is not result.verdict)
    with pytest.raises(pytest.fail.Exception) as failed:
        getattr(auditor, kind)(**RUNS[kind], expected=other)
    (named,) = auditor.results
    assert str(failed.value).startswith(f"{named}; the same audit alone:\n  pytest test_a.py::test_b ")
    assert f"<{type(named).__name__} test_a.py::test_b: {named.verdict}, " in repr(named)


def test_a_session_counts_what_it_does_not_show():
    result = audit.check_privacy(**RUNS["privacy"], expected="FAIL")
    *_, more, spent = summarize([result] * 30, 0.05)
    shown = len(list(summarize([result] * 30, 0.05))) - 2
    assert more == f"and {30 - shown} more as expected: {30 - shown} FAIL, expected"
    assert spent.endswith("used by 30 audits")
    assert result.verdict is Verdict.FAIL


def test_a_witness_is_part_of_the_text():
    result = audit.check_privacy(**RUNS["privacy"])
    text = str(result)
    assert result.verdict is Verdict.FAIL
    assert "\n  left  = np.array([" in text
    assert "\n  event: output " in text
