"""Enumerate the catalog: which mechanisms of the papers have a law that can be enumerated, each on its own first pair.

`python -m benchmarks.enumeration.catalog` prints a row for each privacy check whose law is followed within 10 seconds,
and how many are not: those with continuous outputs, and those with too many states.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections import Counter
from collections.abc import Iterator

import audit
import mechanisms
from audit.extensions.enumeration.enumerated import Enumerated

LIMITS = audit.Enumeration(time_limit=5.0, states=20_000)


def privacy_checks() -> Iterator[tuple[str, audit.PrivacyCheck]]:
    """Yield the privacy checks with one (epsilon, delta) and listed pairs of all modules of the catalog."""
    seen = set()
    for found in pkgutil.walk_packages(mechanisms.__path__, "mechanisms."):
        if ".third_party" in found.name or ".faults" in found.name or ".long_runs" in found.name:
            continue
        for check in getattr(importlib.import_module(found.name), "CHECKS", ()):
            is_listed = type(check) is audit.PrivacyCheck and not check.claim.is_curve and check.datasets is None
            if is_listed and check.name not in seen:
                seen.add(check.name)
                yield found.name.removeprefix("mechanisms."), check


def main() -> None:
    """Print one row per law, and the number of checks without one."""
    warnings.simplefilter("ignore")
    counts = Counter[str]()
    print("| module | check | claim | expected | verdict | outputs | states |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for module, check in privacy_checks():
        result = audit.check_privacy(
            check.mechanism,
            check.claim,
            check.pairs[:1],
            method=LIMITS,
            name=check.name,
            workers=0,
        )
        counts[f"{result.verdict} ({result.basis})"] += 1
        if result.basis in ("proof", "computed"):
            proof = result.evidence.by(Enumerated).laws[0]
            claim = f"({check.claim.epsilon:g}, {check.claim.delta:g})"
            row = (module, check.name, claim, check.expected, result.verdict, len(proof.law), proof.states)
            print(f"| {' | '.join(map(str, row))} |", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
