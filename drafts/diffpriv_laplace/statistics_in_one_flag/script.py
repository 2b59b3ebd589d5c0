import numpy as np
from diffpriv_laplace.query.sequential_statistics import DiffPrivSequentialStatisticsQuery
from diffpriv_laplace.statistics import DiffPrivStatisticKind as Kind

data = np.array([0.0, 1.0, 1.0])


def spread(kinds):
    found = [DiffPrivSequentialStatisticsQuery.query(data, kinds, 1.0)[0] for _ in range(3000)]
    return np.std([float(np.ravel(each[Kind.proportion])[0]) for each in found])


one, both = spread(Kind.proportion), spread(Kind.proportion | Kind.count)
print("noise of a proportion alone", one, "and beside a count from the same budget", both)
assert both < 1.3 * one  # half of the budget would double it
