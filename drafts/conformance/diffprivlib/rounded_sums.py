import numpy as np
from diffprivlib.tools import sum as noisy_sum

low = 2.0**30
high = low + 2.0**-22  # the next double
left, right = np.full(16, high), np.array([high] * 15 + [low])
a, b = (
    sum(noisy_sum(data, epsilon=1.0, bounds=(low, high)) >= left.sum() for _ in range(1000)) for data in (left, right)
)
print("of 1000 noisy sums, at least the sum of the first column:", a, "and, with one record replaced,", b)
assert max(a, b) > 10 * (min(a, b) + 10)
