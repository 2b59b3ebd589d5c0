"""Every learner of the papers is audited as it is called, or is listed here with the reason why not.

200 fits of each are compared with the stated law; `dp-audit run mechanisms.fitted` is the audit.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil

import numpy as np
import pytest

import mechanisms
from audit import Released
from mechanisms import fitted
from tests.offenders import for_each

WITHOUT_A_CLAIM = {
    "mechanisms.papers.bassily2018.algorithm4.BinaryClassificationService": "SubsampleAggregate, with sizes of its own",
    "mechanisms.papers.bassily2018.algorithm7.PrivateLearner": "answers nothing itself: SoftLabelService",
    "mechanisms.papers.bassily2018.as_called.Memory": "a student for the checks",
    "mechanisms.papers.bassily2018.classifier.IndiscreetTeacher": "a teacher for the checks",
    "mechanisms.papers.bassily2018.stable_learners.OnePassSGD": "a teacher",
    "mechanisms.papers.bousquet2022.algorithm2.CubeVoteClassifier": "theorem 3.1 as called",
    "mechanisms.papers.bousquet2022.algorithm2.FewCubes": "theorem 3.1 as called: with fewer entries",
    "mechanisms.papers.bousquet2022.faults.ExactTargets": "broken on purpose",
    "mechanisms.papers.bousquet2022.faults.FirstSeen": "broken on purpose",
    "mechanisms.papers.bousquet2022.faults.KeepsSeed": "broken on purpose",
    "mechanisms.papers.bousquet2022.faults.OccupiedCubes": "broken on purpose",
    "mechanisms.papers.zhao2024.classifier.LabelPrivateClassifier": "the base of both",
    "mechanisms.papers.zhao2024.neighbors.LabelLearner": "what is inside of LabelPrivateNeighbors, and its release",
    "mechanisms.papers.zhao2024.neighbors.NeighborSum": "a model of released labels",
    "mechanisms.papers.zhao2024.network.TargetNetwork": "a model of released labels",
}
CHECKS = fitted.CHECKS
PAPERS = mechanisms.gather([], "mechanisms.papers", topics=mechanisms.PAPERS)
COVERED_ELSEWHERE = {}


def learners():
    """Yield every class of the papers' packages that has a `fit` and can be built."""
    for topic in (*mechanisms.TOPICS, *(f"papers.{paper}" for paper in mechanisms.PAPERS)):
        package = importlib.import_module(f"mechanisms.{topic}")
        for found in pkgutil.iter_modules(package.__path__):
            module = importlib.import_module(f"{package.__name__}.{found.name}")
            for name, kind in vars(module).items():
                own = inspect.isclass(kind) and kind.__module__ == module.__name__ and hasattr(kind, "fit")
                if own and not inspect.isabstract(kind) and not getattr(kind, "_is_protocol", False):
                    yield f"{module.__name__}.{name}"


def test_every_learner_has_a_check_or_a_reason():
    named = " ".join(check.name for check in (*CHECKS, *PAPERS))
    left = [path for path in learners() if path.rsplit(".", 1)[1] not in named and path not in WITHOUT_A_CLAIM]
    assert left == []


@for_each(CHECKS)
def test_a_check_has_three_pairs_in_two_orders_and_can_be_sent(check):
    assert len(check.pairs) >= 3 or " pair " in check.name
    assert pickle.loads(pickle.dumps(check)).name == check.name
    assert check.claim.source


@pytest.mark.false_alarm(1e-8)
@pytest.mark.parametrize("check", [pytest.param(check, id=check.name) for check in CHECKS if check.method == "exact"])
def test_fits_follow_the_stated_law(check):
    """Null: 200 fits are i.i.d. from the law; 1e-8 each, about 20."""
    dataset = check.pairs[0][1]
    outputs = check.mechanism(dataset, 200, np.random.default_rng(7))
    assert not any(isinstance(output, dict) for output in outputs), "a fitted object carries more than its release"
    assert check.mechanism.law(dataset).fit_pvalue(np.array(outputs), np.random.default_rng(8)) > 1e-8


def test_a_law_that_covers_less_than_what_leaves_is_named():
    """Where `shown` drops more than noise, another check has the law of what it drops."""
    dropping = {
        check.name.split(" eps")[0]
        for check in CHECKS
        for released in (getattr(check.mechanism, "mechanism", check.mechanism),)
        if isinstance(released, Released) and released.shown is not None and released.left_out is None
    }
    assert dropping == set(COVERED_ELSEWHERE)
    names = " ".join(check.name for check in CHECKS)
    assert all(other in names for other in COVERED_ELSEWHERE.values())
