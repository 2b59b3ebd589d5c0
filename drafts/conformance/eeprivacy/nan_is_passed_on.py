import math

from eeprivacy.operations import PrivateClampedSum

noisy = PrivateClampedSum(lower_bound=0.0, upper_bound=1.0)
common = [0.5, 0.25, 0.75]
a, b = (noisy.execute(values=[*common, last], epsilon=1.0) for last in (math.nan, 1.0))
print("the sum with a NaN among the values, and without:", a, b)
assert math.isnan(a)
assert not math.isnan(b)
