"""Every rendering: what it shows, that it escapes it, and that each number of the HTML stands in the JSON."""

import copy
import json
import re
from html.parser import HTMLParser
from itertools import chain
from xml.etree import ElementTree as XML

import numpy as np
import pytest

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict
from audit.certificate import render as renderers
from audit.certificate.render import RENDERERS, html_of, junit_of, write_renderings
from audit.certificate.summary import (
    describe_sources,
    find_view,
    group_checks,
    is_met,
    outcome_of,
    tally,
    write_abstract,
)
from audit.checks.judge import PrivacyEvidence
from audit.checks.privacy_view import trade_off
from audit.errors import InvalidCertificate
from audit.evidence.stated_law import StatedLaw
from audit.records.plain import from_plain, to_plain
from audit.records.plots import Axis
from audit.text import count, number, printable
from tests.core.kinds import DivisibleCheck
from tests.core.mechanisms import NoisySum

HOSTILE = "<img src=x onerror=alert(1)>"
PAIR = (np.zeros(3), np.r_[1.0, 0, 0])
NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)")
PICTURE = re.compile(r'<svg class="picture".*?</svg>', re.DOTALL)


def half_noise(data, size, rng):
    return data.sum() + rng.laplace(scale=0.5, size=size)


def broken(data, size, rng):
    raise ValueError("<script>alert(2)</script> ]]> \x07 | _x_ &")


CHECKS = [  # one of every kind, under one seed; what matters here is how verdicts are shown, not which they are
    PrivacyCheck(name="exact", mechanism=NoisySum(), claim=PrivacyClaim(1.0), pairs=[PAIR]),
    PrivacyCheck(name="refuted", mechanism=half_noise, claim=PrivacyClaim(1.0, source="by hand, 3"), pairs=[PAIR]),
    PrivacyCheck(
        name="half", mechanism=half_noise, claim=PrivacyClaim(0.5), pairs=[PAIR], method="fixed",
        expected=Verdict.FAIL,
    ),
    PrivacyCheck(name=HOSTILE, mechanism=broken, claim=PrivacyClaim(1.0, source=HOSTILE), pairs=[PAIR]),
    DivisibleCheck(name="six", function=lambda: 6, by=3, source="Lemma 1"),
    DivisibleCheck(name="ten", function=lambda: 10, by=5, statement="Ten is a multiple.", source="Lemma 2"),
]  # fmt: skip


@pytest.fixture(scope="module")
def report():
    return audit.run(CHECKS, budget=20_000, workers=0, targets=["mylib.audits"])


@pytest.fixture
def certificate(report):
    return copy.deepcopy(report.certificate)


