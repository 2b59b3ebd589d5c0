"""Bousquet et al. (2022), Differentially-Private Bayes Consistency: algorithms, statements as checks, and faults.

    algorithm1  stability-based histogram      theorem4_10  semi-private learner
    algorithm2  votes of cubes                 theorem4_11  semi-supervised learner
    algorithm3  density of cubes               regression   application to regression
    algorithm4  votes of Voronoi cells         section3, section4, appendix
    algorithm5  the same on unbounded spaces                the other statements, as tables

`statements.toml` lists every statement of the paper with its checks, `faults` breaks the algorithms, one line each.
n is public, and datasets are neighboring when one record is substituted, as in the paper.

`CHECKS` is gathered when it is asked for, so that an algorithm is imported without the theorems.
"""

from typing import Any

from mechanisms import gather


def __getattr__(name: str) -> Any:
    if name != "CHECKS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return gather(list(__path__), __name__, frozenset({"faults"}))  # a target of their own
