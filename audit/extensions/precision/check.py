"""Audit the bits of floating-point outputs: a privacy check whose scores of bits compete, at a fixed budget."""

from collections.abc import Sequence
from typing import Any

from audit import PrivacyCheck, PrivacyResult, Verdict, check_privacy
from audit.api import claims, defaults, document_from, validate

DEFAULT_PRECISION_BUDGET = 10_000


@document_from(PrivacyCheck)
def check_precision(
    mechanism: Any,
    claim: claims.Claim,
    pairs: Sequence[tuple[Any, Any]],
    *,
    tolerance: float | None = None,
    expected: Verdict = Verdict.PASS, name: str | None = None, budget: validate.Budget = DEFAULT_PRECISION_BUDGET,
    significance: float = defaults.DEFAULT_SIGNIFICANCE, confirmation: float | None = defaults.DEFAULT_CONFIRMATION,
    seed: int = 0, timeout: float | None = None, workers: int | None = None,
) -> PrivacyResult:  # fmt: skip
    """Test a privacy claim by events on the bits of floating-point outputs.

    It is `check_privacy` with `floats="audit"` and `method="fixed"`: a stated law is not used, because it is about real
    numbers. A PASS is about the events that competed: other functions of the bits were not examined.

    References
    ----------
    Mironov (2012), On significance of the least significant bits for differential privacy. Haney, Desfontaines,
    Hartman, Shrestha and Hay (2022), Precision-based attacks and interval refining.

    Examples
    --------
    >>> from audit import Local, PrivacyClaim, check_precision
    >>> def textbook(record, size, rng):  # 1-differentially private over the real numbers only
    ...     return record + rng.laplace(size=size)
    >>> result = check_precision(textbook, PrivacyClaim(1.0, relation=Local()), [(0.0, 1.0)], budget=500)
    >>> print(result.verdict, result.epsilon_lower_bound > 4)
    FAIL True
    """
    return check_privacy(
        mechanism, claim, pairs, method="fixed", floats="audit", tolerance=tolerance, expected=expected, name=name,
        budget=budget, significance=significance, confirmation=confirmation, seed=seed, timeout=timeout,
        workers=workers,
    )  # fmt: skip
