"""Write a certificate as an in-toto statement, whose subject is the code that was audited.

Signing tools sign a statement: it binds digests of subjects to a result. This one has the predicate
"test-result": passed, warned and failed tests are checks that are as expected, INCONCLUSIVE, and FAIL. See
https://in-toto.io/Statement/v1 and https://in-toto.io/attestation/test-result/v0.1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from audit.api import errors, summary

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
_RESULTS = {"PASS": "PASSED", "INCONCLUSIVE": "WARNED", "FAIL": "FAILED"}

Certificate = Mapping[str, Any]


def make_statement(certificate: Certificate, path: Path) -> dict[str, Any]:
    """Return the in-toto statement of a certificate that is kept in the file `path`.

    Raises
    ------
    InvalidCertificate
        If the certificate names no digest of the audited code.
    """
    subjects = sorted(set(_list_subjects(certificate["sources"])))
    if not subjects:
        raise errors.InvalidCertificate(
            "the certificate has no digest of the audited code: a statement needs a subject"
        )
    tests: dict[str, list[str]] = {word: [] for word in _RESULTS.values()}
    for check in certificate["checks"]:
        tests[_RESULTS[summary.standing_of(check).value]].append(check["name"])
    return {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in subjects],
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": _RESULTS[certificate["verdict"]],
            "configuration": [_resource(path), {"name": "plan", "digest": {"sha256": certificate["chain"]["start"]}}],
            "passedTests": tests["PASSED"],
            "warnedTests": tests["WARNED"],
            "failedTests": tests["FAILED"],
        },
    }


def _list_subjects(sources: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and digest of the distributions behind each check; of its file where it is of none."""
    for source in sources.values():
        named = list(summary.list_distributions(source))
        yield from (
            (f"{part['distribution']} {part['version']}", part["subject"]) for part in named if "subject" in part
        )
        if not named and source.get("subject"):
            yield source.get("file", "code"), source["subject"]


def _resource(path: Path) -> dict[str, Any]:
    return {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
