"""PipelineDP: its engine on the local backend.

A dataset is a list of values, one a privacy unit, all in one partition. An engine and its budget are made anew for
every output, as in the README; a release is its metrics in the order in which they were asked for.
"""

from __future__ import annotations

import pipeline_dp as pdp
from pipeline_dp import Metrics

EPSILON = 2.0
PARTITION = 0

_EXTRACTORS = pdp.DataExtractors(lambda row: row[0], lambda row: PARTITION, lambda row: row[1])
_ONCE = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1, "noise_kind": pdp.NoiseKind.LAPLACE}


def aggregated(dataset, metrics, **parameters):
    """Return the engine's release of the partition: a named tuple."""
    budget = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=0.0)
    asked = pdp.AggregateParams(metrics=metrics, **_ONCE, **parameters)
    engine = pdp.DPEngine(budget, pdp.LocalBackend())
    released = engine.aggregate(list(enumerate(dataset)), asked, _EXTRACTORS, public_partitions=[PARTITION])
    budget.compute_budgets()
    return dict(released)[PARTITION]


def numbers(metrics, **parameters):
    """A mechanism that releases numbers."""
    return lambda dataset, rng: [float(number) for number in aggregated(dataset, metrics, **parameters)]


def moments(**bounds):
    """Count, sum and sum of squares about the middle, of values between bounds, from count, mean and variance."""
    middle = (bounds["min_value"] + bounds["max_value"]) / 2

    def draw(dataset, rng):
        released = aggregated(dataset, [Metrics.COUNT, Metrics.MEAN, Metrics.VARIANCE], **bounds)
        divisor, mean = max(1.0, released.count), released.mean - middle  # as the library divides
        return [released.count, mean * divisor, (released.variance + mean**2) * divisor]

    return draw


_UNIT = {"min_value": 0.0, "max_value": 1.0}

MECHANISMS = {
    "COUNT": numbers([Metrics.COUNT]),
    "PRIVACY_ID_COUNT": numbers([Metrics.PRIVACY_ID_COUNT]),
    "SUM": numbers([Metrics.SUM], **_UNIT),
    "MEAN": numbers([Metrics.COUNT, Metrics.MEAN], **_UNIT),
    "VARIANCE": moments(**_UNIT),
    "PERCENTILE": numbers([Metrics.PERCENTILE(50)], **_UNIT),
}
