import numpy as np
import pipeline_dp as dp

metrics = [dp.Metrics.COUNT, dp.Metrics.MEAN, dp.Metrics.VARIANCE]
limits = dict(min_value=-1.0, max_value=1.0, max_partitions_contributed=1, max_contributions_per_partition=1)
extractors = dp.DataExtractors(lambda row: row, lambda row: 0, lambda row: row)


def squares(values):
    accountant = dp.NaiveBudgetAccountant(total_epsilon=2.0, total_delta=0.0)
    engine, params = dp.DPEngine(accountant, dp.LocalBackend()), dp.AggregateParams(metrics, **limits)
    released = engine.aggregate(values, params, extractors, public_partitions=[0])
    accountant.compute_budgets()
    found = dict(released)[0]
    return (found.variance + found.mean**2) * max(1.0, found.count)


scale = np.median([abs(squares([-1.0, 1.0]) - 2) for _ in range(2000)]) / np.log(2)
print("scale of the noise on the sum of squares:", scale, "where 1.5 is needed")
assert scale < 1.2
