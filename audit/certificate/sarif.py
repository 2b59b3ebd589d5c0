"""Render unexpected verdicts in SARIF, so that code hosts show it at the line of the mechanism."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from audit.text import printable_data

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write_sarif(certificate: Mapping[str, Any]) -> str:
    """Return the checks that are not as expected in SARIF 2.1.0, each at the line of its mechanism."""
    certificate = printable_data(certificate)
    sources, checks = certificate.get("sources", {}), certificate["checks"]
    unmet = [check for check in checks if check["verdict"] != check["expected"]]
    kinds = sorted({check["kind"] for check in unmet})
    rules = [{"id": kind, "shortDescription": {"text": f"{kind} check"}} for kind in kinds]
    driver = {"name": "dp-audit", "rules": rules}
    results = [_finding(check, sources.get(check["name"], {})) for check in unmet]
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(document, indent=1) + "\n"


def _finding(check: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": check["mechanism"]}]}
    if source.get("file"):
        place = {"artifactLocation": {"uri": source["file"]}}
        location["physicalLocation"] = place | ({"region": {"startLine": source["line"]}} if source.get("line") else {})
    return {
        "ruleId": check["kind"],
        "level": "error" if check["verdict"] == "FAIL" else "warning",
        "message": {"text": f"{check['name']}: {check['verdict']}, expected {check['expected']}: {check['reason']}"},
        "locations": [location],
    }
