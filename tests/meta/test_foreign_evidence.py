"""Evidence is known by its class: a kind may call its fields as other kinds do, and a scorer may be one of its own."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Result, plugins
from audit.certificate.document import load_certificate
from audit.certificate.plots import Axis, Plot
from audit.certificate.render import check_fragment, html_of
from audit.certificate.summary import view_of
from audit.certificate.terminal import certificate_text
from audit.certificate.verify import broken_rules, changes, problems_of, replay, require_form
from audit.checks.base import Evidence, Interval, conclude
from audit.checks.stated import StatedCheck
from audit.checks.view import Part, RecordView
from audit.scorers import Score, Scorer
from audit.scorers.vocabulary import unknown_words
from tests.core.kinds import check_divisible
from tests.plugged import add_plugin

PAIR = (np.zeros(3), np.r_[1.0, 0, 0])


@dataclass(frozen=True)
class Marked(Evidence):
    """Hold numbers under the names of fields of other kinds."""

    comparisons: int = 7
    batches: tuple[int, ...] = (1, 2)
    noise: float = 0.5
    looks: str = "many"
    ledger: tuple[str, ...] = ()
    forks: int = 3
    conversation: str = "a word"
    points: tuple[float, ...] = (0.1, 0.2)
    sample: int = 4
    guessed: int = 1
    compared: bool = True
    ways: int = 2
    tested: str = "by hand"
    cases: int = 9
    extremes: int = 5
    histogram: tuple[int, ...] = field(default=(1, 1))

    @property
    def spends(self):
        return ("drawing lots",)

    def contradictions(self, case):
        yield from super().contradictions(case)
        if self.points[0] > self.points[1]:
            yield "its points fall"
        if self.looks == "none":
            yield str(1 / self.forks)


class MarkedView(RecordView):
    """Show it in the table of randomness checks, with a part and a picture of its own."""

    table: ClassVar[str] = "randomness"

    @property
    def found(self):
        return f"{self.record['evidence']['comparisons']} marks"

    def facts(self):
        yield "weather", "<fair> & dry"

    def parts(self):
        yield Part("Marks <b>", head=("a", "b"), rows=[("x <i>", "1")])
        yield Part("Letters", "Each is one.", code="a < b", code_label="letters")

    def drawn(self):
        yield Plot("Dots", "no dots", Axis("x"), Axis("y"))


@dataclass(frozen=True, kw_only=True)
class MarkedCheck(StatedCheck):
    """The claim that nothing is wrong."""

    function: object

    kind: ClassVar[str] = "marked"
    callables: ClassVar = {"function": "()"}
    evidence_type: ClassVar[type[Evidence]] = Marked
    record_view: ClassVar[type[RecordView]] = MarkedView

    def _validate(self):
        assert self.function

    @property
    def summary(self):
        return "nothing is wrong"

    def gather(self, allowance):
        return self.function()

    @staticmethod
    def decide(terms, evidence, significance):
        found = (Interval("marks", evidence.comparisons, evidence.comparisons),)
        return conclude("computed", found, broken=None, why_open=None, kept="nothing is wrong")


def check_marked(**settings) -> Result:
    raise AssertionError(settings)


PLUGIN = plugins.Plugin(
    name="marked",
    kinds={"marked": (f"{__name__}:MarkedCheck", f"{__name__}:check_marked")},
    scorers=(f"{__name__}:EvennessScorer",),
)


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    yield from add_plugin(monkeypatch, f"{__name__}:PLUGIN")


def certificate_of(tmp_path, **parts):
    check = MarkedCheck(name="marks", function=lambda: Marked(3, **parts), source="a book")
    audit.run([check], budget=5, workers=0, directory=tmp_path)
    return load_certificate(tmp_path)


def test_a_kind_with_fields_of_others_goes_through_all_stations(tmp_path):
    certificate = certificate_of(tmp_path)
    assert problems_of(certificate) == []
    assert replay(certificate).differences == ()
    assert certificate["significance_spent"] == [{"check": "marks", "allotted": 0.05, "tests": ["drawing lots"]}]
    assert "7 marks" in certificate_text(certificate)
    for page in (html_of(certificate), check_fragment(certificate["checks"][0])):
        escaped = ("<dt>weather</dt><dd>&lt;fair&gt; &amp; dry</dd>", "Marks &lt;b&gt;", "x &lt;i&gt;", "a &lt; b")
        for due in (*escaped, "Dots"):
            assert due in page
    for name in ("certificate.md", "junit.xml", "findings.sarif"):
        assert (tmp_path / name).read_text()
    newer = certificate_of(tmp_path / "new")
    assert changes(certificate, newer) == []
    newer["checks"][0]["found"] = [{"quantity": "marks", "lower": 9.0, "upper": 9.0}]
    assert [change.what for change in changes(certificate, newer)] == ["marks was in [7, 7], is in [9, 9]"]


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"samples": 10}, "marks: drew more than its budget has"),
        ({"points": [0.3, 0.2]}, "marks: its points fall"),
        ({"looks": "none", "forks": 0}, "marks: its evidence has numbers that no run writes: ZeroDivisionError"),
    ],
)
def test_it_states_its_own_contradictions(tmp_path, parts, says):
    """One that cannot be computed, since a number is of no use, is one as well."""
    certificate = certificate_of(tmp_path)
    assert list(broken_rules(certificate, require_form(certificate))) == []
    certificate["checks"][0]["evidence"].update(parts)
    assert any(says in line for line in broken_rules(certificate, require_form(certificate)))
    assert any(says in line for line in problems_of(certificate))


class Evenness(Score):
    """Reads nothing."""

    name = "evenness"
    seeks = ("evenness of 12 kinds",)

    def __call__(self, outputs):
        return np.zeros(len(outputs))


class EvennessScorer(Scorer):
    """Proposes it, where one more scorer competes."""

    seeks = ("evenness of # kinds",)

    def propose(self, training):
        return [Evenness()]


def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def test_one_more_scorer_audits_no_floats(tmp_path):
    """What the check says of floating point is its setting; what the scorer states, it may say that it looked for."""
    check = PrivacyCheck(name="even", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1)
    result = audit.run([check], budget=20_000, workers=0, directory=tmp_path)["even"]
    assert result.evidence.game.floats == "real"
    assert "floating point: not audited" in result.reason
    assert "evenness of 12 kinds" in result.evidence.game.looked_for
    assert problems_of(load_certificate(tmp_path)) == []


def test_words_that_no_scorer_states_are_unknown():
    assert unknown_words(["evenness of 12 kinds"]) == []
    assert unknown_words(["evenness of kinds", "oddness of 12 kinds"]) == ["evenness of kinds", "oddness of 12 kinds"]


def test_a_record_of_no_listed_kind_is_shown_by_its_stated_terms():
    record = check_divisible(lambda: 7, by=3).record() | {"kind": "of another package"}
    assert view_of(record).table == "stated"
    assert "rest" in view_of(record).found
    assert "Bounds that the verdict rests on" in check_fragment(record)
