import pipeline_dp as dp


def counted(rows):
    accountant = dp.NaiveBudgetAccountant(total_epsilon=2.0, total_delta=0.0)
    params = dp.AggregateParams([dp.Metrics.COUNT], max_partitions_contributed=1, max_contributions_per_partition=1)
    extractors = dp.DataExtractors(lambda row: row, lambda row: 0, lambda row: 1)
    released = dp.DPEngine(accountant, dp.LocalBackend()).aggregate(rows, params, extractors, public_partitions=[0])
    accountant.compute_budgets()
    return list(released)


print(counted(["user"]))
try:
    raise SystemExit(f"no error: {counted([])}")
except ValueError as error:
    print(repr(error))
