"""The certificate as JUnit XML: one case a check, so that CI shows the audit beside the tests.

A check that came out as its author expects is a passed case, an expected FAIL too. One that was refuted is a failure,
one that stays INCONCLUSIVE, or whose fault was not convicted, an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as XML

from audit.base.verdict import Verdict, standing
from audit.report.wording import PRIVACY_KINDS, claimed, found, is_met

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS = {Verdict.FAIL: "failure", Verdict.INCONCLUSIVE: "error"}


def junit_of(certificate: Mapping[str, Any]) -> str:
    """Render a certificate's plain data."""
    stands = [_standing(check) for check in certificate["checks"]]
    timing = certificate["timing"]
    suite = XML.Element(
        "testsuite",
        name="dp-audit",
        tests=str(len(stands)),
        failures=str(stands.count(Verdict.FAIL)),
        errors=str(stands.count(Verdict.INCONCLUSIVE)),
        skipped="0",
        time=f"{sum(timing.values()):.3f}",
        timestamp=_legal(certificate["provenance"]["time"]),
    )
    for check, stand in zip(certificate["checks"], stands, strict=True):
        suite.append(_case(check, stand, timing[check["name"]], certificate["settings"]["seed"]))
    root = XML.Element("testsuites", {name: suite.attrib[name] for name in ("tests", "failures", "errors", "time")})
    root.append(suite)
    XML.indent(root, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + XML.tostring(root, encoding="unicode") + "\n"


def _case(check: Mapping[str, Any], stand: Verdict, seconds: float, seed: int) -> XML.Element:
    names = {"name": _legal(check["name"]), "classname": _legal(check["mechanism"])}
    case = XML.Element("testcase", {**names, "time": f"{seconds:.3f}"})
    properties = XML.SubElement(case, "properties")
    for name, value in _properties(check, seed).items():
        XML.SubElement(properties, "property", name=name, value=_legal(value))
    if stand in _TAGS:
        message = f"{check['verdict']}, expected {check['expected']}: {check['reason']}"
        XML.SubElement(case, _TAGS[stand], type=check["verdict"], message=_legal(message)).text = _legal(_told(check))
    return case


def _properties(check: Mapping[str, Any], seed: int) -> dict[str, str]:
    settings = check["settings"]
    return {
        "verdict": check["verdict"],
        "expected": check["expected"],
        "basis": check["basis"],
        "claim": claimed(check),
        "source": check["claim"]["source"],
        "bound": _bound(check),
        "seed": str(seed),
        "budget": str(settings["budget"]),
        "significance": repr(settings["significance"]),
    }


def _bound(check: Mapping[str, Any]) -> str:
    """The certified lower bound of a privacy check; what was found, of another."""
    return repr(check["epsilon_lower_bound"]) if check["kind"] in PRIVACY_KINDS else found(check)


def _told(check: Mapping[str, Any]) -> str:
    """The witness, when there is one; else the reason again."""
    witness = check.get("witness")
    if not witness:
        return str(check["reason"])
    return (
        f"left  = {witness['left']}\nright = {witness['right']}\n"
        f"event: {witness['event']}, likelier on {witness['direction']}"
    )


def _standing(check: Mapping[str, Any]) -> Verdict:
    return Verdict.PASS if is_met(check) else standing(Verdict(check["verdict"]), Verdict(check["expected"]))


def _legal(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
