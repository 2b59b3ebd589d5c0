import numpy as np
from diffprivlib.tools import nansum


def above(second):
    return sum(nansum(np.array([5.0, second]), epsilon=1.0, bounds=(5, 6)) > 10.5 for _ in range(2000))


left, right = above(np.nan), above(6.0)
print(left, "and", right, "of 2000 sums are above 10.5")
assert right > 8 * max(left, 1)