class Page(HTMLParser):
    """The text nodes of a page outside style, script and ticks, with all attributes that could fetch something."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.fetched, self._trail = [], [], []
        self.feed(text)

    def handle_startendtag(self, tag, attributes):
        self.fetched += [value for name, value in attributes if name in ("src", "href", "action", "data")]

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in ("meta", "input"):
            self._trail.append((tag, dict(attributes).get("class")))

    def handle_endtag(self, tag):
        while self._trail and self._trail.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if data.strip() and self._trail[-1][0] not in ("style", "script") and self._trail[-1][1] != "tick":
            self.texts.append(" ".join(data.split()))


def leaves(part):
    if isinstance(part, dict):
        for key, value in part.items():
            yield key
            yield from leaves(value)
    elif isinstance(part, list):
        for value in part:
            yield from leaves(value)
    else:
        yield part


def test_every_number_of_the_page_stands_in_the_certificate(certificate):
    found = list(leaves(certificate))
    numbers = [value for value in found if isinstance(value, (int, float)) and not isinstance(value, bool)]
    shown = {form(value) for value in numbers for form in (number, str, lambda x: number(x, 6), lambda x: f"{x:g}")}
    shown |= {count(value) for value in numbers if isinstance(value, int)}
    checks, sources = certificate["checks"], certificate.get("sources", {})
    apart = [[check for check in checks if (check["expected"] == "PASS") is holds] for holds in (True, False)]
    groups = [*apart, *group_checks(checks).values(), list(filter(is_met, apart[1]))]
    shown |= set(map(count, [*tally(checks).values(), *map(len, groups)]))
    strings = {
        " ".join(printable(value).split()) for value in found if isinstance(value, str) and re.search(r"\d", value)
    }
    strings |= {text for _, text in write_abstract(certificate)}
    strings |= {
        describe_sources(sources),
        certificate["provenance"]["time"].replace("T", " ").replace("+00:00", " UTC"),
    }
    texts = Page(html_of(certificate)).texts
    assert sum(bool(re.search(r"\d", text)) for text in texts) > 60
    for text in texts:
        rest = text
        for known in sorted((known for known in strings if len(known) > 2 and known in text), key=len, reverse=True):
            rest = re.sub(rf"(?<!\d){re.escape(known)}(?!\d)", " ", rest)  # no part of a longer number
        unknown = [token for token in NUMBER.findall(rest) if token not in shown]
        assert not unknown, f"{unknown} in {text!r}"


def test_the_page_is_alone_and_runs_only_its_own_script(certificate):
    text = html_of(certificate)
    page = Page(text)
    assert page.fetched
    assert all(place.startswith("#") for place in page.fetched)
    assert "http" not in re.sub(r'http-equiv="', "", text)
    assert "default-src 'none'" in text
    assert "<img" not in text
    assert "<script>alert" not in text
    assert text.count("<script>") == 1


def test_a_fragment_shows_a_check_and_keeps_its_style_to_itself(certificate):
    """Every rule of the style is inside the block of its own element, and ids differ between checks."""
    shown = [renderers.check_fragment(record) for record in certificate["checks"]]
    for text, record in zip(shown, certificate["checks"], strict=True):
        texts = " ".join(Page(text).texts)
        assert record["name"] in texts
        assert outcome_of(record) in texts
        assert "<script" not in text
        style = text.partition("<style>")[2].partition("</style>")[0]
        assert style.startswith(".dp-audit {")
        assert ":root" not in style
        assert "\nbody" not in style
        depths = np.cumsum([{"{": 1, "}": -1}.get(letter, 0) for letter in style])
        assert np.flatnonzero(depths == 0)[-1] == len(style) - 1
        assert not np.any(depths[len(".dp-audit {") : -1] == 0)
    ids = [found for text in shown for found in re.findall(r' id="(p[^"]+)"', text)]
    assert len(ids) == len(set(ids)) > len(CHECKS)


def test_a_report_is_text_and_an_overview(report):
    assert report["exact"]._repr_html_() == renderers.check_fragment(report["exact"].record())
    assert repr(report) == "Report(FAIL: 4 of 6 checks as expected)"
    assert [name for name in ("exact", "refuted", HOSTILE) if name not in str(report)] == []
    assert "6 checks: 3 PASS, 1 INCONCLUSIVE, 1 FAIL; 1 FAIL, expected; 4 as expected" in str(report)
    assert "\x1b" not in str(report)
    page = Page(report._repr_html_())
    assert HOSTILE in page.texts
    assert page.texts[page.texts.index("Privacy certificate") + 1] == "FAIL"
    assert page.fetched.count("#c1") == 0  # there is no article to lead to


def test_every_picture_has_a_text_alternative(certificate):
    drawn = {check["name"]: PICTURE.findall(renderers.check_fragment(check)) for check in certificate["checks"]}
    without = {name for name, pictures in drawn.items() if not pictures}
    assert without == {HOSTILE}
    for picture in chain.from_iterable(drawn.values()):
        svg = XML.fromstring(picture)
        assert svg.attrib["role"] == "img"
        assert svg.find("title").text
        assert svg.find("desc").text
        assert "nan" not in "".join(path.attrib["d"] for path in svg.iter("path"))


def test_the_claimed_region_is_that_of_the_claim():
    """f(a) = max(0, 1 - d - e^eps a, e^-eps (1 - d - a)) for eps = ln 2, d = 0.1: f(0.3) = 0.3, the corner."""
    region = dict(trade_off([(np.log(2), 0.1, 0.1)]))
    assert region[0.0] == pytest.approx(0.9)
    assert region[1.0] == 0.0
    corner = min(region, key=lambda alpha: abs(alpha - 0.3))
    assert (corner, region[corner]) == pytest.approx((0.3, 0.3))


def laplace_trade_off(alpha, shift):
    """Return the least type-II error of tests of two Laplace laws (Dong, Roth & Su 2022, lemma A.6)."""
    if alpha < np.exp(-shift) / 2:
        return 1 - np.exp(shift) * alpha
    return np.exp(-shift) / (4 * alpha) if alpha <= 0.5 else np.exp(-shift) * (1 - alpha)


def test_the_curve_of_a_stated_law_is_its_trade_off_function(certificate):
    """The recorded profile gives a function below the law's own, and near it: Laplace noise with shift / scale 0.8."""
    lines = certificate["checks"][0]["evidence"]["ways"][0]["curve"]["profile"]
    alphas, below = np.array(trade_off(lines)).T
    exact = np.array([laplace_trade_off(alpha, 0.8) for alpha in alphas])
    assert np.all(below <= exact + 1e-6)
    assert np.max(exact - below) < 2e-3
    assert certificate["checks"][0]["evidence"]["ways"][0]["curve"]["tightness"] == pytest.approx(0.8)


