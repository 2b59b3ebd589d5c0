"""SARIF shows what is not as expected at the line of the mechanism."""

import json
from functools import partial
from pathlib import Path

import audit
from audit import PrivacyClaim, Verdict
from audit.certificate.render import RENDERERS


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
    assert place["artifactLocation"]["uri"] == "tests/core/certificate/test_sarif.py"
    line = Path(__file__).read_text().splitlines().index("def exact(data, size, rng):") + 1
    assert place["region"]["startLine"] == line
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["privacy"]
