"""Estimators under `audit.check_estimator`: ours, those of diffprivlib, and correct ones over many seeds.

    python -m benchmarks.estimators ours [NAME...]           the six learners of `mechanisms.learners`
    python -m benchmarks.estimators diffprivlib [NAME...]    two of its models, or those named
    python -m benchmarks.estimators alarms 200 [FIRST]       how often a correct learner FAILs: seeds FIRST to 199

Classes and bounds are public. The last line of each says how many had which verdict. Records are few, so that pairs of
neighbors are far apart. The models of diffprivlib state no relation, and are read under substitution, where the number
of records is public.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import beta

import audit
from benchmarks.scaler_release import ScalerRelease

_DRAWN = np.random.default_rng(1)
X = np.round(np.clip(_DRAWN.normal(size=(12, 2)), -2.5, 2.5), 2)
Y = np.array([0, 1] * 6)
TARGETS = np.round(X @ [0.5, -0.25], 2)
BUDGET, STATED = 400, 3_600  # fits per dataset: of one without a stated law, and with one


def ours() -> Iterator[tuple[Any, Any, Any]]:
    """Yield estimators, their targets, and None: their budget is declared."""
    from sklearn.dummy import DummyClassifier

    from mechanisms import learners

    for kind in (
        learners.CubeVoteClassifier,
        learners.LocalVoteClassifier,
        learners.CoverClassifier,
        learners.LabelPrivateNeighbors,
    ):
        yield kind(classes=[0, 1]), Y, None
    yield learners.CoverClassifier(classes=[0, 1], hypotheses="stumps", projection=None), Y, None
    majority = DummyClassifier(strategy="most_frequent")  # teachers and a student whose law can be computed
    settings = {"epsilon": 4.0, "delta": 0.1, "n_teachers": 7, "teacher": majority, "student": majority}
    yield learners.TeacherVoteClassifier(classes=[0, 1], **settings), Y, None
    yield learners.CubeMeanRegressor(delta=0.1), TARGETS, None


def diffprivlib() -> Iterator[tuple[Any, Any, Any]]:
    """Yield two of its models with public bounds, their targets, and the claim of their documentation."""
    from diffprivlib import models

    bounds, claim = (-3.0, 3.0), audit.PrivacyClaim(1.0, relation=audit.Substitution())
    yield models.LinearRegression(epsilon=1.0, bounds_X=bounds, bounds_y=bounds), TARGETS, claim
    yield models.StandardScaler(epsilon=1.0, bounds=bounds), None, claim


def audited(found: Iterator[tuple[Any, Any, Any]], names: list[str]) -> Counter[str]:
    """Print a line for each estimator, or for those named, and return the verdicts."""
    from mechanisms.learners.releases import release_of

    counts: Counter[str] = Counter()
    for estimator, targets, claim in found:
        if names and type(estimator).__name__ not in names:
            continue
        begun = time.process_time()
        public = () if hasattr(estimator, "classes") else ("classes",)  # it takes them from the labels, and warns
        release: Any = release_of(estimator, X.shape[1])
        if type(estimator).__name__ == "StandardScaler":
            release = ScalerRelease(estimator, X.shape[1])
        more = {"public": public, "release": release, "budget": BUDGET if release is None else STATED, "workers": 0}
        result = audit.check_estimator(estimator, X, targets, claim, seed=0, **more)
        counts[str(result.verdict)] += 1
        doubts = [line for line in result.properties if line.outcome not in ("kept", "not tested")]
        print(f"{type(estimator).__name__}: {result.verdict}; {time.process_time() - begun:.0f} s; {result.reason}")
        for line in doubts:
            print(f"    {line}")
        sys.stdout.flush()
    return counts


def alarms(last: int, first: int = 0) -> Counter[str]:
    """Return the verdicts on a correct learner, and print a 95 % upper bound of the rate of a FAIL."""
    from mechanisms.learners import CubeVoteClassifier

    counts: Counter[str] = Counter()
    seeds = last - first
    for seed in range(first, last):
        if seed % 20 == 0:
            print(f"after {seed}: {dict(counts)}", flush=True)
        learner = CubeVoteClassifier(classes=[0, 1])
        result = audit.check_estimator(learner, X, Y, budget=BUDGET, workers=0, seed=seed)
        suspected = any(line.outcome in ("suspected", "broken") for line in result.properties)
        counts[f"{result.verdict}{', suspected' if suspected else ''}"] += 1
    failed = sum(count for name, count in counts.items() if name.startswith("FAIL"))
    upper = 1.0 if failed == seeds else float(beta.ppf(0.95, failed + 1, seeds - failed))
    print(f"FAIL in {failed} of {seeds} seeds: at most {upper:.3f} of them, at 95 %")
    return counts


def main(arguments: list[str]) -> None:
    """Run one of the three."""
    warnings.simplefilter("ignore")
    which = arguments[0] if arguments else "ours"
    if which == "alarms":
        counts = alarms(*map(int, arguments[1:3] or ("200",)))
    else:
        counts = audited({"ours": ours, "diffprivlib": diffprivlib}[which](), arguments[1:])
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))


if __name__ == "__main__":
    main(sys.argv[1:])
