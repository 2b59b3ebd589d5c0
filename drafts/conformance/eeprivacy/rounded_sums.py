import numpy as np
from eeprivacy.operations import PrivateClampedSum

low = 2.0**30
high = low + 2.0**-22  # the next double
left, right = [high] * 16, [high] * 15 + [low]
noisy = PrivateClampedSum(lower_bound=low, upper_bound=high)
a, b = (sum(noisy.execute(values=data, epsilon=1.0) >= np.sum(left) for _ in range(2000)) for data in (left, right))
print("of 2000 noisy sums, at least the sum of the first column:", a, "and, with one record replaced,", b)
assert max(a, b) > 10 * (min(a, b) + 10)
