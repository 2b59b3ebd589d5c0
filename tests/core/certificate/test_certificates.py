"""Certificates: the same for the same seed, replayed from evidence alone; each rendering shows and escapes one.

Each number of the HTML stands in the JSON.
"""

import copy
import io
import json
import math
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as XML

import numpy as np
import pytest
from rich.console import Console

import audit
from audit import PrivacyCheck, PrivacyClaim, Verdict
from audit.auditor import _standing, summarize
from audit.certificate import terminal
from audit.certificate.document import (
    _read_git,
    find_lacking,
    list_versions,
    load_certificate,
    make_plan,
    write_renderings,
)
from audit.certificate.render import (
    RENDERERS,
    check_fragment,
    escape_markdown,
    html_of,
    junit_of,
    markdown_of,
    report_fragment,
)
from audit.certificate.summary import describe_sources, group_checks, is_met, tally, write_abstract
from audit.certificate.terminal import LiveProgress, output_console, print_certificate
from audit.checks.result import trade_off
from audit.errors import InvalidCertificate, MissingCertificate
from audit.records.view import Axis, RecordView
from audit.text import count, number, printable
from audit.validate import Limits
from tests.core.kinds import DivisibleCheck
from tests.core.mechanisms import PAIR, NoisySum

HOSTILE = "<img src=x onerror=alert(1)>"
NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?(?:e[-+]?\d+)?)")


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


def run(workers):
    return audit.run(CHECKS, budget=20_000, workers=workers, targets=["mylib.audits"])


@pytest.fixture(scope="module")
def report():
    return run(workers=0)


@pytest.fixture
def certificate(report):
    return copy.deepcopy(report.certificate)


def test_verdicts_and_significance(report, certificate):
    assert [r.verdict.value for r in report.results] == ["PASS", "FAIL", "FAIL", "INCONCLUSIVE", "PASS", "PASS"]
    assert certificate["counts"] == {"PASS": 3, "FAIL": 2, "INCONCLUSIVE": 1}
    assert certificate["as_expected"] == 4
    assert certificate["verdict"] == "FAIL" == report.verdict.value
    spent = certificate["significance_spent"]
    assert sum(entry["allotted"] for entry in spent) <= certificate["settings"]["significance"] * (1 + 1e-9)
    games = [["guess game"]] * 2
    assert [entry["tests"] for entry in spent] == [["goodness of fit", "guess game"], *games, [], [], []]


def test_what_is_left_of_the_significance_is_stated(report):
    records = [result.record() for result in report.results]
    plan = make_plan(1.0, records, [result.evidence for result in report.results], [None] * len(records))
    assert plan["shared"] == "by test"
    assert plan["unspent"] == pytest.approx(1 - sum(record["settings"]["significance"] for record in records))


