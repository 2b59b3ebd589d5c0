import math

import pipeline_dp as pdp

bounds = {"min_value": 0.0, "max_value": 1.0, "max_partitions_contributed": 1, "max_contributions_per_partition": 1}
asked = pdp.AggregateParams(metrics=[pdp.Metrics.MEAN], noise_kind=pdp.NoiseKind.LAPLACE, **bounds)
read, seen = pdp.DataExtractors(lambda row: row[0], lambda row: 0, lambda row: row[1]), []
for last in (math.nan, 1.0):
    budget = pdp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=0.0)
    rows = list(enumerate([0.5, 0.25, 0.75, last]))
    found = pdp.DPEngine(budget, pdp.LocalBackend()).aggregate(rows, asked, read, [0])
    budget.compute_budgets()
    seen.append(next(iter(found))[1].mean)
print("the mean with a NaN among the values, and without:", *seen)
assert math.isnan(seen[0])
assert not math.isnan(seen[1])
