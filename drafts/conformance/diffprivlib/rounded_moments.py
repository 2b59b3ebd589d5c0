import numpy as np
from diffprivlib.tools import var

low = 2.0**50
left = np.array([low + 0.25] * 1023 + [low])
right = np.array([low + 0.25] * 1023 + [low + 1])
allowed = (1 / 1024) ** 2 * 1023  # the sensitivity that the noise is scaled for, with bounds 1 apart
moved = abs(np.var(left) - np.var(right))
print("the variance of 1024 records moves by", moved / allowed, "times what the noise is scaled for")
a, b = (np.array([var(data, epsilon=1.0, bounds=(low, low + 1)) for _ in range(1000)]) for data in (left, right))
threshold = (np.var(left) + np.var(right)) / 2
print("of 1000 noisy variances, above the middle:", (a > threshold).sum(), "and", (b > threshold).sum())
assert moved > 2 * allowed
