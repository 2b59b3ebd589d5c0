"""Evidence is known by its class: a kind may call its fields as other kinds do, and a scorer may be one of its own."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Result, plugins
from audit.certificate.document import load_certificate
from audit.certificate.render import check_fragment, html_of
from audit.certificate.summary import find_view
from audit.certificate.terminal import certificate_text
from audit.certificate.verify import list_changes, list_problems, replay
from audit.checks.stated import StatedCheck
from audit.evidence.base import Evidence, Interval, conclude
from audit.records.plots import Axis, Plot
from audit.records.view import Part, RecordView
from audit.scorers import Score, Scorer
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

    def contradictions(self, record):
        if self.points[0] > self.points[1]:
            yield "its points fall"


class MarkedView(RecordView):
    """Show it with a part and a picture of its own."""

    @property
    def found(self):
        return f"{self.record['evidence']['comparisons']} marks"

    def facts(self):
        yield "weather", "<fair> & dry"

    def parts(self):
        yield Part("Marks <b>", head=("a", "b"), rows=[("x <i>", "1")])
        yield Part("Letters", "Each is one.", code="a < b", code_label="letters")

    def draw_pictures(self):
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
    assert list_problems(certificate) == []
    assert replay(certificate).differences == ()
    assert certificate["significance_spent"] == [{"check": "marks", "allotted": 0.05, "tests": ["drawing lots"]}]
    assert "7 marks" in certificate_text(certificate)
    for page in (html_of(certificate), check_fragment(certificate["checks"][0])):
        escaped = ("<dt>weather</dt><dd>&lt;fair&gt; &amp; dry</dd>", "Marks &lt;b&gt;", "x &lt;i&gt;", "a &lt; b")
        for due in (*escaped, "Dots"):
            assert due in page
    for name in ("certificate.md", "junit.xml", "findings.sarif"):
        assert (tmp_path / name).read_text()
    assert list_changes(certificate, certificate_of(tmp_path / "new")) == []


def test_it_states_its_own_contradictions(tmp_path):
    certificate = certificate_of(tmp_path)
    assert list_problems(certificate) == []
    certificate["checks"][0]["evidence"]["points"] = [0.3, 0.2]
    assert "marks: its points fall" in list_problems(certificate)


class Evenness(Score):
    """Reads nothing."""

    name = "evenness"

    def __call__(self, outputs):
        return np.zeros(len(outputs))


class EvennessScorer(Scorer):
    """Proposes it, where one more scorer competes."""

    asked = 0

    def propose(self, training):
        type(self).asked += 1
        return [Evenness()]


def laplace(data, size, rng):
    return data.sum() + rng.laplace(size=size)


def test_one_more_scorer_audits_no_floats(tmp_path):
    """What the check says of floating point is its setting."""
    before = EvennessScorer.asked
    check = PrivacyCheck(name="even", mechanism=laplace, claim=PrivacyClaim(1.5), pairs=[PAIR], tolerance=1)
    result = audit.run([check], budget=20_000, workers=0, directory=tmp_path)["even"]
    assert result.evidence.game.floats == "real"
    assert "floating point: not audited" in result.reason
    assert EvennessScorer.asked > before
    assert list_problems(load_certificate(tmp_path)) == []


def test_a_record_of_no_listed_kind_is_shown_by_its_stated_terms():
    record = check_divisible(lambda: 7, by=3).record() | {"kind": "of another package"}
    assert find_view(record).table == "stated"
    assert "rest" in find_view(record).found
    assert "Bounds that the verdict rests on" in check_fragment(record)
