"""Every learner of the papers is audited as it is called, and a few of its fits follow the stated law on each commit.

Learners without a check of their own are listed with the reason.
"""

import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import mechanisms
from audit import EstimatorCheck, Labeled
from audit.extensions.estimators.fits import StatedFits

WITHOUT_A_CLAIM = {
    "mechanisms.papers.bassily2018.algorithm7.PrivateLearner": "answers nothing itself: SoftLabelService",
    "mechanisms.papers.bassily2018.classifier.IndiscreetTeacher": "a teacher for the checks",
    "mechanisms.papers.bousquet2022.algorithm2.CubeVoteClassifier": "theorem 3.1 as called",
    "mechanisms.papers.bousquet2022.algorithm2.FewCubes": "theorem 3.1 as called: with fewer entries",
    "mechanisms.papers.bousquet2022.faults.ExactTargets": "broken on purpose",
    "mechanisms.papers.bousquet2022.faults.FirstSeen": "broken on purpose",
    "mechanisms.papers.bousquet2022.faults.KeepsSeed": "broken on purpose",
    "mechanisms.papers.zhao2024.classifier.LabelPrivateClassifier": "the base of both",
    "mechanisms.papers.zhao2024.neighbors.LabelLearner": "what is inside of LabelPrivateNeighbors, and its release",
    "mechanisms.papers.zhao2024.neighbors.NeighborSum": "a model of released labels",
    "mechanisms.papers.zhao2024.network.TargetNetwork": "a model of released labels",
}
PAPERS = mechanisms.gather([], "mechanisms.papers", topics=mechanisms.PAPERS)
FITS = [check for check in PAPERS if "as called" in check.name and not isinstance(check, EstimatorCheck)]
ESTIMATORS = [check for check in PAPERS if isinstance(check, EstimatorCheck)]


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
    named = " ".join(check.name for check in PAPERS)
    found = list(learners())
    assert len(found) > 15
    left = [path for path in found if path.rsplit(".", 1)[1] not in named and path not in WITHOUT_A_CLAIM]
    assert left == []


@pytest.mark.false_alarm(1e-8)
@pytest.mark.parametrize("check", [pytest.param(check, id=check.name) for check in FITS])
def test_fits_follow_the_stated_law(check):
    """Null: 100 unseeded fits are i.i.d. from the law; 1e-8 each."""
    assert len(check.pairs) >= 2
    assert check.budget
    fits = getattr(check.mechanism, "mechanism", check.mechanism)
    assert isinstance(fits, StatedFits) or fits.own_randomness  # the former replaces the entropy of the system
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = check.mechanism(check.pairs[0][1], 100, np.random.default_rng(7))
    assert not any(isinstance(output, dict) for output in outputs), "a fitted object carries more than its release"
    law = check.mechanism.law(check.pairs[0][1])
    assert law.fit_pvalue(np.asarray(outputs), np.random.default_rng(8)) > 1e-8


@pytest.mark.false_alarm(1e-9)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("check", [pytest.param(check, id=check.name) for check in ESTIMATORS])
def test_a_few_fits_of_an_estimator_follow_the_stated_law(check):
    """Null: 1,000 fits are i.i.d. from the law; 1e-9 each."""
    assert len(ESTIMATORS) > 10
    records, release = Labeled(check.X, check.y), check.release
    fits = (clone(check.estimator).set_params(random_state=seed).fit(check.X, check.y) for seed in range(1_000))
    shown = np.array([release.reveal(fitted)[0] for fitted in fits])
    assert release.law(records).fit_pvalue(shown, np.random.default_rng(0)) > 1e-9