class FailsLater(NoisySum):
    """States a loss whose profile cannot be evaluated in one direction."""

    def privacy_loss(self, left, right):
        loss = self.law(left).loss_against(self.law(right))
        known = loss.delta

        def delta(epsilon, direction=None):
            if direction is not None:
                raise ArithmeticError("no such direction")
            return known(epsilon)

        object.__setattr__(loss, "delta", delta)
        return loss


def test_a_law_without_a_curve_has_its_verdict_all_the_same():
    check = PrivacyCheck(name="a", mechanism=FailsLater(), claim=PrivacyClaim(1.0), pairs=[PAIR])
    result = audit.run([check], budget=20_000, workers=0)["a"]
    assert result.verdict is Verdict.PASS
    assert result.evidence.by(StatedLaw).curve is None
    assert len(find_view(result.record()).list_pictures()) == 1


def test_a_curve_is_read_back_as_it_was_written(certificate):
    evidence = certificate["checks"][0]["evidence"]
    assert json.loads(json.dumps(to_plain(from_plain(PrivacyEvidence, evidence)))) == evidence
    for spoiled in ({"profile": [[0.1, 0.2]]}, {"profile": 3}, {"pair": -1}):
        law = {**evidence["ways"][0], "curve": {**evidence["ways"][0]["curve"], **spoiled}}
        with pytest.raises(InvalidCertificate):
            from_plain(PrivacyEvidence, {**evidence, "ways": [law, *evidence["ways"][1:]]})


