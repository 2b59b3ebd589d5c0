"""Bassily, Thakurta & Thakkar (2018), Model-Agnostic Private Learning via Stability: algorithms and statements.

    algorithm1  sparse vector                       algorithm5  knowledge transfer
    algorithm2  distance to instability             algorithm6  soft labels: a run of queries
    algorithm3  online query release                algorithm7  soft labels: the private learner
    algorithm4  sub-sample and aggregate            algorithm8  soft labels: the private classifier

`noise` has the constants and their privacy, `classifier` the estimator for scikit-learn, `privacy`, `accuracy`,
`section4` and `section5` the other theorems as tables. `faults` breaks the algorithms, one line each. `statements.toml`
lists every numbered statement with its checks, the sentences of checks, and what is left of the privacy of a fault.

`CHECKS` is gathered when it is asked for, so that an algorithm is imported without the theorems.

Constants are reconstructed: the copy at hand has lost its algorithm boxes and most formulas. 32 under the root of lam,
w = 2 lam log(2 m / delta), 34 and 136 are fixed by the rest of the proofs (Lemma 3.8, Corollary 3.9, section 5).
"""

from typing import Any

from mechanisms import gather


def __getattr__(name: str) -> Any:
    if name != "CHECKS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return gather(list(__path__), __name__, frozenset({"faults"}))  # a target of their own