def test_replay_imports_and_runs_nothing_of_the_certificate(report, tmp_path):
    report.save(tmp_path)
    code = f"""
import sys
from audit.certificate.document import load_certificate
from audit.certificate.render import RENDERERS
from audit.certificate.verify import replay
before = set(sys.modules)
replay(load_certificate({str(tmp_path)!r}))
new = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(sorted(new & {{"test_certificates", "tests", "mechanisms"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "content",
    [
        *("", "{", '{"a": NaN}', '{"a": 1e999}', 100_000 * "[", "[]", "{}", '{"schema_version": "1.0", "checks": []}'),
        *('{"a": 1, "a": 2}', "9" * 10_001, "\udcff"),
    ],
    ids=range(11),
)
def test_what_is_no_certificate_is_refused(tmp_path, content):
    (tmp_path / "certificate.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidCertificate):
        load_certificate(tmp_path)
    with pytest.raises(MissingCertificate):
        load_certificate(tmp_path / "nowhere")


def test_the_same_seed_gives_the_same_certificate(report):
    again = run(workers=2).certificate
    elsewhere = {"timing": 0, "isolation": 0, "printed": 0, "provenance": 0, "seal": 0}
    assert json.dumps({**again, **elsewhere}) == json.dumps({**report.certificate, **elsewhere})
    assert again["chain"] == report.certificate["chain"]


def test_versions_of_libraries_are_recorded():
    found = list_versions()
    assert (found["dp-audit"], found["numpy"]) == (audit.__version__, np.__version__)


def test_the_commit_and_other_changes_are_recorded(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _read_git() is None
    commit = ["-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "first"]
    for arguments in (["init", "-q"], commit):
        subprocess.run(["git", *arguments], check=True)
    found = _read_git()
    assert re.fullmatch("[0-9a-f]{40,}", found["commit"])
    assert not found["dirty"]
    Path("new").touch()
    assert _read_git() == found | {"dirty": True}


@pytest.mark.parametrize(
    ("limits", "admitted", "refused"),
    [
        (Limits(least=0), 0, -1),
        (Limits(most=2), 2, 3),
        (Limits(above=0), 0.1, 0),
        (Limits(below=1), 0.9, 1),
        (Limits(shortest=1), "a", ""),
        (Limits(longest=2), (1, 2), (1, 2, 3)),
        (Limits(pattern="[0-9]+"), "12", "12\n"),
        (Limits(), math.nan, None),
        (Limits(least=0), math.inf, math.nan),
    ],
)
def test_limits_hold_at_their_ends(limits, admitted, refused):
    assert limits.admits(admitted)
    assert refused is None or not limits.admits(refused)


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


def test_markdown_escapes_what_it_shows(certificate):
    text = markdown_of(certificate)
    assert "<img" not in text.replace("\\<img", "")
    assert "<script" not in text.replace("\\<script", "")
    assert escape_markdown("a|b\n*c*") == "a\\|b \\*c\\*"
    rows = [line for line in text.splitlines() if line.startswith(("| PASS", "| FAIL", "| INCONCLUSIVE"))]
    shown = ["| FAIL", "| INCONCLUSIVE", "| FAIL, expected", *3 * ["| PASS"]]
    assert [row.split(" |")[0] for row in rows] == shown


def laplace_trade_off(alpha, shift):
    """Return the least type-II error of tests of two Laplace laws (Dong, Roth & Su 2022, lemma A.6)."""
    if alpha < np.exp(-shift) / 2:
        return 1 - np.exp(shift) * alpha
    return np.exp(-shift) / (4 * alpha) if alpha <= 0.5 else np.exp(-shift) * (1 - alpha)


def test_who_reads_the_abstract_learns_which_checks_to_act_on(report):
    assert repr(report) == "Report(FAIL: 4 of 6 checks as expected)"
    *_, (_, advice) = write_abstract(report.certificate)
    of_these = [check for check in report.certificate["checks"] if not is_met(check)]
    assert {check["verdict"] for check in of_these} == {"FAIL", "INCONCLUSIVE"}
    for check in report.certificate["checks"]:
        assert (check["name"] in advice) == (check in of_these)


def test_the_curve_of_a_stated_law_is_its_trade_off_function(certificate):
    """The recorded profile gives a function below the law's own, and near it: Laplace noise with shift / scale 0.8."""
    lines = certificate["checks"][0]["evidence"]["ways"][0]["curve"]["profile"]
    alphas, below = np.array(trade_off(lines)).T
    exact = np.array([laplace_trade_off(alpha, 0.8) for alpha in alphas])
    assert np.all(below <= exact + 1e-6)
    assert np.max(exact - below) < 2e-3
    assert certificate["checks"][0]["evidence"]["ways"][0]["curve"]["tightness"] == pytest.approx(0.8)


@pytest.mark.parametrize("log", [False, True])
def test_an_axis_shows_its_values_with_one_margin_at_both_ends(log):
    first, last = map(Axis.spanning("x", [1.0, 1_000.0], log=log).share, (1.0, 1_000.0))
    assert 0 < first < 0.1
    assert first + last == pytest.approx(1)
    assert 0 < Axis.spanning("x", [0.0, 1.0, math.inf], log=True).low < 1
    assert [value for value, _ in Axis("x", 0.0, 10.0).ticks()] == [0, 2, 4, 6, 8, 10]


def test_a_page_shows_the_last_bounds():
    record = {"found": [{"quantity": f"look {number}", "lower": 0.0, "upper": number} for number in range(20)]}
    (part,) = RecordView(record).parts()
    assert [name for name, *_ in part.rows] == [f"look {number}" for number in range(8, 20)]
    assert RecordView(record).main_finding == "look 19 in [0, 19]"


def test_what_only_a_confirmation_has_needs_its_extension():
    later = {"kind": "privacy", "settings": {}, "evidence": {"ways": [], "confirmation": {"ways": [{"way": "later"}]}}}
    assert find_lacking(later, {"other": {"kinds": [], "methods": [], "evidence": ["later"]}}) == "other"


def test_the_corner_of_a_claim_is_a_point_of_its_trade_off_function():
    corner = 1 / (1 + math.e)
    assert pytest.approx((corner, corner)) in trade_off([(1.0, 0.0, 0.0)])


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


def test_text_that_is_no_unicode_is_written(certificate, tmp_path):
    certificate["checks"][3]["reason"] += " \udc80"
    for path in write_renderings(certificate, tmp_path):
        path.read_text(encoding="utf-8")


def exact(data, size, rng):
    return [float(data[0])] * size


