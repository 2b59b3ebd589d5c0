"""Search the parameters of faults that occur only at some of them: what is found, and at what cost.

    python -m benchmarks.parameters

A fault counts as caught if its check ends with FAIL. Beside it stands the same check at one
round setting, which is what a test without a search looks at.
"""

from __future__ import annotations

import time

import audit
from audit import PrivacyCheck
from mechanisms.faults.parameters import CHECKS

# What a careful test would try: round numbers, none of which is the one that breaks the claim
ROUND = {
    "rounded scale": {"epsilon": 1.0},
    "capped scale": {"epsilon": 1.0},
    "whole division": {"bound": 100, "epsilon": 1},
    "blocks of eight": {"length": 10},
    "mask of bound": {"bound": 100},
    "index of a byte": {"candidates": 100},
    "narrow type": {"bits": 32, "ones": 50},
    "sample deviation": {"records": 100},
    "short tail": {"cells": 40},
    "decimals": {"digits": 3},
    "classical Gaussian": {"epsilon": 1.0},
}
SIGNIFICANCE = 0.001


def outcome(check: PrivacyCheck) -> tuple[audit.PrivacyResult, float]:
    """Return the result of a check and the seconds of CPU that it took."""
    started = time.process_time()
    result = audit.run([check], significance=SIGNIFICANCE, workers=0)[check.name]
    return result, time.process_time() - started


def main() -> None:
    print("| fault | at a round setting | searched | setting found | settings tried | outputs | CPU, s |")
    print("| --- " * 7 + "|")
    for check in CHECKS:
        name = check.name.rpartition("/")[2]
        usual, _ = outcome(check.at(ROUND[name]))
        found, seconds = outcome(check)
        searched = found.evidence.searched
        setting = ", ".join(f"{key}={value:.4g}" for key, value in searched.setting.items())
        row = (name, usual.verdict, found.verdict, setting, searched.settings, f"{found.samples:,}", f"{seconds:.1f}")
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