@pytest.mark.parametrize(
    ("axis", "labels"),
    [
        (Axis("x", 0, 1), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (Axis("x", 1e-6, 1, log=True), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1", "1"]),
        (Axis("x", 1e3, 1e5, log=True), ["1000", "10000", "10⁵"]),
        (Axis("x", 30, 300, log=True), ["50", "100", "200"]),
        (Axis("x", 64, 70, log=True), ["64", "66", "68", "70"]),
        (Axis("", 0, 1), []),
    ],
)
def test_ticks_are_round(axis, labels):
    assert [label for _, label in axis.ticks()] == labels


def test_junit_counts_and_properties(certificate):
    root = XML.fromstring(junit_of(certificate).encode())
    suite = root[0]
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == ("6", "1", "1")
    cases = {case.attrib["name"]: case for case in suite}
    refuted = cases["refuted"]
    assert refuted.find("failure").attrib["message"].startswith("FAIL, expected PASS")
    assert "left  = np.array" in refuted.find("failure").text
    assert cases["half"].find("failure") is None
    assert "<script>" in cases[HOSTILE].find("error").attrib["message"]
    properties = {part.attrib["name"]: part.attrib["value"] for part in refuted.find("properties")}
    assert properties["seed"] == "0"
    assert properties["budget"] == "20000"
    assert properties["found"].startswith("certified epsilon")
    assert properties["claim"] == "(1, 0) substitution"


def test_the_summary_is_short_and_worst_first(certificate):
    many = copy.deepcopy(certificate)
    many["checks"] = [{**check, "name": f"{check['name']} {k}"} for k in range(100) for check in many["checks"]]
    text = RENDERERS["certificate.md"](many)
    assert len(text) < 60_000
    assert text.index("refuted 0") < text.index("half 0")
    assert "and 140 more" in text


def test_five_hundred_checks_stay_below_one_megabyte(certificate):
    many = copy.deepcopy(certificate)
    many["checks"] = [{**check, "name": f"{check['name']} {k}"} for k in range(65) for check in many["checks"]]
    assert len(html_of(many).encode()) < 1e6


def test_text_that_is_no_unicode_is_written(certificate, tmp_path):
    certificate["checks"][3]["reason"] += " \udc80"
    for path in write_renderings(certificate, tmp_path):
        path.read_text(encoding="utf-8")


def outcomes(**verdicts):
    """A certificate with one check of each name, which is expected to PASS, or named by the fault that it is."""
    checks = [
        {
            "name": name,
            "mechanism": f"mylib.{name}",
            "kind": "privacy",
            "expected": "FAIL" if name.startswith("fault") else "PASS",
            "verdict": verdict,
            "basis": "none" if verdict == "INCONCLUSIVE" else "outputs",
            "evidence": {"ways": [{"way": "guess game", "floats": "real"}]},
            "settings": {"significance": 0.05 / len(verdicts), "confirmation": 1e-6 / len(verdicts)},
        }
        for name, verdict in verdicts.items()
    ]
    source = {"distribution": "mylib", "version": "2.1", "file": "mylib/a.py", "digest": "0" * 64, "line": 3}
    settings = {"significance": 0.05, "confirmation": 1e-6}
    return {"checks": checks, "settings": settings, "sources": dict.fromkeys(verdicts, source)}


@pytest.mark.parametrize(
    ("verdicts", "says", "is_silent_about"),
    [
        ({"sums": "PASS"}, "Nothing now.", "Release nothing"),
        ({"sums": "PASS", "leak": "FAIL"}, "Release nothing with the code that FAILs: leak.", "Nothing now"),
        (
            {"sums": "PASS", "slow": "INCONCLUSIVE"},
            "Do not count as kept what is INCONCLUSIVE",
            "Release nothing",
        ),
        ({"sums": "PASS", "fault": "PASS"}, "these faults, which passed: fault.", "Release nothing"),
        ({"sums": "PASS", "fault": "FAIL"}, "Nothing now.", "Release nothing"),
        ({f"leak{i}": "FAIL" for i in range(8)}, "leak4 and 3 more.", "leak5"),
    ],
)
def test_the_abstract_says_what_to_do(verdicts, says, is_silent_about):
    parts = dict(write_abstract(outcomes(**verdicts)))
    titles = ["What was audited", "What is protected", "How sure", "What was not looked at", "What to do"]
    assert list(parts) == titles
    assert says in parts["What to do"]
    assert is_silent_about not in parts["What to do"]
    assert "mylib 2.1" in parts["What was audited"]
    assert "with probability at most 1e-06" in parts["How sure"]
