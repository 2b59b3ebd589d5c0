"""Chaudhuri & Hsu (2011), Sample Complexity Bounds for Differentially Private Learning.

    a1    algorithm A1 (Figure 1)    thresholds    hypotheses on the line, their metrics and covers
    a2    algorithm A2 (Figure 2)    separators    half-spaces
    a3    algorithm A3 (Figure 3)    stumps        one threshold on one feature of many (ours)

`classifier` has the estimators for scikit-learn; the other modules are tables of checks. `statements.toml` lists every
statement with its checks; `faults` breaks the algorithms.
"""

from mechanisms import gather

CHECKS = gather(list(__path__), __name__, frozenset({"faults"}))
