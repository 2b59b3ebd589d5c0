"""Ask the evaluator of the SmartNoise SDK about recorded outputs, with its default bins and error probability."""

from __future__ import annotations

import warnings

import numpy as np

warnings.simplefilter("ignore")

from opendp.smartnoise.evaluation.evaluator._dp_evaluator import DPEvaluator  # noqa: E402
from opendp.smartnoise.evaluation.params._eval_params import EvaluatorParams  # noqa: E402
from opendp.smartnoise.evaluation.params._privacy_params import PrivacyParams  # noqa: E402
from opendp.smartnoise.evaluation.privacyalgorithm._base import PrivacyAlgorithm  # noqa: E402
from opendp.smartnoise.evaluation.report._report import Report  # noqa: E402


class Replay(PrivacyAlgorithm):
    """Recorded outputs as reports: one key for each coordinate."""

    def prepare(self, algorithm, privacy_params, eval_params):
        """Take no algorithm: the outputs are there."""

    def release(self, dataset):
        """Return all outputs of a dataset."""
        columns = dataset.reshape(len(dataset), -1).T
        kind = int if np.issubdtype(dataset.dtype, np.integer) else float
        return Report({str(place): column.astype(kind) for place, column in enumerate(columns)})

    def actual_release(self, dataset):
        """Return the mean of the outputs, in place of the exact answer: it enters measures of accuracy only."""
        return Report({key: float(np.mean(values)) for key, values in self.release(dataset).res.items()})


def verdict(left, right, epsilon, delta):
    """Return whether the claim is refuted for some coordinate."""
    privacy, settings = PrivacyParams(epsilon=epsilon, delta=delta), EvaluatorParams(repeat_count=len(left))
    found = DPEvaluator().evaluate(left, right, Replay(), None, privacy, settings)
    wrong = [metrics.error for metrics in found.values() if metrics.dp_res is None]
    if wrong:
        return None, str(wrong[0])
    return any(not metrics.dp_res for metrics in found.values()), f"{settings.numbins} bins"
