"""PipelineDP's answers to the queries that every library is asked, by its engine on the local backend."""

import pipeline_dp as pdp
from pipeline_dp.dp_computations import ExponentialMechanism, LaplaceMechanism
from pipeline_dp.dp_computations import GaussianMechanism as Gaussian

from audit.extensions.conformance import Library

library = Library("pipeline_dp", relation="add/remove", distribution="pipeline-dp",
                  quote=pdp.NaiveBudgetAccountant.__init__)  # fmt: skip
library.typed('docstring of AggregateParams: "min_value: Lower bound on each value"')


def engine(metric, *bounds, key=lambda record: 0, public=lambda p: [0]):
    """Answer by an engine and a budget that are made anew for every output, as in the README."""
    read = pdp.DataExtractors(lambda row: row[0], lambda row: key(row[1]), lambda row: row[1])

    def build(p):
        given = {f"{side}_value": getattr(p, bound) for side, bound in zip(("min", "max"), bounds, strict=False)}
        given |= {"max_partitions_contributed": 1, "max_contributions_per_partition": 1}
        asked = pdp.AggregateParams(metrics=[metric(p)], noise_kind=pdp.NoiseKind.LAPLACE, **given)

        def release(data):
            budget = pdp.NaiveBudgetAccountant(total_epsilon=p.epsilon, total_delta=p.delta)
            found = pdp.DPEngine(budget, pdp.LocalBackend()).aggregate(list(enumerate(data)), asked, read, public(p))
            budget.compute_budgets()
            released = sorted((str(key), list(metrics)) for key, metrics in found)  # a collection has no order
            if public(p) is None:
                return released
            values = [metrics[0] for _, metrics in released]  # the keys are public
            return values if len(public(p)) > 1 else values[0]

        return release

    return build


def bounded(metric):
    return engine(metric, "lower", "upper")


def chosen(p):
    def release(scores):
        class Scores(ExponentialMechanism.ScoringFunction):
            global_sensitivity, is_monotonic = p.sensitivity, False

            def score(self, k):
                return scores[k]

        return int(ExponentialMechanism(Scores()).apply(p.epsilon, list(range(len(scores)))))

    return release


quantile, count = bounded(lambda p: pdp.Metrics.PERCENTILE(100 * p.quantile)), lambda p: pdp.Metrics.COUNT
library.answer({
    "count": engine(count), "sum": bounded(lambda p: pdp.Metrics.SUM),
    "histogram of public keys": engine(count, key=lambda key: key, public=lambda p: list(p.categories)),
}, law="usual", draws=14_000)  # fmt: skip
library.answer({
    "quantile": quantile, "median": quantile,
    "mean": bounded(lambda p: pdp.Metrics.MEAN), "variance": bounded(lambda p: pdp.Metrics.VARIANCE),
    "histogram of discovered keys": engine(count, key=lambda key: key, public=lambda p: None),
}, draws=500)  # fmt: skip
library.answer({
    "laplace noise": lambda p: LaplaceMechanism.create_from_epsilon(p.epsilon, p.sensitivity).add_noise,
    "gaussian noise": lambda p: Gaussian.create_from_epsilon_delta(p.epsilon, p.delta, p.sensitivity).add_noise,
    "exponential mechanism": chosen,
}, law="usual")  # fmt: skip
