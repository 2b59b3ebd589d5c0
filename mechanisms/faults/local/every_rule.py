"""Bounds for every rule that a rule breaks, and a rule without privacy."""

from __future__ import annotations

from functools import partial

from audit import InequalityCheck, Verdict
from mechanisms.local.every_rule import divergence_cases, error_cases, rule_check

CHECKS: list[InequalityCheck] = [
    rule_check(
        "fault/local every rule, a hundredth of the divergence",
        "No channel tells more than (e^epsilon - 1)^2 TV^2 / 25; false: some tell more than twice that.",
        partial(divergence_cases, 1 / 25),
        budget=2,
        expected=Verdict.FAIL,
    ),
    rule_check(
        "fault/local every rule, open labels",
        "The majority of open labels errs as often as the bound says; false: it is not private.",
        partial(error_cases, False),
        sense=">=",
        budget=2,
        expected=Verdict.FAIL,
    ),
]
