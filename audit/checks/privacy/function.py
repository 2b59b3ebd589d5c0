"""The function `check_privacy`: one privacy claim about one mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit.base.arguments import integer, open_probability
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.checks.isolation import run_isolated
from audit.checks.privacy.check import Method, PrivacyCheck
from audit.checks.privacy.result import PrivacyResult
from audit.checks.privacy.run import run_check
from audit.claims import Claim
from audit.subjects import Stream
from audit.subjects.describe import name_of
from audit.subjects.workers import Place


def check_privacy(
    mechanism: Any,
    claim: Claim,
    pairs: Sequence[tuple[Any, Any]] = (),
    *,
    datasets: Any = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    method: Method = "auto",
    tolerance: float | None = None,
    timeout: float | None = None,
    workers: int = 1,
    name: str | None = None,
) -> PrivacyResult:
    """Audit one privacy claim about one mechanism.

    Parameters
    ----------
    mechanism : callable
        `(dataset, size, rng) -> array-like`, first axis of length `size`; see `audit.PrivacyCheck`.
    claim : PrivacyClaim, GaussianClaim, TradeOffClaim, RenyiClaim or ZeroConcentratedClaim
        What is promised.
    pairs : sequence of (left, right)
        Neighboring datasets.
    datasets : hypothesis SearchStrategy, optional
        In place of `pairs`: search for the worst pair among neighbors of such datasets, and shrink it.
    budget : int >= 2
        Outputs a side, training and certifying together.
    significance : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed gives the same evidence, for any number of workers.
    method : {"auto", "fixed", "sequential", "exact"}
        See `audit.PrivacyCheck`.
    tolerance : float > 0, optional
        Of a statistical PASS; None means max(0.05, epsilon / 4).
    timeout : float > 0, optional
        Run in a process of its own and stop it after so many seconds: for subjects that may hang or die.
    workers : int >= 1
        Processes that share the blocks of the certifying stage.
    name : str, optional
        Shown in messages; the mechanism's own name unless given.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets, a pair that is not neighboring, and a mechanism that does
        not return as many outputs as it was asked for; before the budget is spent.
    """
    check = PrivacyCheck(
        name=name or name_of(mechanism),
        mechanism=mechanism,
        claim=claim,
        pairs=pairs,
        datasets=datasets,
        method=method,
        tolerance=tolerance,
        timeout=timeout,
    )
    budget = integer(budget, "budget", at_least=2)
    significance = open_probability(significance, "significance")
    seed = integer(seed, "seed", at_least=0)
    place = Place(workers=integer(workers, "workers", at_least=1))
    if timeout is not None:
        return run_isolated(check, budget, significance, Stream(seed), timeout)
    return run_check(check, budget, significance, Stream(seed), place)