def test_what_is_not_as_expected_is_a_finding_at_its_line(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    check = partial(audit.PrivacyCheck, mechanism=exact, claim=PrivacyClaim(1.0), pairs=[([0.0], [1.0])])
    checks = [check(name="leak\x1b[2J"), check(name="known", expected=Verdict.FAIL)]
    certificate = audit.run(checks, budget=2_000, workers=0).certificate
    document = json.loads(RENDERERS["findings.sarif"](certificate))
    (run,) = document["runs"]
    (result,) = run["results"]
    assert (document["version"], result["ruleId"], result["level"]) == ("2.1.0", "privacy", "error")
    assert "\x1b" not in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/core/certificate/test_certificates.py"
    line = Path(__file__).read_text().splitlines().index("def exact(data, size, rng):") + 1
    assert place["region"]["startLine"] == line
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["privacy"]


# Text of mechanisms and checks that would command a terminal or a CI system never leaves as it is.
COMMANDS = (
    "x\x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07\r\n::error::forged\n  ::set-output name=a::b\n"
    "##[group]\n##vso[task.complete]\u202eSSAP\u2066\u200b\x9b31m\x00\udc80\u2028end"
)
NAME = "name " + COMMANDS
OBEYED = re.compile(r"::(error|set-output)|##(\[|vso)")


def raises(data, size, rng):
    raise ValueError(COMMANDS)


def harmless(text):
    """Nothing but printable characters and the line feeds of the page itself, and no command to a CI system."""
    odd = {each for each in text if not each.isprintable()} - {"\n", " "}
    return not odd and not OBEYED.search(text)


@pytest.fixture(scope="module")
def commanding():
    claim = PrivacyClaim(1.0, source=COMMANDS)
    checks = [PrivacyCheck(name=NAME, mechanism=raises, claim=claim, pairs=[PAIR], budget=400)]
    return audit.run(checks, workers=0, targets=[COMMANDS])


def in_terminal(report):
    out = io.StringIO()
    print_certificate(Console(file=out, width=60), report.certificate)
    return out.getvalue()


def in_log(report):
    out = io.StringIO()
    with LiveProgress(1, console=Console(file=out, width=60)) as progress:
        progress.show_start(report.results[0].check)
        progress.show_result(report.results[0])
    return out.getvalue()


PLACES = {
    **{name: lambda report, render=render: render(report.certificate) for name, render in RENDERERS.items()},
    "notebook": lambda report: report_fragment(report.certificate) + check_fragment(report.results[0].record()),
    "terminal": in_terminal,
    "log": in_log,
    "str": lambda report: f"{report}\n{report.results[0]}\n{report.results[0]!r}",
    "pytest": lambda report: "\n".join(summarize(report.results, 0.05)),
}


@pytest.mark.parametrize("place", PLACES)
def test_nothing_obeyed_reaches(commanding, place):
    assert "ValueError" in commanding.results[0].reason
    assert not harmless(commanding.results[0].reason)
    text = PLACES[place](commanding)
    assert harmless(text), sorted({each for each in text if not each.isprintable()})
    assert place == "badge.svg" or "x\\x1b[2J" in "".join(text.split()).replace("\\\\", "\\").replace("\\[", "[")


def test_long_names_leave_room_for_the_counts_of_the_progress():
    out = io.StringIO()
    with LiveProgress(709, console=Console(file=out, width=80, force_terminal=True)) as progress:
        for number in range(3):
            progress.show_start(SimpleNamespace(name=f"{number}: " + 60 * "x"))
    last = out.getvalue().split("\n")[-2].rpartition("\r")[2]  # the last drawing, which is wiped at the end
    assert all(part in last for part in ("0/709", "0 drawn", "0: xxx"))


def test_the_time_left_is_that_of_the_checks_of_this_run(monkeypatch):
    """Five of ten were done before, and one more took a minute: so will each of the other four."""
    out, now = io.StringIO(), [0.0]
    monkeypatch.setattr(terminal, "time", SimpleNamespace(monotonic=lambda: now[0]))
    progress = LiveProgress(10, done=5, console=Console(file=out, width=200))
    now[0] = 60.0
    result = {"name": "x", "samples": 1_234, "met": False, "verdict": "FAIL", "record": lambda: {"reason": "so"}}
    progress.show_result(SimpleNamespace(**result))
    assert out.getvalue() == "6 of 10 checks, 1,234 drawn, about 240 s left; x: FAIL, so\n"


def test_ordinary_text_stays_as_it_is():
    for text in ("tests/test_a.py::Test::test_error[ε ≥ 1]", "a – b · 2 × 10⁻⁶", "d::errors", ""):
        assert printable(text) == text
    assert printable("a\n::error::b\x1b[0m") == "a\\n\\x3a:error::b\\x1b[0m"
    assert output_console().width


def test_of_audits_that_fail_the_one_with_the_largest_share_of_its_epsilon_comes_first():
    def fail(name, bound, claimed):
        record = {"epsilon_lower_bound": bound, "claim": {"epsilon": claimed}}
        return SimpleNamespace(name=name, met=False, verdict=Verdict.FAIL, record=lambda: record)

    failed = [fail("unknown", None, 1.0), fail("twice", 4.0, 2.0), fail("thrice", 3.0, 1.0)]
    assert [result.name for result in sorted(failed, key=_standing)] == ["thrice", "twice", "unknown"]
