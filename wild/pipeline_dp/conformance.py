"""PipelineDP's answers to the queries that every library is asked, by its engine on the local backend."""

from pipeline_dp import (
    AggregateParams,
    DataExtractors,
    DPEngine,
    LocalBackend,
    Metrics,
    NaiveBudgetAccountant,
    NoiseKind,
)
from pipeline_dp.dp_computations import ExponentialMechanism, GaussianMechanism, LaplaceMechanism

from audit.conformance import Library

library = Library("pipeline_dp", relation="add/remove", distribution="pipeline-dp",
                  quote=NaiveBudgetAccountant.__init__)  # fmt: skip
library.typed('docstring of AggregateParams: "min_value: Lower bound on each value"')


def engine(metric, key=lambda record: 0, public=lambda p: [0], bounds=lambda p: {}):
    """Answer by an engine and a budget that are made anew for every output, as in the README."""
    read = DataExtractors(lambda row: row[0], lambda row: key(row[1]), lambda row: row[1])

    def build(p):
        asked = AggregateParams(metrics=[metric(p)], noise_kind=NoiseKind.LAPLACE, max_partitions_contributed=1,
                                max_contributions_per_partition=1, **bounds(p))  # fmt: skip

        def release(data):
            budget = NaiveBudgetAccountant(total_epsilon=p.epsilon, total_delta=p.delta)
            found = DPEngine(budget, LocalBackend()).aggregate(list(enumerate(data)), asked, read, public(p))
            budget.compute_budgets()
            return sorted((str(key), list(metrics)) for key, metrics in found)  # a collection has no order

        return release

    return build


def bounded(metric):
    return engine(metric, bounds=lambda p: {"min_value": p.lower, "max_value": p.upper})


def chosen(p):
    def release(scores):
        class Scores(ExponentialMechanism.ScoringFunction):
            global_sensitivity, is_monotonic = p.sensitivity, False

            def score(self, k):
                return scores[k]

        return int(ExponentialMechanism(Scores()).apply(p.epsilon, list(range(len(scores)))))

    return release


quantile = bounded(lambda p: Metrics.PERCENTILE(100 * p.quantile))
library.answer({
    "count": engine(lambda p: Metrics.COUNT),
    "sum": bounded(lambda p: Metrics.SUM),
    "mean": bounded(lambda p: Metrics.MEAN),
    "variance": bounded(lambda p: Metrics.VARIANCE),
    "quantile": quantile,
    "median": quantile,
    "histogram of public keys": engine(lambda p: Metrics.COUNT, lambda key: key, lambda p: list(p.categories)),
    "histogram of discovered keys": engine(lambda p: Metrics.COUNT, lambda key: key, lambda p: None),
}, draws=2_000)  # fmt: skip
library.answer({
    "laplace noise": lambda p: LaplaceMechanism.create_from_epsilon(p.epsilon, p.sensitivity).add_noise,
    "gaussian noise": lambda p: GaussianMechanism.create_from_epsilon_delta(
        p.epsilon, p.delta, p.sensitivity
    ).add_noise,
    "exponential mechanism": chosen,
}, law="usual")  # fmt: skip
