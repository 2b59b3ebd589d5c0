"""The functions `check_inequality`, `check_guarantee`, `check_consistency`, `check_rate` and `check_lower_bound`.

Each takes the parameters of the check of that name, flat, with the settings of a run; the result is the one that the
check would get in a run of its own. See `audit.checks.utility` for what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from audit.base.arguments import integer, open_probability
from audit.base.defaults import DEFAULT_BUDGET, DEFAULT_SIGNIFICANCE
from audit.checks.isolation import run_isolated
from audit.checks.utility import (
    ConsistencyCheck,
    GuaranteeCheck,
    InequalityCheck,
    LowerBoundCheck,
    RateCheck,
    UtilityCheck,
    UtilityResult,
)
from audit.subjects import Stream
from audit.subjects.describe import name_of


def check_inequality(
    values: Callable[[], Any] | None = None,
    *,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    **parameters: Any,
) -> UtilityResult:
    """Check a stated inequality: computed `values`, or the mean of sampled `losses` against `bound`.

    Parameters
    ----------
    values, losses, bound, support, sense, tolerance, slack, source, statement
        See `audit.InequalityCheck`.
    name : str, optional
        Shown in messages.
    budget : int >= 2
        Losses drawn in all.
    significance : float in (0, 1)
        Probability of a wrong FAIL.
    seed : int >= 0
        The same seed gives the same evidence.
    timeout : float > 0, optional
        Run in a process of its own and stop it after so many seconds: for subjects that may hang or die.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    name = name or name_of(values or parameters.get("losses"))
    return _run(InequalityCheck(name=name, values=values, timeout=timeout, **parameters), budget, significance, seed)


def check_guarantee(
    trials: Callable[..., Any],
    beta: float,
    *,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    **parameters: Any,
) -> UtilityResult:
    """Check a guarantee that holds with probability at least 1 - beta.

    Parameters
    ----------
    trials, beta, slack, source, statement
        See `audit.GuaranteeCheck`; the settings are those of `check_inequality`.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    name = name or name_of(trials)
    check = GuaranteeCheck(name=name, trials=trials, beta=beta, timeout=timeout, **parameters)
    return _run(check, budget, significance, seed)


def check_consistency(
    losses: Callable[..., Any] | None = None,
    sizes: Sequence[int] = (),
    bayes_risk: float = 0.0,
    tolerance: float = 0.0,
    *,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    **parameters: Any,
) -> UtilityResult:
    """Check that the risk comes within `tolerance` of the Bayes risk at the largest size.

    Parameters
    ----------
    losses, sizes, bayes_risk, tolerance, evaluator, support, finite_bounds, monotone, source, statement
        See `audit.ConsistencyCheck`; the settings are those of `check_inequality`.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    name = name or name_of(losses or parameters.get("evaluator"))
    check = ConsistencyCheck(
        name=name,
        losses=losses,
        sizes=sizes,
        bayes_risk=bayes_risk,
        tolerance=tolerance,
        timeout=timeout,
        **parameters,
    )
    return _run(check, budget, significance, seed)


def check_rate(
    losses: Callable[..., Any] | None = None,
    sizes: Sequence[int] = (),
    exponent: float = float("nan"),
    *,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    **parameters: Any,
) -> UtilityResult:
    """Check that the mean excess decays with the claimed exponent on a declared range of sizes.

    Parameters
    ----------
    losses, sizes, exponent, margin, sense, constant, constant_margin, scale, evaluator, support, horizon, source, \
statement
        See `audit.RateCheck`; the settings are those of `check_inequality`.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    name = name or name_of(losses or parameters.get("evaluator"))
    check = RateCheck(name=name, losses=losses, sizes=sizes, exponent=exponent, timeout=timeout, **parameters)
    return _run(check, budget, significance, seed)


def check_lower_bound(
    losses: Callable[..., Any] | None = None,
    sizes: Sequence[int] = (),
    bound: Callable[[int], float] | None = None,
    *,
    name: str | None = None,
    budget: int = DEFAULT_BUDGET,
    significance: float = DEFAULT_SIGNIFICANCE,
    seed: int = 0,
    timeout: float | None = None,
    **parameters: Any,
) -> UtilityResult:
    """Check that the risk keeps a proved lower bound for private learners.

    Parameters
    ----------
    losses, sizes, bound, slack, evaluator, support, source, statement
        See `audit.LowerBoundCheck`; the settings are those of `check_inequality`.

    Raises
    ------
    AuditError
        For arguments outside their admissible sets.
    """
    name = name or name_of(losses or parameters.get("evaluator"))
    check = LowerBoundCheck(name=name, losses=losses, sizes=sizes, bound=bound, timeout=timeout, **parameters)
    return _run(check, budget, significance, seed)


def _run(check: UtilityCheck, budget: int, significance: float, seed: int) -> UtilityResult:
    budget = integer(budget, "budget", at_least=2)
    significance = open_probability(significance, "significance")
    stream = Stream(integer(seed, "seed", at_least=0))
    if check.timeout is not None:
        result: UtilityResult = run_isolated(check, budget, significance, stream, check.timeout)
        return result
    return check.examine(budget, significance, stream)
