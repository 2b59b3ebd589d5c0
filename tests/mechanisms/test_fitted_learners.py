"""Every learner of the papers is audited as it is called, or is listed here with the reason why not.

The tests of each paper compare fits with the stated law.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import mechanisms

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
PAPERS = mechanisms.gather([], "mechanisms.papers", topics=mechanisms.PAPERS)


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
