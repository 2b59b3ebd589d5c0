import numpy as np
from diffprivlib import tools

settings = dict(epsilon=1.0, bounds=(0, 1))
left, right = (tools.sum(np.array([0.5, last]), **settings) for last in (np.nan, 1.0))
print("the sum is", left, "with NaN in place of a record, and", right, "without")
assert np.isnan(left)
assert not np.isnan(right)
