"""Zhao et al. (2024), Enhancing Learning with Label Differential Privacy by Vector Approximation.

    vector      equations (14) and (17), Theorem 1
    neighbors   equations (20) and (35)
    network     section 4.2, a network
    baselines   randomized response (LP-1ST), two stages (LP-2ST), ALIBI

`classifier` has the estimators for scikit-learn, `theorems` sections 3 and 4 with Appendix B as tables, `comparisons`
section 5 and Appendix A. `statements.toml` lists every statement with its checks; `faults` breaks the mechanisms.
"""

from mechanisms import gather

CHECKS = gather(list(__path__), __name__, frozenset({"faults"}))
