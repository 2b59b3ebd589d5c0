import numpy as np
from diffprivlib.tools import nanmean


def above(number):
    data = np.array([number] + [np.nan] * 9)
    return sum(nanmean(data, epsilon=1.0, bounds=(0, 1)) > 0.5 for _ in range(2000))


left, right = above(0.0), above(1.0)
print(left, "and", right, "of 2000 means are above 1/2")
assert right > 20 * max(left, 1)
