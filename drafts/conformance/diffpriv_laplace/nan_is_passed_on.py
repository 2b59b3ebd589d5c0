import math

from diffpriv_laplace import DiffPrivStatistics

common = [0.5, 0.25, 0.75]
a, b = (DiffPrivStatistics.median([*common, last], 1.0) for last in (math.nan, 1.0))
print("the median with a NaN among the values, and without:", a, b)
assert math.isnan(a)
assert not math.isnan(b)
